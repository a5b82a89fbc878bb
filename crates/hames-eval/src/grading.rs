//! The official verdict over a test log, under both rule sets that scores are published with.
//!
//! Pure: text in, verdict out. How a tree is made and tests are run is the back-end's.

mod apply;
mod eval_script;
mod infrastructure;
mod log;
pub mod report;
mod tests_status;

use serde::{Deserialize, Serialize};

pub use crate::official::Version;
pub use apply::apply_chain;
pub use eval_script::{EvalScript, eval_script};
pub use infrastructure::{Suspicion, Tier, suspect};
pub use log::statuses;

use crate::{
    environment::TestOutput,
    instance::Instance,
    log_parsers::{self, LogOf, LogParser},
    stage::StageError,
    test_lists::TestLists,
};

/// The official names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    #[serde(rename = "RESOLVED_NO")]
    No,
    #[serde(rename = "RESOLVED_PARTIAL")]
    Partial,
    #[serde(rename = "RESOLVED_FULL")]
    Full,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub resolved: bool,
    pub resolution: Resolution,
    /// Whether the log says anything of the tests; the official reports call it
    /// `patch_successfully_applied`.
    pub found: bool,
    pub fail_to_pass: TestLists,
    pub pass_to_pass: TestLists,
    /// What a log without results looks like (v5). It changes no verdict.
    pub suspicion: Option<Suspicion>,
}

/// Over a run of the tests.
pub fn grade(instance: &Instance, version: Version, output: &TestOutput) -> Verdict {
    if let Some(reward) = output.reward {
        return by_reward(reward);
    }
    if output.applied_by.is_none() {
        return Verdict::without_log(instance, version, &output.apply_log);
    }
    grade_log(instance, version, &output.log)
}

/// Over a saved log.
pub fn grade_log(instance: &Instance, version: Version, log: &str) -> Verdict {
    let Ok(parser) = parser_of(instance) else {
        return Verdict::without_log(instance, version, log);
    };
    match log::statuses(log, parser, version) {
        Some(statuses) => {
            let fail_only = is_fail_only(instance, version);
            let lists = tests_status::lists(&instance.answers, &statuses, version, fail_only);
            Verdict::over(lists)
        }
        None => Verdict::without_log(instance, version, log),
    }
}

/// The parser that the dataset names, else the repository's.
pub fn parser_of(instance: &Instance) -> Result<LogParser, StageError> {
    let name = instance.tests.parser.as_str();
    let of = LogOf {
        id: &instance.id,
        version: &instance.version,
    };
    let found = match name {
        "" => log_parsers::by_repo(&instance.repo, of),
        name => log_parsers::by_name(name, of),
    };
    found.ok_or_else(|| {
        let asked = if name.is_empty() {
            instance.repo.as_str()
        } else {
            name
        };
        let known = log_parsers::names().join(", ");
        StageError::BadInput(format!(
            "{}: no log parser for {asked}: name one of {known}",
            instance.id
        ))
    })
}

/// Repositories whose parsers see failures alone.
const FAIL_ONLY: [&str; 6] = [
    "chartjs/Chart.js",
    "processing/p5.js",
    "markedjs/marked",
    "bpmn-io/bpmn-js",
    "openlayers/openlayers",
    "eslint/eslint",
];

/// Version 4 knows the first three; version 5 goes by the dataset, whose older rows do not say.
fn is_fail_only(instance: &Instance, version: Version) -> bool {
    let known = match version {
        Version::V4 => FAIL_ONLY.iter().take(3),
        Version::V5 => FAIL_ONLY.iter().take(FAIL_ONLY.len()),
    };
    let mut known = known;
    instance.tests.fail_only || known.any(|repo| *repo == instance.repo)
}

/// A Harbor task's own word: everything or nothing.
fn by_reward(reward: f64) -> Verdict {
    let resolved = reward >= 1.0;
    let resolution = match resolved {
        true => Resolution::Full,
        false if reward > 0.0 => Resolution::Partial,
        false => Resolution::No,
    };
    Verdict {
        resolved,
        resolution,
        found: true,
        fail_to_pass: TestLists::default(),
        pass_to_pass: TestLists::default(),
        suspicion: None,
    }
}

impl Verdict {
    fn over(lists: tests_status::Lists) -> Self {
        let resolution = lists.resolution();
        Self {
            resolved: resolution == Resolution::Full,
            resolution,
            found: true,
            fail_to_pass: lists.fail_to_pass,
            pass_to_pass: lists.pass_to_pass,
            suspicion: None,
        }
    }

    /// Nothing is known of any test: none of them is as it should be.
    fn without_log(instance: &Instance, version: Version, log: &str) -> Self {
        let failing = |tests: &[String]| TestLists {
            fail: tests.to_vec(),
            ..TestLists::default()
        };
        Self {
            resolved: false,
            resolution: Resolution::No,
            found: false,
            fail_to_pass: failing(&instance.answers.fail_to_pass),
            pass_to_pass: failing(&instance.answers.pass_to_pass),
            suspicion: (version == Version::V5).then(|| suspect(log)).flatten(),
        }
    }
}
