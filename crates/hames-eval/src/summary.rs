//! What a whole run leaves beside its trials, in the official forms: predictions and run report.
//!
//! For people it is told by `report.rs`.

use std::collections::BTreeMap;

use crate::{
    experiment::{Experiment, file_name, write_atomically},
    grading::report::{self, Ended, Entry},
    plan::RunPlan,
    record::{FailureClass, InstanceResult},
    stage::StageError,
};

/// `<model>.<run id>.json` for each trial, and `preds.jsonl` of the first.
pub fn write(
    experiment: &Experiment,
    plan: &RunPlan,
    results: &[InstanceResult],
) -> Result<(), StageError> {
    let mut by_trial: BTreeMap<u32, Vec<&InstanceResult>> = BTreeMap::new();
    for result in results {
        by_trial.entry(result.trial).or_default().push(result);
    }
    for (trial, results) in by_trial {
        let id = match trial {
            0 | 1 => plan.id.clone(),
            trial => format!("{}~{trial}", plan.id),
        };
        let without = plan.unpredicted.iter().map(|id| Entry {
            id,
            ended: Ended::Incomplete,
            suspicion: None,
        });
        let ends = results.iter().map(|result| Entry {
            id: &result.instance_id,
            ended: ended(result),
            suspicion: result.suspicion.clone(),
        });
        let ends = ends.chain(without);
        let run = report::run_report(plan.grader, ends);
        let path = experiment
            .dir
            .join(format!("{}.{id}.json", file_name(&plan.model_name)));
        let text = serde_json::to_string_pretty(&run)
            .map_err(|error| StageError::Infrastructure(error.to_string()))?;
        write_atomically(&path, text.as_bytes())
            .map_err(|error| StageError::io(path.display(), &error))?;
    }
    let mut lines = String::new();
    for result in results.iter().filter(|result| result.trial <= 1) {
        let path = experiment.trial(&result.instance_id, 1).prediction();
        lines += &std::fs::read_to_string(path).unwrap_or_default();
    }
    let path = experiment.dir.join("preds.jsonl");
    write_atomically(&path, lines.as_bytes())
        .map_err(|error| StageError::io(path.display(), &error))
}

fn ended(result: &InstanceResult) -> Ended {
    match &result.failure {
        None => Ended::Resolved,
        Some(failure) => match failure.class {
            FailureClass::EmptyPatch | FailureClass::AgentFailed => Ended::EmptyPatch,
            FailureClass::Unresolved => Ended::Unresolved,
            FailureClass::PatchDoesNotApply | FailureClass::TestsTimedOut => Ended::Error,
            FailureClass::Infrastructure
            | FailureClass::InvalidInstance
            | FailureClass::Missing
            | FailureClass::BadInput
            | FailureClass::Interrupted => Ended::Incomplete,
        },
    }
}
