//! A hook's process: a command line with JSON on its stdin, run to its end or its time limit.
//!
//! What its answer means is not known here.

use std::{io, path::Path, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    bash::Bash,
    process::{End, Job, Processes, Stream},
};

/// Bytes kept of each stream; what comes after them is dropped.
const MOST: usize = 1 << 20;

/// A hook's command, and what it is told.
#[derive(Debug, Clone, Copy)]
pub struct HookCommand<'a> {
    /// Run by `bash -c` where there is one, else by `sh -c`.
    pub command: &'a str,
    pub stdin_json: &'a str,
    pub timeout: Duration,
    pub cwd: &'a Path,
    /// On top of what every child of the session gets.
    pub env: &'a [(String, String)],
}

/// What a hook said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookOutput {
    /// `None` where it was killed, by a signal or by its time limit.
    pub code: Option<i32>,
    /// At most 1 MiB; bytes that are not UTF-8 are written out.
    pub stdout: String,
    pub stderr: String,
    pub timed_out: bool,
}

/// Runs a hook; at the time limit, or once `cancel` fires, it is killed with all it has started.
/// The error says that the shell did not start.
pub async fn run_hook(
    processes: &Arc<Processes>,
    hook: HookCommand<'_>,
    cancel: CancellationToken,
) -> io::Result<HookOutput> {
    let shell = Bash::default_shell();
    let job = Job {
        program: &shell,
        args: &["-c", hook.command],
        cwd: hook.cwd,
        stdin: Some(hook.stdin_json.as_bytes()),
        merged: false,
        env: hook.env,
        inherit: true,
        timeout: hook.timeout,
        cancel,
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut sink = |stream, piece: &[u8]| {
        let taken = match stream {
            Stream::Out => &mut stdout,
            Stream::Err => &mut stderr,
        };
        let room = MOST - taken.len();
        taken.extend(piece.iter().take(room));
    };
    let ended = processes.run(job, &mut sink).await?;
    if let Some(rest) = ended.rest {
        tokio::spawn(rest.read_on(|_, _| {}));
    }
    let code = match ended.end {
        End::Exited(code) => Some(code),
        End::Signalled(_) | End::TimedOut | End::Cancelled => None,
    };
    Ok(HookOutput {
        code,
        stdout: text(&stdout),
        stderr: text(&stderr),
        timed_out: ended.end == End::TimedOut,
    })
}

/// Exactly what was written, where it is text: it is parsed as JSON.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => crate::printable::printable(bytes),
    }
}
