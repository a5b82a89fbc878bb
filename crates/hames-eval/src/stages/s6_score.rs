//! S6: the patch on a clean base, the tests laid over it, and the official rules over their output.
//!
//! The agent is gone by now, and nothing that it could reach is used.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::s5_patch::Extracted;
use crate::{
    environment::{Candidate, Prepared, TestOutput},
    experiment::write_atomically,
    grading::{self, Verdict, report},
    instance::TestRun,
    record::FailureClass,
    stage::StageError,
    trial::TrialContext,
};

/// What S6 says of a patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// None for an empty patch, for which the official rules run nothing.
    pub verdict: Option<Verdict>,
    /// Why it is not resolved; none where it is.
    pub failure: Option<(FailureClass, String)>,
    /// Seconds of the tests.
    pub seconds: f64,
    pub survivors: usize,
}

pub(crate) struct Trying<'a> {
    pub patch: &'a str,
    /// The name of the folder that it is tried in.
    pub scratch: &'a str,
}

pub(crate) struct Tried {
    pub output: TestOutput,
    pub verdict: Verdict,
    pub script: String,
}

pub async fn run(
    cx: &TrialContext<'_>,
    prepared: &Prepared,
    extracted: &Extracted,
) -> Result<(Scored, Vec<PathBuf>), StageError> {
    // A task with tests of its own kind has them run whatever was done: it may be about nothing in
    // the tree. The official rules run nothing.
    let is_official = !matches!(cx.instance.tests.run, TestRun::Reward { .. });
    if is_official && extracted.patch.trim().is_empty() {
        let failure = Some((
            FailureClass::EmptyPatch,
            "the patch is empty: nothing was run".to_owned(),
        ));
        return Ok((
            Scored {
                verdict: None,
                failure,
                seconds: 0.0,
                survivors: 0,
            },
            Vec::new(),
        ));
    }
    let trying = Trying {
        patch: &extracted.patch,
        scratch: "s6",
    };
    let tried = try_patch(cx, prepared, &trying).await?;
    let outputs = write_official(cx, &extracted.patch, &tried)?;
    let Tried {
        output, verdict, ..
    } = tried;
    let failure = why_not(&output, &verdict);
    let scored = Scored {
        verdict: Some(verdict),
        failure,
        seconds: output.seconds,
        survivors: output.survivors,
    };
    Ok((scored, outputs))
}

/// Runs the tests over a patch; what is nobody's fault is tried again.
pub(crate) async fn try_patch(
    cx: &TrialContext<'_>,
    prepared: &Prepared,
    trying: &Trying<'_>,
) -> Result<Tried, StageError> {
    let plan = &cx.run.plan;
    let script = grading::eval_script(cx.instance, plan.grader)?.text;
    let apply = grading::apply_chain(plan.grader);
    let scratch = cx.work_dir().join(trying.scratch);
    let mut tries = 0;
    let output = loop {
        let candidate = Candidate {
            patch: trying.patch,
            eval_script: &script,
            apply: &apply,
            time_limit: cx.instance.tests.time_limit.unwrap_or(plan.test_time()),
            scratch: &scratch,
        };
        let around = cx.run.around();
        match cx
            .run
            .environment
            .run_tests(cx.instance, prepared, candidate, &around)
            .await
        {
            Err(StageError::Infrastructure(why)) if tries < plan.retries => {
                tries += 1;
                cx.note(&format!(
                    "the tests could not be run ({why}): try {} of {}",
                    tries + 1,
                    plan.retries + 1
                ));
            }
            ended => break ended?,
        }
    };
    let verdict = grading::grade(cx.instance, plan.grader, &output);
    Ok(Tried {
        output,
        verdict,
        script,
    })
}

fn why_not(output: &TestOutput, verdict: &Verdict) -> Option<(FailureClass, String)> {
    if verdict.resolved {
        return None;
    }
    Some(if output.applied_by.is_none() {
        (
            FailureClass::PatchDoesNotApply,
            "the patch does not apply to the base".to_owned(),
        )
    } else if output.timed_out {
        (
            FailureClass::TestsTimedOut,
            format!(
                "the tests did not end within their limit ({:.0} s)",
                output.seconds
            ),
        )
    } else if let Some(reward) = output.reward {
        (
            FailureClass::Unresolved,
            format!("the task's tests gave a reward of {reward}, not 1"),
        )
    } else {
        let failing = verdict.fail_to_pass.fail.len() + verdict.pass_to_pass.fail.len();
        (
            FailureClass::Unresolved,
            format!("{failing} of the listed tests fail"),
        )
    })
}

/// The official layout's five files, and copies of the two that are looked at most.
fn write_official(
    cx: &TrialContext<'_>,
    patch: &str,
    tried: &Tried,
) -> Result<Vec<PathBuf>, StageError> {
    let plan = &cx.run.plan;
    let official = cx
        .run
        .experiment
        .official(&plan.model_name, &cx.instance.id, cx.trial);
    let report = report::instance_report(&cx.instance.id, plan.grader, &tried.verdict);
    let report = serde_json::to_string_pretty(&report)
        .map_err(|error| StageError::Infrastructure(error.to_string()))?;
    let TestOutput { log, apply_log, .. } = &tried.output;
    let dir = cx.dir();
    let files: [(PathBuf, &str); 7] = [
        (official.join("run_instance.log"), apply_log),
        (official.join("patch.diff"), patch),
        (official.join("eval.sh"), &tried.script),
        (official.join("test_output.txt"), log),
        (official.join("report.json"), &report),
        (dir.test_output(), log),
        (dir.report(), &report),
    ];
    let written = files.iter().map(|(path, text)| write(path, text));
    written.collect::<Result<Vec<PathBuf>, StageError>>()
}

fn write(path: &Path, text: &str) -> Result<PathBuf, StageError> {
    write_atomically(path, text.as_bytes())
        .map_err(|error| StageError::io(path.display(), &error))?;
    Ok(path.to_owned())
}
