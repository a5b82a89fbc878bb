//! What a run was asked to do: written beside its results, so that it can be gone on with.
//!
//! It holds no task and no result.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{digest, grading::Version, stages::s1_build::Telling};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunPlan {
    pub id: String,
    /// Where the tasks were read from.
    pub tasks: PathBuf,
    pub filter: Filter,
    /// In order: the first, then those that take over where it cannot work.
    pub agents: Vec<AgentChoice>,
    /// The name that scores are kept under [default: the adapter's, with its model].
    pub model_name: String,
    /// Independent trials of each instance.
    pub attempts: u32,
    pub workers: usize,
    /// `local` or `docker`.
    pub environment: String,
    pub grader: Version,
    /// S3.
    pub baseline: bool,
    pub telling: Telling,
    /// Of one attempt of S4, in seconds.
    pub wall_limit: f64,
    /// Of the tests, in seconds; a task's own limit wins.
    pub test_limit: f64,
    /// How often what is nobody's fault is tried again.
    pub retries: u32,
    /// Whether folders that hold answers are hidden from the agent where the system can.
    pub confine: bool,
    /// Keep the agents' checkouts.
    pub keep: bool,
    pub seed: u64,
    /// Of the file that `predictions` takes patches from: another content is another run.
    pub predictions: Option<String>,
    /// Tasks that it has nothing for: no trial is run, and the official report calls them incomplete.
    pub unpredicted: Vec<String>,
    /// Instances that `calibrate` found not to work on this machine are left out by this file.
    pub calibration: Option<PathBuf>,
}

/// Which tasks of all that were read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Ids, or globs over them; none: all.
    pub ids: Vec<String>,
    pub repos: Vec<String>,
    pub split: Option<String>,
    pub limit: Option<usize>,
}

/// An adapter, and what was chosen for it. Keys are never in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentChoice {
    pub adapter: String,
    pub options: crate::adapter::Options,
}

/// Of all that a trial's stages are given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inputs {
    /// The task, the agent, and what it is told.
    pub work: String,
    /// The rules and limits of S6 alone.
    pub grading: String,
}

impl Default for RunPlan {
    fn default() -> Self {
        Self {
            id: String::new(),
            tasks: PathBuf::new(),
            filter: Filter::default(),
            agents: Vec::new(),
            model_name: String::new(),
            attempts: 1,
            workers: 1,
            environment: "local".to_owned(),
            grader: Version::V5,
            baseline: false,
            telling: Telling::default(),
            wall_limit: 1_800.0,
            test_limit: 1_800.0,
            retries: 2,
            confine: true,
            keep: false,
            seed: 0,
            predictions: None,
            unpredicted: Vec::new(),
            calibration: None,
        }
    }
}

impl RunPlan {
    pub fn wall(&self) -> Duration {
        Duration::from_secs_f64(self.wall_limit)
    }

    pub fn test_time(&self) -> Duration {
        Duration::from_secs_f64(self.test_limit)
    }

    /// What must be the same for a stage's output to be taken again.
    pub fn inputs(&self, instance: &crate::instance::Instance) -> Inputs {
        let work: Vec<_> = self.work().into_iter().map(|(_, value)| value).collect();
        Inputs {
            work: digest::of(json!([instance, work]).to_string().as_bytes()),
            grading: digest::of(json!([self.grader, self.test_limit]).to_string().as_bytes()),
        }
    }

    /// What an agent's work depends on, by the names that a user knows.
    fn work(&self) -> [(&'static str, Value); 8] {
        [
            ("the agents and what they are told", json!(self.agents)),
            ("--model-name", json!(self.model_name)),
            ("--environment", json!(self.environment)),
            ("--baseline", json!(self.baseline)),
            ("--hints", json!(self.telling)),
            ("--wall-limit", json!(self.wall_limit)),
            ("--seed", json!(self.seed)),
            ("the predictions", json!(self.predictions)),
        ]
    }

    /// In what this plan would make an agent's work under the other a thing of the past.
    pub fn differs_from(&self, other: &Self) -> Vec<&'static str> {
        let pairs = self.work().into_iter().zip(other.work());
        pairs
            .filter(|((_, one), (_, other))| one != other)
            .map(|((name, _), _)| name)
            .collect()
    }
}
