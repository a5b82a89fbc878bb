//! Which instances say what they should on this machine: gold run several times, and the base once each.
//!
//! It runs nothing; what it is made from are the results of a run of gold.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    clock, environment::EnvironmentRecord, experiment::write_atomically, instance::Instance,
    record::InstanceResult, stage::StageError,
};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Calibration {
    pub made_at: String,
    pub environment: EnvironmentRecord,
    /// How many are valid: the denominator of scores on this machine.
    pub valid: usize,
    pub instances: BTreeMap<String, Found>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Found {
    pub valid: bool,
    pub runs: u32,
    /// Of gold.
    pub resolved: u32,
    /// None where it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Runs that say nothing of it: the machine failed, or they were interrupted. Calibrated again,
    /// it may be valid.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unknown: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Found {
    /// No run says anything against it, but the machine failed in some.
    pub fn is_unknown(&self) -> bool {
        self.unknown > 0 && self.resolved + self.unknown == self.runs
    }
}

impl Calibration {
    pub fn of(results: &[InstanceResult]) -> Self {
        let mut instances: BTreeMap<String, Found> = BTreeMap::new();
        for result in results {
            let found = instances.entry(result.instance_id.clone()).or_default();
            found.runs += 1;
            found.resolved += u32::from(result.resolved);
            if let Some(failure) = &result.failure {
                found.unknown += u32::from(failure.class.is_tried_again());
                found.why_not = Some(format!("{}: {}", failure.stage, failure.message));
            }
        }
        for found in instances.values_mut() {
            found.valid = found.runs > 0 && found.resolved == found.runs;
            if found.resolved > 0 && !found.valid && !found.is_unknown() {
                found.why_not = Some(format!(
                    "flaky: gold resolves it in {} of {} runs",
                    found.resolved, found.runs
                ));
            }
        }
        Self {
            made_at: clock::now(),
            environment: results
                .first()
                .map(|result| result.environment.clone())
                .unwrap_or_default(),
            valid: instances.values().filter(|found| found.valid).count(),
            instances,
        }
    }

    pub fn read(path: &Path) -> Result<Self, StageError> {
        let text = fs::read(path)
            .map_err(|error| StageError::BadInput(format!("{}: {error}", path.display())))?;
        serde_json::from_slice(&text).map_err(|error| {
            StageError::BadInput(format!(
                "{}: {error}; make it anew with `hames eval calibrate`",
                path.display()
            ))
        })
    }

    pub fn write(&self, path: &Path) -> Result<(), StageError> {
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| StageError::Infrastructure(error.to_string()))?;
        write_atomically(path, &text).map_err(|error| StageError::io(path.display(), &error))
    }

    /// Those that are valid here, and why each of the others is left out.
    pub fn split(&self, instances: Vec<Instance>) -> (Vec<Instance>, Vec<String>) {
        let mut left_out = Vec::new();
        let valid =
            instances
                .into_iter()
                .filter(|instance| match self.instances.get(&instance.id) {
                    Some(found) if found.valid => true,
                    Some(found) => {
                        let why = found
                            .why_not
                            .as_deref()
                            .unwrap_or("not valid on this machine");
                        left_out.push(format!("{} is left out: {why}", instance.id));
                        false
                    }
                    None => {
                        left_out.push(format!(
                            "{} is left out: it was not calibrated",
                            instance.id
                        ));
                        false
                    }
                });
        (valid.collect(), left_out)
    }
}
