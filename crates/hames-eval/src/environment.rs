//! The seam to where trees are checked out and tests are run: this machine, or containers.
//!
//! What a test's output means is in `grading/`; which patch is tried is the caller's business.

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{host::Host, instance::Instance, stage::StageError};

pub type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, StageError>> + Send + 'a>>;

pub trait Environment: Send + Sync {
    /// `local` or `docker`.
    fn name(&self) -> &'static str;

    /// Whether this machine can, before anything is built: the error carries a hint.
    fn check(&self, instance: &Instance, cx: &Around<'_>) -> Result<(), StageError>;

    /// S2: base tree and environment, made once, kept in the cache and shared. Idempotent.
    fn prepare<'a>(&'a self, instance: &'a Instance, cx: &'a Around<'a>) -> Work<'a, Prepared>;

    /// A clean checkout of the base in `tree` (absent or an empty folder), with no later history,
    /// remote, tag or reflog in it, and one commit that is its HEAD.
    fn checkout<'a>(
        &'a self,
        instance: &'a Instance,
        prepared: &'a Prepared,
        tree: &'a Path,
        cx: &'a Around<'a>,
    ) -> Work<'a, Checkout>;

    /// Lays the patch on a clean base of its own, runs the eval script there, and leaves nothing
    /// of it running.
    fn run_tests<'a>(
        &'a self,
        instance: &'a Instance,
        prepared: &'a Prepared,
        candidate: Candidate<'a>,
        cx: &'a Around<'a>,
    ) -> Work<'a, TestOutput>;
}

/// What every step of a run has around it.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    pub host: &'a Host,
    pub cancel: &'a CancellationToken,
}

/// What S2 made, for later stages and for the record. All paths are in the cache.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Prepared {
    /// The bare repository that holds the base.
    pub mirror: PathBuf,
    /// In the mirror: what checkouts begin from. It is the instance's own where the source is git.
    pub base: String,
    /// The folder of the environment; none where the recipe needs none.
    pub environment: Option<PathBuf>,
    /// The interpreter, where it is this machine's.
    #[serde(default)]
    pub python: Option<PathBuf>,
    pub record: EnvironmentRecord,
}

/// What the tests ran with: part of every result, so that scores of different machines can be told apart.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EnvironmentRecord {
    /// `local` or `docker`.
    pub backend: String,
    /// As `CPython 3.9.18`, with its path.
    pub interpreter: Option<String>,
    /// `name==version`, sorted.
    pub freeze: Vec<String>,
    pub os: String,
    pub image: Option<String>,
    /// Whether tests could reach a network.
    pub network: Option<bool>,
}

/// A tree for somebody to work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkout {
    pub tree: PathBuf,
    /// The commit that HEAD was at when it was handed over.
    pub head: String,
    /// `PATH` with the interpreter first, and the recipe's variables.
    pub env: Vec<(String, String)>,
}

/// What is to be tested.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// May be empty: the base itself.
    pub patch: &'a str,
    /// `{testbed}` in it stands for the tree, `{base}` for the base commit.
    pub eval_script: &'a str,
    /// How the patch is applied: the commands, in order, until one succeeds.
    pub apply: &'a [ApplyStep],
    pub time_limit: Duration,
    /// A folder that is the caller's: the tree and the log are made in it.
    pub scratch: &'a Path,
}

/// One try to lay a patch on a tree, as the official grader has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyStep {
    /// As `git apply --verbose`; the patch file's path is added.
    pub argv: Vec<&'static str>,
    /// The tree is put back to the base if it fails (v5).
    pub resets: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestOutput {
    /// The index of the step that succeeded; none: the patch does not apply, and nothing was run.
    /// `Some` for an empty patch.
    pub applied_by: Option<usize>,
    /// What the tries printed.
    pub apply_log: String,
    /// The script's stdout and stderr as one, lossless where it is UTF-8.
    pub log: String,
    /// Of the script, negative for a signal.
    pub exit: Option<i32>,
    pub timed_out: bool,
    pub seconds: f64,
    /// Processes that the script left running, and that were ended.
    pub survivors: usize,
    /// What a Harbor task's own tests gave; none for all others.
    #[serde(default)]
    pub reward: Option<f64>,
}
