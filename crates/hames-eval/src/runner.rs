//! A whole run: instances times trials, over workers, each on its own, whatever becomes of the others.
//!
//! It decides nothing about one trial; that is the pipeline's.

use std::{fs, sync::Arc};

use futures_util::{StreamExt, stream};
use tokio::sync::Mutex;

use crate::{
    event::Event,
    instance::Instance,
    pipeline::run_trial,
    record::{Failure, FailureClass, InstanceResult},
    stage::{Stage, StageError},
    trial::{RunContext, TrialContext},
};

/// What a run came to.
#[derive(Debug, Clone, Default)]
pub struct Ran {
    /// One a trial, in order of instance and trial.
    pub results: Vec<InstanceResult>,
    /// Told to stop before all had run.
    pub interrupted: bool,
}

/// Runs all trials, `workers` at a time. Trials of one instance come one after the other in the
/// queue, so that its environment is warm.
pub async fn run(cx: &RunContext, instances: &[Instance]) -> Ran {
    let trials: Vec<(&Instance, u32)> = instances
        .iter()
        .flat_map(|instance| (1..=cx.plan.attempts.max(1)).map(move |trial| (instance, trial)))
        .collect();
    let workers = cx.plan.workers.max(1);
    cx.observer.see(&Event::RunStarted {
        trials: trials.len(),
        workers,
    });
    let free: Arc<Mutex<Vec<usize>>> = Arc::new(Mutex::new((0..workers).rev().collect()));
    let mut results: Vec<(usize, InstanceResult)> = stream::iter(trials.into_iter().enumerate())
        .map(|(at, (instance, trial))| {
            let free = free.clone();
            async move {
                if cx.cancel.is_cancelled() {
                    return None;
                }
                let worker = free.lock().await.pop().unwrap_or_default();
                let result = one(&TrialContext {
                    run: cx,
                    instance,
                    trial,
                    worker,
                })
                .await;
                free.lock().await.push(worker);
                Some((at, result))
            }
        })
        .buffer_unordered(workers)
        .filter_map(async |ended| ended)
        .collect()
        .await;
    // Each trial has cleared its own folder in it; one that is kept keeps it.
    let _ = fs::remove_dir(cx.work_dir());
    results.sort_by_key(|(at, _)| *at);
    let results = results.into_iter().map(|(_, result)| result).collect();
    Ran {
        results,
        interrupted: cx.cancel.is_cancelled(),
    }
}

async fn one(cx: &TrialContext<'_>) -> InstanceResult {
    let result = match run_trial(cx).await {
        Ok(result) => result,
        Err(error) => without_record(cx, &error),
    };
    let ended = Event::TrialEnded {
        worker: cx.worker,
        trial: cx.id(),
        result: Box::new(result.clone()),
    };
    cx.tell(&ended);
    result
}

/// For a trial that could not be written down: it is told all the same.
fn without_record(cx: &TrialContext<'_>, error: &StageError) -> InstanceResult {
    let class = match error {
        StageError::Interrupted => FailureClass::Interrupted,
        StageError::BadInput(_) => FailureClass::BadInput,
        StageError::Missing { .. } => FailureClass::Missing,
        StageError::Infrastructure(_) | StageError::Locked { .. } => FailureClass::Infrastructure,
    };
    InstanceResult {
        instance_id: cx.instance.id.clone(),
        run_id: cx.run.plan.id.clone(),
        trial: cx.trial,
        model: cx.run.plan.model_name.clone(),
        failure: Some(Failure {
            class,
            stage: Stage::Record,
            message: error.to_string(),
        }),
        ..InstanceResult::default()
    }
}
