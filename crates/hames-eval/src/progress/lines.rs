//! Progress as lines of a log, for where no terminal is.
//!
//! An agent's every word is no line.

use std::time::Duration;

use crate::{
    event::{Event, TrialId},
    record::InstanceResult,
    report::{clean, figures},
    stage::StageState,
};

/// None for what a log does not need.
pub fn line(event: &Event, now: Duration) -> Option<String> {
    let told = match event {
        Event::RunStarted { trials, workers } => format!(
            "{} for {}",
            figures::plural(*trials, "trial"),
            figures::plural(*workers, "worker")
        ),
        Event::StageStarted {
            worker,
            trial,
            stage,
        } => format!("{} {stage} begins (w{})", named(trial), worker + 1),
        Event::StageEnded {
            worker: _,
            trial,
            stage,
            state,
            seconds,
        } => {
            let word = match state {
                StageState::Done => "is done",
                StageState::Failed => "failed",
                StageState::Skipped => "is skipped",
            };
            let took = figures::seconds(*seconds);
            format!("{} {stage} {word}, {took}", named(trial))
        }
        Event::AgentSpoke { .. } => return None,
        Event::Note { trial, text } => match trial {
            Some(trial) => format!("{}: {}", named(trial), clean::line(text)),
            None => clean::line(text),
        },
        Event::TrialEnded { trial, result, .. } => ended(trial, result),
    };
    Some(format!("{} {told}", clock(now)))
}

pub fn silence(worker: usize, trial: &TrialId, quiet: Duration, now: Duration) -> String {
    let quiet = figures::seconds(quiet.as_secs_f64());
    let name = named(trial);
    format!(
        "{} {name}: the agent has been silent for {quiet} (w{})",
        clock(now),
        worker + 1
    )
}

fn ended(trial: &TrialId, result: &InstanceResult) -> String {
    let verdict = match &result.failure {
        Some(failure) => {
            let why = clean::preview(&failure.message, 480);
            format!("{}: {why}", failure.class.name())
        }
        None if result.resolved => "resolved".to_owned(),
        None => "unresolved".to_owned(),
    };
    format!(
        "{} {verdict}; {}, {}",
        named(trial),
        figures::seconds(result.seconds()),
        figures::dollars(result.cost_usd),
    )
}

fn named(trial: &TrialId) -> String {
    clean::line(&trial.to_string())
}

fn clock(now: Duration) -> String {
    let seconds = now.as_secs();
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}
