//! The seven stages by name, and which of the loop's six parts each of them mirrors.
//!
//! What a stage does is in `stages/`, one file each.

use serde::{Deserialize, Serialize};

/// In the order they run. S3 is optional.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    #[serde(rename = "S1_build")]
    Build,
    #[serde(rename = "S2_prepare")]
    Prepare,
    #[serde(rename = "S3_baseline")]
    Baseline,
    #[serde(rename = "S4_solve")]
    Solve,
    #[serde(rename = "S5_patch")]
    Patch,
    #[serde(rename = "S6_score")]
    Score,
    #[serde(rename = "S7_record")]
    Record,
}

impl Stage {
    pub const ALL: [Self; 7] = [
        Self::Build,
        Self::Prepare,
        Self::Baseline,
        Self::Solve,
        Self::Patch,
        Self::Score,
        Self::Record,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Build => "S1_build",
            Self::Prepare => "S2_prepare",
            Self::Baseline => "S3_baseline",
            Self::Solve => "S4_solve",
            Self::Patch => "S5_patch",
            Self::Score => "S6_score",
            Self::Record => "S7_record",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StageState {
    Done,
    Failed,
    Skipped,
}

impl StageState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// Why a stage did not do what it is for. Each says what was wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// The task itself, or what was asked of it, is not usable.
    #[error("{0}")]
    BadInput(String),
    /// A program or an interpreter is not there.
    #[error("{what} is missing: {hint}")]
    Missing { what: String, hint: String },
    /// The machine, the network, a registry, a container: not the agent, and not the task. Retried.
    #[error("{0}")]
    Infrastructure(String),
    /// Someone else works on it.
    #[error(
        "{what} is in use by {}: wait for it, or give this run a --run-id of its own",
        pid.map_or("another process".to_owned(), |pid| format!("process {pid}"))
    )]
    Locked {
        what: String,
        /// None while the holder has not signed yet.
        pid: Option<u32>,
    },
    /// The run was told to stop.
    #[error("interrupted")]
    Interrupted,
}

impl StageError {
    /// `at` is what was being done, as "read FILE".
    pub fn io(at: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::Infrastructure(format!("{at}: {error}"))
    }
}
