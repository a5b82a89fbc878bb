//! How far a run is, as a value that is fed with its events: who works on what, for how long, at what price.
//!
//! It reads no clock and prints nothing: the time is passed in, text is given back. It stops nothing.

mod block;
mod lines;
mod watch;

use std::{collections::BTreeMap, fs, io, path::Path, time::Duration};

use serde::{Deserialize, Serialize};

pub use block::block;
pub use lines::line;
pub use watch::{Watch, progress_file};

pub use crate::event::Event;
use crate::{
    event::TrialId,
    record::InstanceResult,
    stage::{Stage, StageState},
};

/// After so long without a word of the agent, that is said.
pub const SILENCE: Duration = Duration::from_secs(120);

/// Fed by one run. All times are since its start.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    run_id: String,
    silence: Duration,
    trials: usize,
    slots: usize,
    tally: Tally,
    workers: BTreeMap<usize, Working>,
    /// Of trials that an agent worked on in this very run: those tell how long one takes.
    durations: Vec<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub done: usize,
    pub resolved: usize,
    /// In the denominator.
    pub counted: usize,
    /// US dollars, of trials that have ended.
    pub cost_usd: f64,
    pub tokens_in: u64,
    pub tokens_out: u64,
}

#[derive(Debug, Clone, PartialEq)]
struct Working {
    trial: TrialId,
    since: Duration,
    stage: Option<(Stage, Duration)>,
    /// The agent's last word, or the start of S4.
    heard: Duration,
    has_solved: bool,
    silence_told: bool,
}

/// What `progress.json` holds: a run as of one moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    pub run_id: String,
    /// ISO 8601, UTC.
    pub updated_at: String,
    pub elapsed_seconds: f64,
    pub trials: usize,
    #[serde(flatten)]
    pub tally: Tally,
    pub workers: Vec<WorkerSnapshot>,
    /// None until a trial has ended.
    pub eta_seconds: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerSnapshot {
    /// From 1 on.
    pub worker: usize,
    pub instance: String,
    pub trial: u32,
    pub stage: Option<Stage>,
    pub stage_seconds: f64,
    pub trial_seconds: f64,
    /// Since the agent's last word, where that is longer than it should be.
    pub silent_seconds: Option<f64>,
}

impl Progress {
    pub fn new(run_id: &str, silence: Duration) -> Self {
        Self {
            run_id: run_id.to_owned(),
            silence,
            trials: 0,
            slots: 1,
            tally: Tally::default(),
            workers: BTreeMap::new(),
            durations: Vec::new(),
        }
    }

    pub fn see(&mut self, event: &Event, now: Duration) {
        match event {
            Event::RunStarted { trials, workers } => {
                self.trials = *trials;
                self.slots = (*workers).max(1);
            }
            Event::StageStarted {
                worker,
                trial,
                stage,
            } => {
                let working = self.working(*worker, trial, now);
                working.stage = Some((*stage, now));
                working.heard = now;
                working.silence_told = false;
                working.has_solved |= *stage == Stage::Solve;
            }
            Event::StageEnded {
                worker,
                trial,
                stage: _,
                state: StageState::Done | StageState::Failed | StageState::Skipped,
                seconds: _,
            } => self.working(*worker, trial, now).stage = None,
            Event::AgentSpoke { worker, trial } => {
                let working = self.working(*worker, trial, now);
                working.heard = now;
                working.silence_told = false;
            }
            Event::Note { trial: _, text: _ } => {}
            Event::TrialEnded {
                worker,
                trial,
                result,
            } => self.end(*worker, trial, result, now),
        }
    }

    fn working(&mut self, worker: usize, trial: &TrialId, now: Duration) -> &mut Working {
        let fresh = || Working {
            trial: trial.clone(),
            since: now,
            stage: None,
            heard: now,
            has_solved: false,
            silence_told: false,
        };
        let working = self.workers.entry(worker).or_insert_with(fresh);
        if working.trial != *trial {
            *working = fresh();
        }
        working
    }

    fn end(&mut self, worker: usize, trial: &TrialId, result: &InstanceResult, now: Duration) {
        let working = self.workers.remove(&worker);
        let mine = working.filter(|working| working.trial == *trial && working.has_solved);
        self.durations
            .extend(mine.map(|working| now.saturating_sub(working.since)));
        let tally = &mut self.tally;
        tally.done += 1;
        tally.counted += usize::from(result.counts());
        tally.resolved += usize::from(result.resolved && result.counts());
        tally.cost_usd += result.cost_usd.unwrap_or(0.0);
        tally.tokens_in += result.usage.input + result.usage.cache_read;
        tally.tokens_out += result.usage.output;
    }

    /// Workers whose agent has fallen silent since the last time that this was asked; each silence
    /// is told once.
    pub fn fell_silent(&mut self, now: Duration) -> Vec<String> {
        let silence = self.silence;
        let mut told = Vec::new();
        for (worker, working) in &mut self.workers {
            let silent = working.silent_for(now).filter(|quiet| *quiet >= silence);
            if let (Some(quiet), false) = (silent, working.silence_told) {
                working.silence_told = true;
                told.push(lines::silence(*worker, &working.trial, quiet, now));
            }
        }
        told
    }

    pub fn snapshot(&self, now: Duration, updated_at: &str) -> Snapshot {
        let workers = self.workers.iter().map(|(worker, working)| {
            let silent = working.silent_for(now);
            let stage = working.stage;
            WorkerSnapshot {
                worker: worker + 1,
                instance: working.trial.instance.clone(),
                trial: working.trial.trial,
                stage: stage.map(|(stage, _)| stage),
                stage_seconds: stage
                    .map_or(0.0, |(_, since)| now.saturating_sub(since).as_secs_f64()),
                trial_seconds: now.saturating_sub(working.since).as_secs_f64(),
                silent_seconds: silent
                    .filter(|quiet| *quiet >= self.silence)
                    .map(|quiet| quiet.as_secs_f64()),
            }
        });
        Snapshot {
            run_id: self.run_id.clone(),
            updated_at: updated_at.to_owned(),
            elapsed_seconds: now.as_secs_f64(),
            trials: self.trials,
            tally: self.tally,
            workers: workers.collect(),
            eta_seconds: self.eta(now),
        }
    }

    /// What is left, by how long a trial took so far, over all workers.
    fn eta(&self, now: Duration) -> Option<f64> {
        let ended = u32::try_from(self.durations.len()).ok()?;
        let each = self.durations.iter().sum::<Duration>().checked_div(ended)?;
        let running = self.workers.values().map(|working| {
            let so_far = now.saturating_sub(working.since);
            each.saturating_sub(so_far)
        });
        let begun = self.tally.done + self.workers.len();
        let waiting = u32::try_from(self.trials.saturating_sub(begun)).ok()?;
        let left = running.sum::<Duration>() + each.saturating_mul(waiting);
        let slots = u32::try_from(self.slots).ok()?;
        Some(left.checked_div(slots)?.as_secs_f64())
    }
}

impl Working {
    /// Only an agent is expected to speak: a package being built may be silent.
    fn silent_for(&self, now: Duration) -> Option<Duration> {
        let (stage, _) = self.stage?;
        (stage == Stage::Solve).then(|| now.saturating_sub(self.heard))
    }
}

impl Snapshot {
    /// Of the run in `dir`; none where it has none.
    pub fn read(dir: &Path) -> io::Result<Option<Self>> {
        match fs::read(progress_file(dir)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
