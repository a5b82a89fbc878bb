//! What happens in a run, for those who watch it.
//!
//! Nobody waits for a watcher, and none can stop a run.

use crate::{
    record::InstanceResult,
    stage::{Stage, StageState},
};

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// `trials` are to be run; `done` of them were there already.
    RunStarted { trials: usize, workers: usize },
    StageStarted {
        worker: usize,
        trial: TrialId,
        stage: Stage,
    },
    StageEnded {
        worker: usize,
        trial: TrialId,
        stage: Stage,
        state: StageState,
        seconds: f64,
    },
    /// The agent has printed something.
    AgentSpoke { worker: usize, trial: TrialId },
    Note {
        trial: Option<TrialId>,
        text: String,
    },
    TrialEnded {
        worker: usize,
        trial: TrialId,
        result: Box<InstanceResult>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId {
    pub instance: String,
    /// From 1 on.
    pub trial: u32,
}

impl std::fmt::Display for TrialId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.trial {
            0 | 1 => f.write_str(&self.instance),
            trial => write!(f, "{}~{trial}", self.instance),
        }
    }
}

pub trait Observer: Send + Sync {
    fn see(&self, event: &Event);
}

/// Nobody watches.
pub struct Unwatched;

impl Observer for Unwatched {
    fn see(&self, _event: &Event) {}
}
