//! What of a trial is done: one file, written whole after every stage, and what each stage gave.
//!
//! It runs no stage. A file that cannot be read is kept beside a new one, and said.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    clock,
    experiment::{TrialDir, write_atomically},
    plan::Inputs,
    stage::{Stage, StageState},
};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Manifest {
    pub instance_id: String,
    pub trial: u32,
    pub inputs: Inputs,
    pub stages: BTreeMap<Stage, StageRecord>,
    /// What was found wrong with an earlier manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    pub state: StageState,
    pub seconds: f64,
    pub finished_at: String,
    /// Those that must be there for the stage to count as done, seen from the run's folder: it may be
    /// moved as a whole.
    #[serde(default)]
    pub outputs: Vec<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Manifest {
    /// What is on disk for these inputs; a fresh one where there is nothing, or something else.
    pub fn open(
        dir: &TrialDir,
        instance_id: &str,
        trial: u32,
        inputs: &Inputs,
    ) -> io::Result<Self> {
        let fresh = |notes| Self {
            instance_id: instance_id.to_owned(),
            trial,
            inputs: inputs.clone(),
            stages: BTreeMap::new(),
            notes,
        };
        let path = dir.manifest();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(fresh(Vec::new())),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => String::new(),
            Err(error) => return Err(error),
        };
        match serde_json::from_str::<Self>(&text) {
            Ok(found) if found.inputs == *inputs => Ok(found),
            // An agent's work is not thrown away because it is to be graded otherwise.
            Ok(mut found) if found.inputs.work == inputs.work => {
                found.forget_from(Stage::Score);
                found.inputs = inputs.clone();
                Ok(found)
            }
            Ok(_) => Ok(fresh(vec![
                "the task or its options have changed: all stages run again".to_owned(),
            ])),
            Err(error) => {
                let kept = back_up(&path)?;
                let note = format!(
                    "the manifest could not be read ({error}); it is kept as {}",
                    kept.display()
                );
                Ok(fresh(vec![note]))
            }
        }
    }

    /// What a done stage gave, if all its outputs are still there.
    pub fn done<T: DeserializeOwned>(&self, dir: &TrialDir, stage: Stage) -> Option<T> {
        let record = self.stages.get(&stage)?;
        let mut outputs = record.outputs.iter();
        let whole = record.state == StageState::Done
            && outputs.all(|path| run_folder(dir).join(path).exists());
        let text = fs::read(given(dir, stage)).ok().filter(|_| whole)?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes what a stage gave, then that it is done; a kill between the two runs it again.
    pub fn finish<T: Serialize>(
        &mut self,
        dir: &TrialDir,
        stage: Stage,
        seconds: f64,
        value: &T,
        outputs: Vec<PathBuf>,
    ) -> io::Result<()> {
        write_atomically(&given(dir, stage), &serde_json::to_vec_pretty(value)?)?;
        self.enter(dir, stage, StageState::Done, seconds, outputs, None)
    }

    pub fn fail(
        &mut self,
        dir: &TrialDir,
        stage: Stage,
        seconds: f64,
        error: String,
    ) -> io::Result<()> {
        self.enter(
            dir,
            stage,
            StageState::Failed,
            seconds,
            Vec::new(),
            Some(error),
        )
    }

    /// This stage and all after it are to run again.
    pub fn forget_from(&mut self, stage: Stage) {
        self.stages.retain(|done, _| *done < stage);
    }

    fn enter(
        &mut self,
        dir: &TrialDir,
        stage: Stage,
        state: StageState,
        seconds: f64,
        outputs: Vec<PathBuf>,
        error: Option<String>,
    ) -> io::Result<()> {
        let finished_at = clock::now();
        // Nobody reads less than a millisecond, and what is written reads back as the same number.
        let seconds = (seconds * 1000.0).round() / 1000.0;
        let outputs = outputs
            .into_iter()
            .map(|path| match path.strip_prefix(run_folder(dir)) {
                Ok(inside) => inside.to_owned(),
                Err(_) => path,
            })
            .collect();
        let record = StageRecord {
            state,
            seconds,
            finished_at,
            outputs,
            error,
        };
        self.stages.insert(stage, record);
        write_atomically(&dir.manifest(), &serde_json::to_vec_pretty(self)?)
    }
}

/// `--force`: what is done from a stage on is done no more. Nothing there is nothing to forget.
pub fn forget_from(dir: &TrialDir, stage: Stage) -> io::Result<()> {
    let path = dir.manifest();
    let Ok(text) = fs::read(&path) else {
        return Ok(());
    };
    let Ok(mut manifest) = serde_json::from_slice::<Manifest>(&text) else {
        return Ok(());
    };
    manifest.forget_from(stage);
    write_atomically(&path, &serde_json::to_vec_pretty(&manifest)?)
}

fn run_folder(dir: &TrialDir) -> &Path {
    dir.0.parent().unwrap_or(&dir.0)
}

/// Where what a stage gave is kept.
fn given(dir: &TrialDir, stage: Stage) -> PathBuf {
    dir.0.join("stages").join(format!("{stage}.json"))
}

/// Moves a file out of the way under a name that is free.
fn back_up(path: &Path) -> io::Result<PathBuf> {
    let named = |n: u32| path.with_extension(format!("json.corrupt-{n}"));
    let free = (1..).map(named).find(|path| !path.exists());
    let free = free.unwrap_or_else(|| named(0));
    fs::rename(path, &free)?;
    Ok(free)
}
