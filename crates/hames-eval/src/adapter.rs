//! The one seam to a coding agent: its command line, what its output means, and how it is stopped.
//!
//! Who runs the command, waits for it, kills it and rescues its work is S4's and S5's business.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{host::Host, instance::Task, stage::StageError, trajectory::Trajectory};

/// A coding agent. One file in `adapters/`, one line in its list.
pub trait Adapter: Send + Sync {
    fn name(&self) -> &'static str;

    /// Other names it is known by.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Variables of the caller that reach the agent: its providers' keys and addresses, no others.
    fn passes(&self) -> &'static [&'static str] {
        &[]
    }

    /// It is given the gold patch: the self-test, never a score.
    fn plays_gold(&self) -> bool {
        false
    }

    /// What a list of adapters says of it, and what of [`Options`] it can be told.
    fn about(&self) -> About {
        About::default()
    }

    /// What must be there before anything is built; the error carries an install hint.
    fn check(&self, host: &Host, options: &Options) -> Result<(), StageError>;

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError>;

    /// What the agent did, from what it printed and left. Never an error: what cannot be read is
    /// said in [`Reading::notes`].
    fn read(&self, left: &Left<'_>) -> Reading;
}

/// What is said of an agent where agents are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct About {
    /// How it is installed.
    pub install: &'static str,
    /// Where its turns and its usage are read from.
    pub reads: &'static str,
    /// What it does when it is asked to end (SIGTERM).
    pub stops: &'static str,
    pub takes: &'static [Choice],
}

/// One of [`Options`] that not every agent can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Model,
    BaseUrl,
    Shape,
    MaxTurns,
    MaxCost,
    Temperature,
    Seed,
    ExtraArgs,
}

/// What the user chose for the agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// As the agent itself spells it; empty: the agent's own choice.
    pub model: String,
    /// The base address of a model service, where the agent can be pointed at one.
    pub base_url: Option<String>,
    /// A loop shape, for those who have them.
    pub shape: Option<String>,
    pub max_turns: Option<u32>,
    /// US dollars an instance.
    pub max_cost: Option<f64>,
    pub temperature: Option<f64>,
    pub seed: Option<u64>,
    /// Flags that are handed on as they are.
    pub extra_args: Vec<String>,
    /// For `command:`.
    pub command: String,
}

/// Where the agent works. All of it is its own, and nothing else is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The checkout.
    pub tree: PathBuf,
    /// Its home: configuration is written here, and agents leave their logs here.
    pub home: PathBuf,
    pub temp: PathBuf,
    /// The environment's own variables: `PATH` with the interpreter first, and the recipe's.
    pub env: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    Subprocess(CommandLine),
    /// Done without a process; a unified diff.
    Patch(String),
}

/// A process to be run in the tree, with a clean environment: the place's, then these.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandLine {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: Option<String>,
    /// Written into the home before the start: path in it, and text.
    pub files: Vec<(PathBuf, String)>,
    /// From SIGTERM to SIGKILL, of the whole process tree.
    pub grace: Duration,
}

impl CommandLine {
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: None,
            files: Vec::new(),
            grace: Duration::from_secs(5),
        }
    }
}

/// What an agent left behind.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    pub stdout: &'a str,
    pub stderr: &'a str,
    /// As a shell has it, negative for a signal (−15); none if it never started.
    pub returncode: Option<i32>,
    pub killed: bool,
    pub place: &'a Place,
    pub options: &'a Options,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reading {
    pub trajectory: Trajectory,
    /// A diff that the agent printed rather than made; S5 uses it where the tree is unchanged.
    pub diff: Option<String>,
    /// The agent could not work for a reason that is not its own: no key, 429, no network.
    pub infrastructure: Option<String>,
    /// It said itself that it could not do the task.
    pub failure: Option<String>,
    pub notes: Vec<String>,
}
