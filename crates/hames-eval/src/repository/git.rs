//! Git's command line, deaf to the machine's own configuration, with one author and one date.
//!
//! Which commands are run for what is not known here.

use std::{path::Path, time::Duration};

use crate::{
    environment::Around,
    stage::StageError,
    tool::{Answer, Tool},
};

const LIMIT: Duration = Duration::from_secs(3600);

/// So that the same tree is the same commit on every machine.
const FIXED: [(&str, &str); 12] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_AUTHOR_NAME", "hames"),
    ("GIT_AUTHOR_EMAIL", "hames@localhost"),
    ("GIT_AUTHOR_DATE", "2000-01-01T00:00:00+0000"),
    ("GIT_COMMITTER_NAME", "hames"),
    ("GIT_COMMITTER_EMAIL", "hames@localhost"),
    ("GIT_COMMITTER_DATE", "2000-01-01T00:00:00+0000"),
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
];

/// Archives bring owners of their own, and nothing is to be tidied up behind our back.
const SETTINGS: [&str; 10] = [
    "-c",
    "safe.directory=*",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
];

/// A command with variables and an input of its own.
#[derive(Debug, Clone, Copy)]
pub struct GitCall<'a> {
    pub args: &'a [&'a str],
    pub cwd: &'a Path,
    /// On top of the fixed ones.
    pub env: &'a [(&'a str, String)],
    pub stdin: Option<&'a [u8]>,
}

/// Runs git in `cwd`. That git complains is no error: see [`Answer::is_fine`].
///
/// # Errors
/// Git is missing or could not be started, or the run was interrupted.
pub async fn git(args: &[&str], cwd: &Path, cx: &Around<'_>) -> Result<Answer, StageError> {
    let call = GitCall {
        args,
        cwd,
        env: &[],
        stdin: None,
    };
    git_call(call, cx).await
}

/// The same, with something to read.
pub async fn git_told(
    args: &[&str],
    stdin: &[u8],
    cwd: &Path,
    cx: &Around<'_>,
) -> Result<Answer, StageError> {
    let call = GitCall {
        args,
        cwd,
        env: &[],
        stdin: Some(stdin),
    };
    git_call(call, cx).await
}

/// The same, with variables of its own.
///
/// # Errors
/// As [`git`] has them.
pub async fn git_call(call: GitCall<'_>, cx: &Around<'_>) -> Result<Answer, StageError> {
    let program = cx.host.find("git").ok_or_else(|| StageError::Missing {
        what: "git".to_owned(),
        hint: "install it, for example with `apt-get install git`".to_owned(),
    })?;
    let fixed = FIXED.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut env = cx.host.registry_env();
    env.retain(|(name, _)| !FIXED.iter().any(|(fixed, _)| fixed == name));
    env.extend(fixed);
    let own = call.env.iter();
    env.extend(own.map(|(name, value)| ((*name).to_owned(), value.clone())));
    let args: Vec<&str> = SETTINGS.iter().chain(call.args).copied().collect();
    let tool = Tool {
        program: &program,
        args: &args,
        cwd: call.cwd,
        env: &env,
        stdin: call.stdin,
        limit: LIMIT,
    };
    tool.run_tidy(cx).await
}

/// What git printed, where it has to succeed; a failure is the machine's.
pub async fn git_text(args: &[&str], cwd: &Path, cx: &Around<'_>) -> Result<String, StageError> {
    let answer = git(args, cwd, cx).await?;
    if answer.is_fine() {
        return Ok(answer.text());
    }
    let what = format!(
        "git {} in {}: {}",
        args.join(" "),
        cwd.display(),
        answer.complaint()
    );
    Err(StageError::Infrastructure(what))
}

/// Commits everything in the tree, ignored files too, if there is anything to commit. Returns HEAD.
pub async fn commit_all(tree: &Path, message: &str, cx: &Around<'_>) -> Result<String, StageError> {
    git_text(&["add", "--all", "--force"], tree, cx).await?;
    let staged = git(&["diff", "--cached", "--quiet"], tree, cx).await?;
    if !staged.is_fine() {
        let commit = ["commit", "--quiet", "--no-verify", "--message", message];
        git_text(&commit, tree, cx).await?;
    }
    git_text(&["rev-parse", "HEAD"], tree, cx).await
}
