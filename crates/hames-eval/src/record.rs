//! `result.json`: everything that is said of one trial of one instance.
//!
//! Additive only: a field that is missing in an older file reads as its default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    environment::EnvironmentRecord,
    stage::{Stage, StageState},
    test_lists::TestLists,
    trajectory::Usage,
};

/// A task's own tests gave a reward, whatever the rules of the run.
pub const REWARD: &str = "reward";

/// There was nothing to run tests on: no rules were asked.
pub const NOT_GRADED: &str = "no tests were run";

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InstanceResult {
    pub instance_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// From 1 on: which of the independent trials of the instance this is.
    pub trial: u32,
    /// The name under which the agent is scored.
    pub model: String,
    pub adapter: String,
    pub dataset: String,
    pub split: String,
    pub resolved: bool,
    /// Where `resolved` comes from: `v4`, `v5`, [`REWARD`], or [`NOT_GRADED`].
    pub report_source: String,
    /// 100 × the share of this trial's tests that are as they should be.
    pub resolved_pct: Option<f64>,
    pub fail_to_pass: TestLists,
    pub pass_to_pass: TestLists,
    /// None where S3 was not asked for.
    pub baseline: Option<Baseline>,
    /// Written as `null` or a truth value, for readers of the older form.
    pub baseline_resolved: Option<bool>,
    pub environment: EnvironmentRecord,
    pub image: Option<String>,
    pub usage: Usage,
    /// US dollars.
    pub cost_usd: Option<f64>,
    pub turns: u32,
    pub patch: PatchFacts,
    pub harness_version: String,
    pub agent_version: Option<String>,
    pub seed: Option<u64>,
    pub stages: BTreeMap<Stage, StageState>,
    /// Seconds.
    pub stage_timings: BTreeMap<Stage, f64>,
    pub adapter_attempts: Vec<AdapterAttempt>,
    /// What a log without results looks like; it changes no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspicion: Option<crate::grading::Suspicion>,
    /// None where a verdict stands.
    pub failure: Option<Failure>,
    pub leaks: LeakReport,
    /// ISO 8601, UTC.
    pub generated_at: String,
}

impl InstanceResult {
    /// Whether the trial is part of a score's denominator.
    pub fn counts(&self) -> bool {
        self.failure
            .as_ref()
            .is_none_or(|failure| failure.class.counts())
    }

    /// `owner/repo`, from the id; another dataset's name where the id has none.
    pub fn repository(&self) -> String {
        let named = self.instance_id.rsplit_once('-').map(|(name, _)| name);
        let parts = named.and_then(|name| name.split_once("__"));
        match parts {
            Some((owner, repo)) => format!("{owner}/{repo}"),
            None if self.dataset.is_empty() => "(none)".to_owned(),
            None => self.dataset.clone(),
        }
    }

    /// Of all stages together.
    pub fn seconds(&self) -> f64 {
        // An empty sum of floats is −0.
        self.stage_timings.values().sum::<f64>() + 0.0
    }
}

impl InstanceResult {
    /// Reads a result, ours or an older one; remarks after `//` are passed over, as people write them.
    ///
    /// # Errors
    /// What is left is no result.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_remarks(text)))
    }
}

/// Outside of strings, `//` begins what ends with its line.
fn without_remarks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let (mut in_text, mut escaped, mut before) = (false, false, None);
        let mut end = line.len();
        for (at, char) in line.char_indices() {
            if !in_text && char == '/' && before == Some('/') {
                end = at - 1;
                break;
            }
            in_text ^= char == '"' && !escaped;
            escaped = in_text && char == '\\' && !escaped;
            before = Some(char);
        }
        plain.push_str(line.get(..end).unwrap_or(line));
        plain.push('\n');
    }
    plain
}

/// S3: what the tests say before any fix.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Baseline {
    pub valid: bool,
    /// F2P that pass already, P2P that do not: each makes the instance invalid here.
    pub fail_to_pass_that_pass: Vec<String>,
    pub pass_to_pass_that_fail: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchFacts {
    pub bytes: usize,
    pub files: Vec<String>,
    pub added: usize,
    pub removed: usize,
    /// Kept out as noise.
    pub filtered: Vec<String>,
    pub applies_to_base: Option<bool>,
    /// `tree`, `printed` (a diff in the answer), or `none`.
    pub from: String,
}

/// One run of one adapter. A trial has several where a fallback took over.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdapterAttempt {
    pub adapter: String,
    pub subprocess: bool,
    pub wall_time_seconds: f64,
    /// Negative for a signal: −15 is SIGTERM.
    pub returncode: Option<i32>,
    /// It was ended by us: wall limit or interrupt.
    pub killed: bool,
    /// It was killed or crashed, and its work was taken all the same.
    pub rescued: bool,
    /// `resolved`, `unresolved`, `empty_patch`, `failed`, `infrastructure`, `interrupted`, `lost`
    /// (the run was killed meanwhile), or `pending` before S6.
    pub outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What it had started and that was still alive when it ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub survivors_killed: usize,
    /// Whether all folders that hold answers were covered up for its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: FailureClass,
    pub stage: Stage,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The agent's own: tests fail.
    Unresolved,
    EmptyPatch,
    PatchDoesNotApply,
    TestsTimedOut,
    /// The agent ended without work and with an error of its own.
    AgentFailed,
    /// Not the agent's: never counted as a fail.
    Infrastructure,
    InvalidInstance,
    Missing,
    BadInput,
    Interrupted,
}

impl FailureClass {
    /// Nobody's fault, and it may be gone by the next run.
    pub fn is_tried_again(self) -> bool {
        match self {
            Self::Infrastructure | Self::Missing | Self::Interrupted => true,
            Self::Unresolved
            | Self::EmptyPatch
            | Self::PatchDoesNotApply
            | Self::TestsTimedOut
            | Self::AgentFailed
            | Self::InvalidInstance
            | Self::BadInput => false,
        }
    }

    /// As in `result.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::EmptyPatch => "empty_patch",
            Self::PatchDoesNotApply => "patch_does_not_apply",
            Self::TestsTimedOut => "tests_timed_out",
            Self::AgentFailed => "agent_failed",
            Self::Infrastructure => "infrastructure",
            Self::InvalidInstance => "invalid_instance",
            Self::Missing => "missing",
            Self::BadInput => "bad_input",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether the trial counts in the denominator.
    pub fn counts(self) -> bool {
        match self {
            Self::Unresolved
            | Self::EmptyPatch
            | Self::PatchDoesNotApply
            | Self::TestsTimedOut
            | Self::AgentFailed => true,
            Self::Infrastructure
            | Self::InvalidInstance
            | Self::Missing
            | Self::BadInput
            | Self::Interrupted => false,
        }
    }
}

/// What the scanner says of the agent's view and of what the agent did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LeakReport {
    /// How many files, git objects, refs and variables were looked at.
    pub scanned: usize,
    /// Answers found where the agent can read: each place in words. Must be empty.
    pub found: Vec<String>,
    /// Steps of the trajectory that look for answers.
    pub peeking: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
