//! A whole program run to its end in an environment of its own, with nothing of it left afterwards.
//!
//! What it is for, and what its output means, is not known here.

use std::{io, path::Path, process::ExitStatus, time::Duration};

use tokio_util::sync::CancellationToken;

pub use crate::process::Stream;
use crate::process::{End, Job, ProcessOptions, Processes, end_marked, fresh_mark, is_mark};

/// A program, and all that it is given.
#[derive(Debug)]
pub struct Program<'a> {
    pub program: &'a Path,
    pub args: &'a [&'a str],
    pub cwd: &'a Path,
    /// All of its variables: it inherits none.
    pub env: &'a [(String, String)],
    /// Nothing to read where it is `None`.
    pub stdin: Option<&'a [u8]>,
    /// Stderr goes where stdout goes, in the order they were written.
    pub merged: bool,
    /// Wall time; then it is asked to end, with all it has started.
    pub timeout: Duration,
    /// From being asked (SIGTERM) to being killed.
    pub grace: Duration,
    /// Written down before the start, so that what a killed caller leaves can be ended by
    /// [`Mark::end`].
    pub mark: &'a Mark,
    /// Look for those who left their group, session and variables behind as well (Linux): this
    /// whole process becomes the parent of orphans.
    pub thorough: bool,
    pub cancel: CancellationToken,
}

/// By which a program's processes are known again, wherever they went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Its exit code, or a signal's number, negated; `None` where it could not be waited for.
    pub returncode: Option<i32>,
    pub cause: EndCause,
    /// Processes it had started that were alive when it had ended by itself, and were ended.
    pub survivors: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCause {
    ByItself,
    TimedOut,
    Cancelled,
}

impl Mark {
    pub fn fresh() -> Self {
        Self(fresh_mark())
    }

    /// One that was written down; `None` for a text that is no mark.
    pub fn parse(text: &str) -> Option<Self> {
        is_mark(text).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Ends whoever still carries it (Linux): politely, then for certain. Returns how many there were.
    pub async fn end(&self, grace: Duration) -> usize {
        end_marked(&self.0, grace).await
    }
}

/// Runs it; each piece of output is handed to `on_output` as it comes. The error says that it did
/// not start.
pub async fn run_program(
    program: Program<'_>,
    on_output: &mut (dyn FnMut(Stream, &[u8]) + Send),
) -> io::Result<ProgramEnd> {
    run(program, on_output, Leaves::Somebody).await
}

/// The same for one of which it is known that it leaves nobody behind, as git does: where it has
/// ended by itself, and its group and its pipes with it, no further look is taken.
pub async fn run_tidy_program(
    program: Program<'_>,
    on_output: &mut (dyn FnMut(Stream, &[u8]) + Send),
) -> io::Result<ProgramEnd> {
    run(program, on_output, Leaves::Nobody).await
}

/// Whom a program may leave behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Somebody,
    Nobody,
}

async fn run(
    program: Program<'_>,
    on_output: &mut (dyn FnMut(Stream, &[u8]) + Send),
    leaves: Leaves,
) -> io::Result<ProgramEnd> {
    let options = ProcessOptions {
        env: Vec::new(),
        grace: program.grace,
        subreaper: program.thorough,
        ..ProcessOptions::default()
    };
    let processes = Processes::marked(options, program.mark.0.clone());
    let job = Job {
        program: program.program,
        args: program.args,
        cwd: program.cwd,
        stdin: program.stdin,
        merged: program.merged,
        env: program.env,
        inherit: false,
        timeout: program.timeout,
        cancel: program.cancel,
    };
    let ended = processes.run(job, on_output).await?;
    let cause = match ended.end {
        End::Exited(_) | End::Signalled(_) => EndCause::ByItself,
        End::TimedOut => EndCause::TimedOut,
        End::Cancelled => EndCause::Cancelled,
    };
    let mut end = ProgramEnd {
        returncode: ended.status.and_then(returncode),
        cause,
        survivors: ended.background.len(),
    };
    if program.thorough && cause == EndCause::ByItself && ended.background.is_empty() {
        // Those who left their group and closed their pipes are known by the mark alone.
        end.survivors = program.mark.end(program.grace).await;
    }
    if let Some(rest) = ended.rest {
        // What survivors still write is part of the output until they are gone.
        tokio::select! {
            () = rest.read_on(&mut *on_output) => processes.kill_all().await,
            () = processes.kill_all() => {}
        }
    } else if !ended.background.is_empty() {
        processes.kill_all().await;
    } else if leaves == Leaves::Nobody && cause == EndCause::ByItself {
        processes.let_go();
    }
    Ok(end)
}

fn returncode(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Some(-signal);
    }
    status.code()
}
