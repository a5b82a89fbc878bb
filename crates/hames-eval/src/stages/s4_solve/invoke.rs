//! An agent's process: what it is given, what it prints, and its end with all that it started.
//!
//! What it printed is not read here.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hames_tools::{EndCause, Mark, Program, ProgramEnd, run_program};
use serde_json::{Value, json};

use super::{
    SolveContext,
    output::{self, Kept},
};
use crate::{
    adapter::{Adapter, CommandLine},
    stage::StageError,
    worker_log::WorkerLog,
};

/// For those who are found only once the agent itself has ended.
const LATE: Duration = Duration::from_secs(1);

/// Ways to a network that belong to the machine, not to a service.
const WAYS_OUT: [&str; 8] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
];

/// How it ended.
#[derive(Debug, Default)]
pub(super) struct Invoked {
    /// None where it did not start.
    pub end: Option<ProgramEnd>,
    /// Why it did not start.
    pub error: Option<String>,
    pub hidden: Vec<PathBuf>,
    /// What should have been hidden and was not.
    pub open: Vec<PathBuf>,
    pub notes: Vec<String>,
}

/// # Errors
/// Its files could not be written, or something of it could not be ended.
pub(super) async fn invoke(
    cx: &SolveContext<'_>,
    adapter: &dyn Adapter,
    line: CommandLine,
    mark: &Mark,
    log: &mut WorkerLog,
) -> Result<Invoked, StageError> {
    configure(cx, &line)?;
    let passed = cx.host.pick(adapter.passes());
    // The agent's own, without the program that covers folders for it.
    let command = shown(&line, &passed, &cx.task.prompt);
    let confined = cx.confinement.confine(line, cx.place, cx.hide);
    let line = &confined.line;
    log.say(
        "pre_invoke",
        json!({
            "command": command,
            "passes": passed.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "hidden": confined.hidden,
            "open": confined.open,
        }),
    );
    let env = variables(cx, line, passed);
    let args: Vec<&str> = line.args.iter().map(String::as_str).collect();
    let program = Program {
        program: &line.program,
        args: &args,
        cwd: &cx.place.tree,
        env: &env,
        stdin: line.stdin.as_deref().map(str::as_bytes),
        merged: false,
        timeout: cx.wall_limit,
        grace: line.grace,
        mark,
        thorough: true,
        cancel: cx.cancel.clone(),
    };
    log.say(
        "invoke_cli",
        json!({"wall_limit": cx.wall_limit.as_secs_f64(), "grace": line.grace.as_secs_f64()}),
    );
    let mut kept = Kept::create(cx.trial)?;
    let ended = run_program(program, &mut |stream, piece| {
        (cx.on_output)();
        kept.put(stream, piece);
    })
    .await;
    let notes = kept.close()?;
    let kept = output::beginning(&cx.trial.agent_stderr())?;
    let late = end_all(mark).await?;
    let (end, error) = match ended {
        Ok(end) => match confined.has_failed(end.returncode, &kept) {
            Some(failed) => (None, Some(failed)),
            None => (Some(with_late(end, late)), None),
        },
        Err(error) => (None, Some(format!("{}: {error}", line.program.display()))),
    };
    log.say("post_invoke", told(end, error.as_deref()));
    let open = confined.open.into_iter().map(|(path, _)| path).collect();
    Ok(Invoked {
        end,
        error,
        hidden: confined.hidden,
        open,
        notes,
    })
}

/// Configuration that the agent finds in its home.
fn configure(cx: &SolveContext<'_>, line: &CommandLine) -> Result<(), StageError> {
    for (path, text) in &line.files {
        let path = cx.place.home.join(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.map_err(|error| StageError::io(path.display(), &error))?;
    }
    Ok(())
}

/// Whoever hid from its parents is known by the mark. What is still there after this would go on
/// working in the tree while it is graded.
async fn end_all(mark: &Mark) -> Result<usize, StageError> {
    let late = mark.end(LATE).await;
    let left = if late > 0 { mark.end(LATE).await } else { 0 };
    match left {
        0 => Ok(late),
        left => Err(StageError::Infrastructure(format!(
            "{left} processes of the agent cannot be ended: end those with {} in their environment, \
             and run the trial again",
            mark.as_str()
        ))),
    }
}

fn with_late(end: ProgramEnd, late: usize) -> ProgramEnd {
    ProgramEnd {
        survivors: end.survivors + late,
        ..end
    }
}

/// How it ended, and which signals were sent for it.
fn told(end: Option<ProgramEnd>, error: Option<&str>) -> Value {
    const KILL: i32 = -9;
    let Some(end) = end else {
        return json!({ "error": error });
    };
    let signals: &[&str] = match (end.cause, end.returncode) {
        (EndCause::ByItself, _) => &[],
        (EndCause::TimedOut | EndCause::Cancelled, Some(KILL)) => &["SIGTERM", "SIGKILL"],
        (EndCause::TimedOut | EndCause::Cancelled, _) => &["SIGTERM"],
    };
    let cause = match end.cause {
        EndCause::ByItself => "by itself",
        EndCause::TimedOut => "wall limit",
        EndCause::Cancelled => "interrupted",
    };
    json!({
        "returncode": end.returncode,
        "cause": cause,
        "signals": signals,
        "survivors_killed": end.survivors,
    })
}

/// All that the agent gets: its place, the ways out, what its adapter names, what the plan adds.
fn variables(
    cx: &SolveContext<'_>,
    line: &CommandLine,
    passed: Vec<(String, String)>,
) -> Vec<(String, String)> {
    let text = |path: &Path| path.display().to_string();
    let home = text(&cx.place.home);
    let mut env = cx.host.plain_env();
    env.extend(cx.host.pick(&WAYS_OUT));
    env.extend(cx.place.env.iter().cloned());
    env.extend([
        ("HOME".to_owned(), home.clone()),
        ("TMPDIR".to_owned(), text(&cx.place.temp)),
        ("XDG_CONFIG_HOME".to_owned(), format!("{home}/.config")),
        ("XDG_STATE_HOME".to_owned(), format!("{home}/.local/state")),
        ("XDG_DATA_HOME".to_owned(), format!("{home}/.local/share")),
        ("XDG_CACHE_HOME".to_owned(), format!("{home}/.cache")),
    ]);
    env.extend(passed);
    env.extend(line.env.iter().cloned());
    env
}

/// The command line as it may be kept: no key in it, and the prompt by its name.
fn shown(line: &CommandLine, passed: &[(String, String)], prompt: &str) -> Vec<String> {
    let secrets = line.env.iter().filter(|(name, _)| is_secret(name));
    let secrets: Vec<_> = passed
        .iter()
        .chain(secrets)
        .filter(|(_, secret)| secret.len() > 3)
        .collect();
    let mut hides_next = false;
    let hide = |word: &String| {
        let hides = std::mem::replace(&mut hides_next, word.starts_with('-') && is_secret(word));
        if word == prompt {
            return "<prompt>".to_owned();
        }
        match word.split_once('=') {
            Some((flag, _)) if is_secret(flag) => format!("{flag}=<hidden>"),
            None if hides => "<hidden>".to_owned(),
            Some(_) | None => secrets.iter().fold(word.clone(), |word, (name, secret)| {
                word.replace(secret, &format!("<{name}>"))
            }),
        }
    };
    std::iter::once(line.program.display().to_string())
        .chain(line.args.iter().map(hide))
        .collect()
}

/// A variable's or a flag's name that promises a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let name = name.split(['=', ' ']).next().unwrap_or_default();
    ["KEY", "TOKEN", "SECRET", "PASSWORD"]
        .iter()
        .any(|sign| name.ends_with(sign))
}
