//! What a run left on disk, read leniently: a file that is missing or damaged is a note.
//!
//! It judges no result.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    calibration::Calibration,
    experiment::TrialDir,
    manifest::Manifest,
    plan::RunPlan,
    progress::{Snapshot, progress_file},
    record::InstanceResult,
    stage::{Stage, StageError, StageState},
    store::{Store, StoreError},
};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    pub id: String,
    /// None for a run that is known from the store alone.
    pub dir: Option<PathBuf>,
    pub plan: Option<RunPlan>,
    /// Where it is known which instances are valid on this machine.
    pub calibration: Option<Calibration>,
    /// How many trials the run was to have, where its progress says so.
    pub planned: Option<usize>,
    /// By instance and trial.
    pub trials: Vec<Trial>,
    /// What could not be read.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trial {
    pub instance: String,
    /// From 1 on.
    pub trial: u32,
    pub dir: Option<TrialDir>,
    pub manifest: Option<Manifest>,
    /// None for a trial that has not come to its end.
    pub result: Option<InstanceResult>,
}

impl Run {
    /// `experiments/<id>`.
    pub fn load(dir: &Path) -> Result<Self, StageError> {
        let unreadable = |error| {
            StageError::BadInput(format!(
                "{} is no run's folder: {error}; `hames eval list` shows the runs",
                dir.display()
            ))
        };
        let entries = fs::read_dir(dir).map_err(unreadable)?;
        let mut run = Self {
            id: name_of(dir),
            dir: Some(dir.to_owned()),
            ..Self::default()
        };
        for folder in entries.flatten().map(|entry| entry.path()) {
            let place = TrialDir(folder);
            let marks = [place.result(), place.manifest(), place.task()];
            if marks.iter().any(|mark| mark.is_file()) {
                let trial = Trial::load(place, &mut run.notes);
                run.trials.push(trial);
            }
        }
        run.plan = parse(&dir.join("run.json"), &mut run.notes);
        let progress: Option<Snapshot> = parse(&progress_file(dir), &mut run.notes);
        run.planned = progress.map(|progress| progress.trials);
        let file = run.plan.as_ref().and_then(|plan| plan.calibration.clone());
        if let Some(file) = file {
            match Calibration::read(&file) {
                Ok(calibration) => run.calibration = Some(calibration),
                Err(error) => run.notes.push(format!("no calibration: {error}")),
            }
        }
        run.sort();
        Ok(run)
    }

    /// From the store, where the folder is gone. It knows no trajectory and no patch.
    pub fn from_store(store: &Store, run_id: &str) -> Result<Self, StoreError> {
        let trials = store.results(run_id)?.into_iter().map(|result| Trial {
            instance: result.instance_id.clone(),
            trial: result.trial.max(1),
            result: Some(result),
            ..Trial::default()
        });
        let mut run = Self {
            id: run_id.to_owned(),
            trials: trials.collect(),
            ..Self::default()
        };
        run.sort();
        Ok(run)
    }

    fn sort(&mut self) {
        let key = |trial: &Trial| (trial.instance.clone(), trial.trial);
        self.trials.sort_by_key(key);
    }

    /// Whether the instance is part of the denominator, as far as its calibration says.
    pub fn is_valid(&self, instance: &str) -> bool {
        self.calibration.as_ref().is_none_or(|calibration| {
            let found = calibration.instances.get(instance);
            found.is_some_and(|found| found.valid)
        })
    }
}

impl Trial {
    fn load(dir: TrialDir, notes: &mut Vec<String>) -> Self {
        let result: Option<InstanceResult> = parse(&dir.result(), notes);
        let manifest: Option<Manifest> = parse(&dir.manifest(), notes);
        let (instance, trial) = split_name(&name_of(&dir.0));
        let known = result
            .as_ref()
            .map(|result| (&result.instance_id, result.trial));
        let known = known.or(manifest
            .as_ref()
            .map(|held| (&held.instance_id, held.trial)));
        let (instance, trial) = match known {
            Some((id, number)) if !id.is_empty() => (id.clone(), number.max(trial).max(1)),
            _ => (instance, trial),
        };
        Self {
            instance,
            trial,
            dir: Some(dir),
            manifest,
            result,
        }
    }

    /// State and seconds of each stage, from the result, or from the manifest of one unfinished.
    pub fn stages(&self) -> BTreeMap<Stage, (Option<StageState>, Option<f64>)> {
        let of_result = |stage| {
            let result = self.result.as_ref()?;
            let state = result.stages.get(&stage).copied();
            let seconds = result.stage_timings.get(&stage).copied();
            (state.is_some() || seconds.is_some()).then_some((state, seconds))
        };
        let of_manifest = |stage| {
            let record = self.manifest.as_ref()?.stages.get(&stage)?;
            Some((Some(record.state), Some(record.seconds)))
        };
        let of = |stage| Some((stage, of_result(stage).or_else(|| of_manifest(stage))?));
        Stage::ALL.into_iter().filter_map(of).collect()
    }

    /// As its folder is called.
    pub fn name(&self) -> String {
        match self.trial {
            0 | 1 => self.instance.clone(),
            trial => format!("{}~{trial}", self.instance),
        }
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn split_name(folder: &str) -> (String, u32) {
    let parts = folder.rsplit_once('~');
    let numbered = parts.and_then(|(name, number)| Some((name.to_owned(), number.parse().ok()?)));
    numbered.unwrap_or_else(|| (folder.to_owned(), 1))
}

/// None, without a note, where the file is not there.
fn parse<T: serde::de::DeserializeOwned>(path: &Path, notes: &mut Vec<String>) -> Option<T> {
    let text = fs::read(path).ok()?;
    let parsed = serde_json::from_slice(&text);
    parsed
        .map_err(|error| notes.push(format!("{} cannot be read: {error}", path.display())))
        .ok()
}
