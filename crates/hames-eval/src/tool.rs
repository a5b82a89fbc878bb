//! A program that is run for its answer: git, pip, tar, docker.
//!
//! Agents and tests are not run here: what they print is listened to elsewhere.

use std::{path::Path, time::Duration};

use hames_tools::{EndCause, Mark, Program, Stream, run_program, run_tidy_program};

use crate::{environment::Around, stage::StageError};

/// From being asked to end to being killed.
const GRACE: Duration = Duration::from_secs(2);
/// Of what a program said, how much an error repeats.
const TOLD: usize = 20;

#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    pub program: &'a Path,
    pub args: &'a [&'a str],
    pub cwd: &'a Path,
    /// All of its variables.
    pub env: &'a [(String, String)],
    pub stdin: Option<&'a [u8]>,
    pub limit: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Negative for a signal.
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

impl Answer {
    pub fn is_fine(&self) -> bool {
        self.code == Some(0)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).trim_end().to_owned()
    }

    /// Why it was not fine: the last lines that it printed, of stderr if there are any.
    pub fn complaint(&self) -> String {
        let said = if self.err.trim_ascii().is_empty() {
            &self.out
        } else {
            &self.err
        };
        let said = String::from_utf8_lossy(said);
        let lines: Vec<&str> = said.trim().lines().collect();
        let from = lines.len().saturating_sub(TOLD);
        let told = lines.get(from..).unwrap_or_default().join("\n");
        match (told.is_empty(), self.code) {
            (false, _) => told,
            (true, Some(code)) => format!("ended with {code}"),
            (true, None) => "ended, nobody knows how".to_owned(),
        }
    }
}

impl Tool<'_> {
    /// Runs it to its end, whatever that is.
    ///
    /// # Errors
    /// It could not be started, took longer than its limit, or the run was interrupted.
    pub async fn run(self, cx: &Around<'_>) -> Result<Answer, StageError> {
        self.listen(cx, false).await
    }

    /// The same for a program that leaves nobody behind: it costs less not to look for them.
    pub async fn run_tidy(self, cx: &Around<'_>) -> Result<Answer, StageError> {
        self.listen(cx, true).await
    }

    async fn listen(self, cx: &Around<'_>, is_tidy: bool) -> Result<Answer, StageError> {
        let mark = Mark::fresh();
        let program = Program {
            program: self.program,
            args: self.args,
            cwd: self.cwd,
            env: self.env,
            stdin: self.stdin,
            merged: false,
            timeout: self.limit,
            grace: GRACE,
            mark: &mark,
            thorough: false,
            cancel: cx.cancel.clone(),
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut listen = |stream, piece: &[u8]| match stream {
            Stream::Out => out.extend_from_slice(piece),
            Stream::Err => err.extend_from_slice(piece),
        };
        let end = match is_tidy {
            true => run_tidy_program(program, &mut listen).await,
            false => run_program(program, &mut listen).await,
        };
        let end = end.map_err(|error| StageError::io(self.line(), &error))?;
        let answer = Answer {
            code: end.returncode,
            out,
            err,
        };
        match end.cause {
            EndCause::ByItself => Ok(answer),
            EndCause::Cancelled => Err(StageError::Interrupted),
            EndCause::TimedOut => Err(StageError::Infrastructure(format!(
                "{} took longer than {} s: {}",
                self.line(),
                self.limit.as_secs(),
                answer.complaint()
            ))),
        }
    }

    /// The same, for one that has to succeed.
    pub async fn succeed(self, cx: &Around<'_>) -> Result<Answer, StageError> {
        let answer = self.run(cx).await?;
        if answer.is_fine() {
            return Ok(answer);
        }
        let what = format!("{}: {}", self.line(), answer.complaint());
        Err(StageError::Infrastructure(what))
    }

    fn line(&self) -> String {
        let name = self.program.file_name().unwrap_or_default();
        let mut words = vec![name.to_string_lossy().into_owned()];
        words.extend(self.args.iter().map(|word| (*word).to_owned()));
        words.join(" ")
    }
}
