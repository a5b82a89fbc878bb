//! One task of a benchmark, whichever format it came in: what the agent may see, and the answers.
//!
//! How a format is read is in `datasets/`; nothing here touches a file.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// `owner__repo-number` in SWE-bench.
    pub id: String,
    /// `owner/repo`, or the name of a task's own repository.
    pub repo: String,
    /// Of the project; with the repository it names an environment.
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub base_commit: String,
    pub problem_statement: String,
    #[serde(default)]
    pub hints: String,
    #[serde(default)]
    pub created_at: String,
    #[serde(default)]
    pub environment_setup_commit: String,
    #[serde(default)]
    pub difficulty: String,
    /// Where the task came from: a file or folder name, and a split if the format has them.
    #[serde(default)]
    pub dataset: String,
    #[serde(default)]
    pub split: String,
    pub answers: Answers,
    pub source: Source,
    pub tests: TestPlan,
    pub recipe: Recipe,
}

/// What no agent may read: no file, git object or variable of its own holds any of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answers {
    /// The fix, source files only.
    pub gold_patch: String,
    pub test_patch: String,
    pub fail_to_pass: Vec<String>,
    pub pass_to_pass: Vec<String>,
    /// Binary files that a patch cannot carry, laid into the tree before the tests run.
    #[serde(default)]
    pub test_assets: Option<PathBuf>,
}

/// Where the tree at the base commit comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// A repository; `url` is a clone address or a folder, by default GitHub's for `repo`.
    Git { url: Option<String>, commit: String },
    /// A release's source archive in the Python package registry.
    Sdist {
        project: String,
        version: String,
        file: String,
        sha256: String,
    },
    /// A folder that holds the tree.
    Folder { path: PathBuf },
    /// Inside the task's image only, in this folder of it.
    Image { workdir: PathBuf },
}

/// How the tests are run and their output read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestPlan {
    pub run: TestRun,
    /// The log parser's name, as `pytest` or `parse_log_django`; empty: by repository.
    pub parser: String,
    /// Only that nothing listed failed is asked for (v5 `eval_type: fail_only`).
    pub fail_only: bool,
    /// Of the test command [default: the run's own, 1 800 s].
    pub time_limit: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TestRun {
    /// The dataset brings its whole eval script (v5, `eval.sh`).
    Script { text: String },
    /// A test command of the recipe; the script around it is ours, with the official markers.
    Command { command: String },
    /// By the official tables for `repo` and `version`.
    Official,
    /// A Harbor task's `tests/test.sh`, which writes a reward; `tests` is laid beside the tree.
    Reward { tests: PathBuf },
}

/// What the local back-end needs to build an environment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Recipe {
    /// As `3.9.18` or `3.9`; empty: whichever Python 3 is found.
    #[serde(default)]
    pub python: String,
    /// Pinned, as pip takes them. Without any, no virtual environment is made.
    #[serde(default)]
    pub deps: Vec<String>,
    /// The tree itself is installed with `pip install --no-deps -e`.
    #[serde(default)]
    pub editable: bool,
    /// Variables for installing and for tests. `PYTHONPATH` is relative to the tree.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Programs that must be on the path, as `sh` or `node`.
    #[serde(default)]
    pub programs: Vec<String>,
    /// The container image; empty: the official name for the instance.
    #[serde(default)]
    pub image: String,
    /// Commands that are run once in the tree before it becomes the base.
    #[serde(default)]
    pub setup: Vec<String>,
}

/// What the agent is told. It holds no answers, except for the one adapter that replays them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub instance_id: String,
    pub repo: String,
    pub version: String,
    pub problem_statement: String,
    /// The whole prompt, as rendered by S1.
    pub prompt: String,
    /// Only for an adapter whose `plays_gold` is true.
    #[serde(skip)]
    pub gold_patch: Option<String>,
}
