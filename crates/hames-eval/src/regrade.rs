//! Verdicts over a run's saved logs, with no tests run: `report.json` and `result.json` anew.
//!
//! What was spent and what was done stays as it was.

use std::fs;

use crate::{
    event::TrialId,
    experiment::{Experiment, write_atomically},
    grading::{self, Version, report},
    instance::{Instance, TestRun},
    plan::RunPlan,
    record::{Failure, FailureClass, InstanceResult},
    stage::{Stage, StageError},
    summary,
};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Regraded {
    pub graded: usize,
    pub without_log: usize,
    pub changed: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub trial: TrialId,
    pub was: bool,
    pub is: bool,
}

pub fn run(
    experiment: &Experiment,
    plan: &RunPlan,
    instances: &[Instance],
    version: Version,
) -> Result<Regraded, StageError> {
    let mut regraded = Regraded::default();
    let mut results = Vec::new();
    for instance in instances {
        for trial in 1..=plan.attempts.max(1) {
            let dir = experiment.trial(&instance.id, trial);
            let Some(mut result) = read(&dir.result())? else {
                continue;
            };
            // A reward is not in the log: what was given stays.
            let log = match instance.tests.run {
                TestRun::Reward { .. } => None,
                TestRun::Script { .. } | TestRun::Command { .. } | TestRun::Official => {
                    fs::read_to_string(dir.test_output()).ok()
                }
            };
            match log {
                Some(log) => {
                    regraded.graded += 1;
                    let was = result.resolved;
                    grade_again(instance, version, &log, &mut result, experiment, plan)?;
                    if was != result.resolved {
                        let trial = TrialId {
                            instance: instance.id.clone(),
                            trial,
                        };
                        regraded.changed.push(Change {
                            trial,
                            was,
                            is: result.resolved,
                        });
                    }
                }
                None => regraded.without_log += 1,
            }
            results.push(result);
        }
    }
    let plan = RunPlan {
        grader: version,
        ..plan.clone()
    };
    summary::write(experiment, &plan, &results)?;
    Ok(regraded)
}

fn read(path: &std::path::Path) -> Result<Option<InstanceResult>, StageError> {
    let Ok(text) = fs::read_to_string(path) else {
        return Ok(None);
    };
    InstanceResult::parse(&text)
        .map(Some)
        .map_err(|error| StageError::BadInput(format!("{}: {error}", path.display())))
}

fn grade_again(
    instance: &Instance,
    version: Version,
    log: &str,
    result: &mut InstanceResult,
    experiment: &Experiment,
    plan: &RunPlan,
) -> Result<(), StageError> {
    let verdict = grading::grade_log(instance, version, log);
    result.resolved = verdict.resolved;
    result.report_source = version.to_string();
    result.fail_to_pass = verdict.fail_to_pass.clone();
    result.pass_to_pass = verdict.pass_to_pass.clone();
    let judged = result
        .failure
        .as_ref()
        .is_none_or(|failure| failure.class == FailureClass::Unresolved);
    if judged {
        let message = "listed tests fail".to_owned();
        let failure = Failure {
            class: FailureClass::Unresolved,
            stage: Stage::Score,
            message,
        };
        result.failure = (!verdict.resolved).then_some(failure);
    }
    for attempt in &mut result.adapter_attempts {
        if matches!(attempt.outcome.as_str(), "resolved" | "unresolved") {
            let outcome = if verdict.resolved {
                "resolved"
            } else {
                "unresolved"
            };
            outcome.clone_into(&mut attempt.outcome);
        }
    }
    let dir = experiment.trial(&instance.id, result.trial);
    let report = report::instance_report(&instance.id, version, &verdict);
    let official = experiment
        .official(&plan.model_name, &instance.id, result.trial)
        .join("report.json");
    for path in [dir.report(), official] {
        write(&path, &report)?;
    }
    write(&dir.result(), result)
}

fn write<T: serde::Serialize>(path: &std::path::Path, value: &T) -> Result<(), StageError> {
    let text = serde_json::to_vec_pretty(value)
        .map_err(|error| StageError::Infrastructure(error.to_string()))?;
    write_atomically(path, &text).map_err(|error| StageError::io(path.display(), &error))
}
