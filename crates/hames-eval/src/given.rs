//! What the stages of a trial hand on, for those after them and for its result.
//!
//! Data alone: what makes it is in `stages/`, and what keeps it is the manifest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    adapter::Place,
    environment::{Checkout, Prepared},
    instance::Task,
    record::{Baseline, Failure, LeakReport},
    stage::{Stage, StageState},
    stages::{s4_solve::Solved, s5_patch::Extracted, s6_score::Scored},
    trajectory::Source,
};

/// What the stages have given so far.
#[derive(Default)]
pub struct Given {
    pub task: Option<Task>,
    pub ready: Option<Ready>,
    pub baseline: Option<Baseline>,
    pub solved: Option<Solving>,
    pub extracted: Option<Extracted>,
    pub scored: Option<Scored>,
}

/// S2's output: what the agent is about to get, and the proof that no answer is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    pub prepared: Prepared,
    pub checkout: Checkout,
    pub place: Place,
    pub leaks: LeakReport,
}

/// S4's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solving {
    pub solved: Solved,
    /// The checkout that it was done in.
    pub ready: Ready,
    /// Steps that look for answers.
    pub peeking: Vec<String>,
}

impl Solving {
    pub fn agent_turns(&self) -> usize {
        let turns = &self.solved.reading.trajectory.turns;
        turns
            .iter()
            .filter(|turn| turn.source == Source::Agent)
            .count()
    }
}

/// What of a trial's course goes into its result.
#[derive(Debug, Clone, Default)]
pub struct Passed {
    pub stages: BTreeMap<Stage, StageState>,
    pub seconds: BTreeMap<Stage, f64>,
    pub failure: Option<Failure>,
}
