//! How far a trial has come: which stages are done and can be taken as they are, and what each took.
//!
//! It knows no stage's work; the manifest on disk is written after each of them.

use std::{fs, future::Future, path::PathBuf};

use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use crate::{
    event::Event,
    experiment::{TrialDir, sweep},
    given::{Given, Passed},
    lock::Lock,
    manifest::Manifest,
    record::{Failure, FailureClass, InstanceResult},
    stage::{Stage, StageError, StageState},
    trial::TrialContext,
};

pub(super) struct Course<'a> {
    cx: &'a TrialContext<'a>,
    dir: TrialDir,
    manifest: Manifest,
    /// Nobody else works on this trial.
    _lock: Lock,
}

/// Why the stages did not go on.
#[derive(Debug, Clone)]
pub struct Stopped(pub Failure);

impl Stopped {
    pub fn at(stage: Stage, class: FailureClass, message: &str) -> Self {
        Self(Failure {
            class,
            stage,
            message: message.to_owned(),
        })
    }

    pub fn by(stage: Stage, error: &StageError) -> Self {
        let class = match error {
            StageError::BadInput(_) => FailureClass::BadInput,
            StageError::Missing { .. } => FailureClass::Missing,
            StageError::Infrastructure(_) | StageError::Locked { .. } => {
                FailureClass::Infrastructure
            }
            StageError::Interrupted => FailureClass::Interrupted,
        };
        Self::at(stage, class, &error.to_string())
    }
}

impl<'a> Course<'a> {
    pub fn open(cx: &'a TrialContext<'a>) -> Result<Self, StageError> {
        let dir = cx.dir();
        fs::create_dir_all(&dir.0).map_err(|error| StageError::io(dir.0.display(), &error))?;
        let lock = Lock::take(
            &dir.0.join("lock"),
            &format!("{} of run {}", cx.id(), cx.run.plan.id),
        )?;
        let official =
            cx.run
                .experiment
                .official(&cx.run.plan.model_name, &cx.instance.id, cx.trial);
        for folder in [&dir.0, &dir.0.join("stages"), &official] {
            sweep(folder);
        }
        let inputs = cx.run.plan.inputs(cx.instance);
        let manifest = Manifest::open(&dir, &cx.instance.id, cx.trial, &inputs)
            .map_err(|error| StageError::io(dir.manifest().display(), &error))?;
        for note in &manifest.notes {
            cx.note(note);
        }
        Ok(Self {
            cx,
            dir,
            manifest,
            _lock: lock,
        })
    }

    /// What S7 has written, if it is done and can still be read.
    pub fn result(&self) -> Option<InstanceResult> {
        self.manifest
            .done::<InstanceResult>(&self.dir, Stage::Record)?;
        // A regrade has been at it since, perhaps.
        let written = fs::read(self.dir.result()).ok()?;
        serde_json::from_slice(&written).ok()
    }

    /// What the stage gave: now, or when it was run before.
    pub async fn stage<T, F>(&mut self, stage: Stage, work: F) -> Result<T, Stopped>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<(T, Vec<PathBuf>), StageError>>,
    {
        if let Some(before) = self.manifest.done(&self.dir, stage) {
            return Ok(before);
        }
        self.manifest.forget_from(stage);
        let (cx, trial) = (self.cx, self.cx.id());
        cx.tell(&Event::StageStarted {
            worker: cx.worker,
            trial,
            stage,
        });
        let began = Instant::now();
        let ended = self.work(stage, work, began).await;
        let seconds = began.elapsed().as_secs_f64();
        let state = match &ended {
            Ok(_) => StageState::Done,
            Err(_) => StageState::Failed,
        };
        cx.tell(&Event::StageEnded {
            worker: cx.worker,
            trial: cx.id(),
            stage,
            state,
            seconds,
        });
        ended.map_err(|error| {
            // The manifest is for a rerun; what went wrong is told in the result all the same.
            let _ = self
                .manifest
                .fail(&self.dir, stage, seconds, error.to_string());
            Stopped::by(stage, &error)
        })
    }

    async fn work<T, F>(&mut self, stage: Stage, work: F, began: Instant) -> Result<T, StageError>
    where
        T: Serialize,
        F: Future<Output = Result<(T, Vec<PathBuf>), StageError>>,
    {
        let (value, outputs) = tokio::select! {
            ended = work => ended?,
            // S4 has its own way of ending what it has started.
            () = self.cx.run.cancel.cancelled(), if stage != Stage::Solve => return Err(StageError::Interrupted),
        };
        if let Some(absent) = outputs.iter().find(|path| !path.exists()) {
            let message = format!("{stage} has ended without its output {}", absent.display());
            return Err(StageError::Infrastructure(message));
        }
        let seconds = began.elapsed().as_secs_f64();
        let kept = self
            .manifest
            .finish(&self.dir, stage, seconds, &value, outputs);
        kept.map_err(|error| StageError::io(self.dir.manifest().display(), &error))?;
        Ok(value)
    }

    /// S7: writes the result, whatever the other stages came to.
    pub fn record(
        mut self,
        given: &Given,
        stopped: Option<Stopped>,
        write: impl FnOnce(
            &TrialContext<'_>,
            &Given,
            Passed,
        ) -> Result<(InstanceResult, Vec<PathBuf>), StageError>,
    ) -> Result<InstanceResult, StageError> {
        let cx = self.cx;
        let began = Instant::now();
        cx.tell(&Event::StageStarted {
            worker: cx.worker,
            trial: cx.id(),
            stage: Stage::Record,
        });
        let goes_on = stopped
            .as_ref()
            .is_some_and(|Stopped(failure)| failure.class.is_tried_again());
        let (result, outputs) = write(cx, given, self.passed(stopped))?;
        let seconds = began.elapsed().as_secs_f64();
        // What was nobody's fault is not done: the next run of the same name tries it again.
        if !goes_on {
            let kept = self
                .manifest
                .finish(&self.dir, Stage::Record, seconds, &result, outputs);
            kept.map_err(|error| StageError::io(self.dir.manifest().display(), &error))?;
        }
        let ended = Event::StageEnded {
            worker: cx.worker,
            trial: cx.id(),
            stage: Stage::Record,
            state: StageState::Done,
            seconds,
        };
        cx.tell(&ended);
        Ok(result)
    }

    fn passed(&self, stopped: Option<Stopped>) -> Passed {
        let mut passed = Passed {
            failure: stopped.map(|Stopped(failure)| failure),
            ..Passed::default()
        };
        for (stage, record) in &self.manifest.stages {
            passed.stages.insert(*stage, record.state);
            passed.seconds.insert(*stage, record.seconds);
        }
        passed
    }
}
