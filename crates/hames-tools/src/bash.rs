//! `bash`: one command line, run to its end or to its time limit.
//!
//! Whether it may run is not judged here, and how processes are ended is known by `process`.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hames_types::{
    Access, Concurrency, RawJson, ToolContext, ToolError, ToolErrorKind, ToolOutput, ToolSpec,
    TypedTool,
};
use serde::Deserialize;

use crate::{
    capture::{Capture, OutputLimits},
    lenient,
    printable::{printable, unfinished},
    process::{End, Job, Processes, Readers},
    shared_state::changes_shared_state,
};

/// Where a `bash` usually is; without one it is `sh`.
const SHELLS: [&str; 3] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/// How long a command may take.
#[derive(Debug, Clone)]
pub struct TimeLimits {
    /// Where the model names none. Default 120 s.
    pub default: Duration,
    /// Whatever the model names. Default 600 s.
    pub most: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            default: Duration::from_secs(120),
            most: Duration::from_secs(600),
        }
    }
}

pub(crate) struct Bash {
    pub shell: PathBuf,
    pub time: TimeLimits,
    pub output: OutputLimits,
    pub processes: Arc<Processes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[serde(alias = "cmd")]
    command: String,
    #[serde(
        default,
        alias = "timeout_seconds",
        deserialize_with = "lenient::number"
    )]
    timeout: Option<f64>,
    /// For those who look on.
    #[serde(default, rename = "description")]
    _description: Option<String>,
}

impl TypedTool for Bash {
    type Input = Input;

    fn spec() -> ToolSpec {
        let schema = r#"{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"number"},"description":{"type":"string","description":"what it does, in a few words"}},"required":["command"]}"#;
        ToolSpec {
            name: "bash".to_owned(),
            description: include_str!("bash.md").trim_end().to_owned(),
            input_schema: RawJson::from(schema),
        }
    }

    fn access(&self, input: &mut Input, _cx: &ToolContext) -> Result<Access, ToolError> {
        if input.command.trim().is_empty() {
            return Err(ToolError::invalid("command is empty; say what to run"));
        }
        if input.command.contains('\0') {
            let reason = "command holds a NUL character, which no command line can; use printf";
            return Err(ToolError::invalid(reason));
        }
        Ok(Access::command(&input.command))
    }

    fn concurrency(&self, input: &Input, _access: &Access) -> Concurrency {
        match changes_shared_state(&input.command) {
            true => Concurrency::Alone,
            false => Concurrency::SideBySide,
        }
    }

    async fn call(&self, input: Input, cx: ToolContext) -> Result<ToolOutput, ToolError> {
        let (timeout, remark) = self.time.clamped(input.timeout);
        let job = Job {
            program: &self.shell,
            args: &["-c", &input.command],
            cwd: &cx.workspace,
            stdin: None,
            merged: true,
            env: &[],
            inherit: true,
            timeout,
            cancel: cx.cancel.clone(),
        };
        // Named so that whoever removes a session finds what is of it.
        let name = format!("{}.{}", cx.agent.0, cx.call.0);
        let mut capture = Capture::new(self.output.clone(), &name);
        let mut told = Progress::default();
        let mut sink = |_, piece: &[u8]| {
            capture.push(piece);
            told.pass(piece, &*cx.progress);
        };
        let ended = self.processes.run(job, &mut sink).await;
        let ended = ended.map_err(|error| self.did_not_start(&cx.workspace, &error))?;
        let shown = capture.shown();
        let notes = [
            remark,
            self.what_runs_on(&ended.background, ended.rest, capture),
        ];
        let ending = Ending {
            end: ended.end,
            time: &self.time,
            timeout,
        };
        ending.tell(shown, notes.into_iter().flatten())
    }
}

impl TimeLimits {
    /// A model's number may be anything; what was made of it is said.
    fn clamped(&self, asked: Option<f64>) -> (Duration, Option<String>) {
        let Some(asked) = asked else {
            return (self.default, None);
        };
        if asked.is_nan() || asked <= 0.0 {
            let used = self.default.as_secs_f64();
            let remark = format!("timeout {asked} is no time to run in; {used} s was used");
            return (self.default, Some(remark));
        }
        if asked > self.most.as_secs_f64() {
            let used = self.most.as_secs_f64();
            let remark = format!("timeout {asked} s was lowered to {used} s, the most there is");
            return (self.most, Some(remark));
        }
        (Duration::from_secs_f64(asked), None)
    }
}

impl Bash {
    /// The first shell that is there.
    pub fn default_shell() -> PathBuf {
        let there = SHELLS.iter().map(Path::new).find(|path| path.exists());
        there.unwrap_or(Path::new("sh")).to_owned()
    }

    fn did_not_start(&self, workspace: &Path, error: &io::Error) -> ToolError {
        let shell = self.shell.display();
        let missing = error.kind() == io::ErrorKind::NotFound;
        ToolError::failed(match missing && !workspace.is_dir() {
            true => format!("the workspace {} is gone", workspace.display()),
            false => format!("the shell {shell} did not start: {error}"),
        })
    }

    /// Their further output goes on being read: a pipe that nobody reads would end them.
    fn what_runs_on(
        &self,
        pids: &[u32],
        rest: Option<Readers>,
        capture: Capture,
    ) -> Option<String> {
        let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
        let pids = pids.join(", ");
        let Some(rest) = rest else {
            return (!pids.is_empty())
                .then(|| format!("still running in the background: pid {pids}"));
        };
        let mut kept = capture.into_kept();
        let path = kept.as_ref().map(|kept| kept.path().display().to_string());
        let reading = rest.read_on(move |_, piece| {
            if let Some(kept) = &mut kept {
                kept.push(piece);
            }
        });
        tokio::spawn(reading);
        let place = path.map_or_else(String::new, |path| {
            format!("; its output goes on in {path}")
        });
        Some(format!(
            "still running in the background: pid {pids}{place}"
        ))
    }
}

/// How the command ended, for the model.
struct Ending<'a> {
    end: End,
    time: &'a TimeLimits,
    timeout: Duration,
}

impl Ending<'_> {
    fn tell(
        self,
        mut shown: String,
        notes: impl Iterator<Item = String>,
    ) -> Result<ToolOutput, ToolError> {
        let how = self.how(shown.is_empty());
        for note in how.into_iter().chain(notes) {
            if !shown.is_empty() && !shown.ends_with('\n') {
                shown.push('\n');
            }
            shown.push('[');
            shown.push_str(&note);
            shown.push_str("]\n");
        }
        let message = shown;
        let failed = |kind| {
            Err(ToolError {
                kind,
                message: message.clone(),
            })
        };
        match self.end {
            End::Exited(_) | End::Signalled(_) => Ok(ToolOutput::text(message)),
            End::TimedOut => failed(ToolErrorKind::TimedOut),
            End::Cancelled => failed(ToolErrorKind::Failed),
        }
    }

    /// A success that said something needs no remark.
    fn how(&self, silent: bool) -> Option<String> {
        let (timeout, most) = (self.timeout.as_secs_f64(), self.time.most.as_secs_f64());
        match self.end {
            End::Exited(0) if silent => Some("exit code 0, no output".to_owned()),
            End::Exited(0) => None,
            End::Exited(code) => Some(format!("exit code {code}")),
            End::Signalled(signal) => Some(format!("killed by signal {signal}")),
            End::TimedOut => Some(format!(
                "timed out after {timeout} s; it was killed with all it had started. \
                 Give a longer timeout (at most {most} s), or start it with & and look again later"
            )),
            End::Cancelled => Some(
                "interrupted; it was killed with all it had started, and may have been half done"
                    .to_owned(),
            ),
        }
    }
}

/// Passes output on as text, whole characters at a time.
#[derive(Default)]
struct Progress {
    waiting: Vec<u8>,
}

impl Progress {
    fn pass(&mut self, piece: &[u8], told: &(dyn Fn(&str) + Send + Sync)) {
        self.waiting.extend_from_slice(piece);
        let whole = self.waiting.len() - unfinished(&self.waiting);
        let ready: Vec<u8> = self.waiting.drain(..whole).collect();
        if !ready.is_empty() {
            told(&printable(&ready));
        }
    }
}
