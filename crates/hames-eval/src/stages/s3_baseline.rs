//! S3: the tests before any fix. What should fail fails, and what should pass passes, or the
//! instance says nothing on this machine.
//!
//! It never touches an agent's score: an invalid instance is left out, and said.

use std::path::PathBuf;

use super::s6_score::{Trying, try_patch};
use crate::{environment::Prepared, record::Baseline, stage::StageError, trial::TrialContext};

pub const REFUSAL: &str = "the tests do not say on this machine what the task needs them to say before a fix: \
                           see `baseline` in the result, and `hames eval calibrate`";

pub async fn run(
    cx: &TrialContext<'_>,
    prepared: &Prepared,
) -> Result<(Baseline, Vec<PathBuf>), StageError> {
    let trying = Trying {
        patch: "",
        scratch: "s3",
    };
    let tried = try_patch(cx, prepared, &trying).await?;
    let answers = &cx.instance.answers;
    let listed = |wanted: &[String], status: &[String]| -> Vec<String> {
        wanted
            .iter()
            .filter(|test| status.contains(test))
            .cloned()
            .collect()
    };
    let verdict = &tried.verdict;
    let baseline = Baseline {
        valid: false,
        fail_to_pass_that_pass: listed(&answers.fail_to_pass, &verdict.fail_to_pass.pass),
        pass_to_pass_that_fail: listed(&answers.pass_to_pass, &verdict.pass_to_pass.fail),
    };
    let valid =
        baseline.fail_to_pass_that_pass.is_empty() && baseline.pass_to_pass_that_fail.is_empty();
    Ok((Baseline { valid, ..baseline }, Vec::new()))
}
