//! What an agent told, gathered turn by turn into one [`Reading`].
//!
//! It knows no agent's format, and an agent that was killed in the middle tells what it told.

use serde_json::Value;

use super::{printed_diff, service_failure};
use crate::{
    adapter::{About, Choice, Left, Options, Reading},
    trajectory::{Call, Source, Trajectory, Turn, Usage},
};

#[derive(Debug, Default)]
pub struct Retelling {
    pub trajectory: Trajectory,
    /// The error that the agent ended with, in its own words.
    pub error: Option<String>,
    /// It could not begin, for something that is not there.
    pub infrastructure: Option<String>,
    /// Lines of its output that could not be read.
    pub garbled: usize,
    pub notes: Vec<String>,
}

impl Retelling {
    pub fn turn(&mut self, source: Source) -> &mut Turn {
        let turn = Turn {
            source,
            at: None,
            text: String::new(),
            reasoning: None,
            calls: Vec::new(),
            usage: None,
        };
        self.trajectory.turns.push(turn);
        let last = self.trajectory.turns.len() - 1;
        &mut self.trajectory.turns[last]
    }

    /// The agent's turn that is being told: the last one, unless tools have answered it.
    pub fn agent(&mut self) -> &mut Turn {
        let goes_on = self.trajectory.turns.last().is_some_and(|last| {
            last.source == Source::Agent && last.calls.iter().all(|call| call.result.is_none())
        });
        if !goes_on {
            return self.turn(Source::Agent);
        }
        let last = self.trajectory.turns.len() - 1;
        &mut self.trajectory.turns[last]
    }

    pub fn say(&mut self, source: Source, text: impl Into<String>) {
        self.turn(source).text = text.into();
    }

    /// The newest call with this id that has no answer yet; ids may come again.
    pub fn answer(&mut self, id: &str, text: impl Into<String>, is_error: bool) {
        let turns = self.trajectory.turns.iter_mut().rev();
        let mut calls = turns.flat_map(|turn| turn.calls.iter_mut());
        if let Some(call) = calls.find(|call| call.id == id && call.result.is_none()) {
            call.result = Some(text.into());
            call.is_error = is_error;
        }
    }

    /// `about` says what the agent could be told.
    pub fn finish(mut self, left: &Left<'_>, about: &About) -> Reading {
        self.complete(left);
        let ended_badly = !left.killed && left.returncode != Some(0);
        // What a model or a test said may stand on stdout, so it is no word of a service.
        let words = ended_badly.then(|| service_failure::last_words(left.stderr));
        let error = self.error.take().filter(|error| !error.trim().is_empty());
        let told = error.as_deref().or(words.as_deref());
        let missing = self.infrastructure.take();
        let infrastructure = missing.or_else(|| told.and_then(service_failure::find));
        let own = error.or_else(|| ended_badly.then(|| last_words(left)));
        let own = own.filter(|_| infrastructure.is_none());
        let failure = own.map(|error| service_failure::shortened(error.trim()));
        if self.garbled > 0 {
            let lines = self.garbled;
            self.notes
                .push(format!("{lines} lines of its output could not be read"));
        }
        self.notes.extend(untold(about, left.options));
        let answer = self.trajectory.final_answer.as_deref();
        let diff = answer.and_then(printed_diff::find);
        Reading {
            trajectory: self.trajectory,
            diff,
            infrastructure,
            failure,
            notes: self.notes,
        }
    }

    /// Fills in what follows from the turns.
    fn complete(&mut self, left: &Left<'_>) {
        let told = &mut self.trajectory;
        let agent = |turn: &&Turn| turn.source == Source::Agent;
        if told.usage == Usage::default() {
            for usage in told.turns.iter().filter_map(|turn| turn.usage) {
                told.usage += usage;
            }
            for usage in told.subagents.iter().map(|agent| agent.usage) {
                told.usage += usage;
            }
        }
        if told.usage.calls == 0 {
            told.usage.calls = told.turns.iter().filter(agent).count() as u64;
        }
        if told.final_answer.is_none() && !left.killed {
            let last = told.turns.iter().rev().find(agent);
            let answer = last.filter(|turn| turn.calls.is_empty() && !turn.text.is_empty());
            told.final_answer = answer.map(|turn| turn.text.clone());
        }
    }
}

/// What was chosen and the agent has no word for.
fn untold(about: &About, options: &Options) -> Vec<String> {
    let chosen = [
        (Choice::Model, "model", !options.model.is_empty()),
        (Choice::BaseUrl, "base url", options.base_url.is_some()),
        (Choice::Shape, "shape", options.shape.is_some()),
        (Choice::MaxTurns, "max turns", options.max_turns.is_some()),
        (Choice::MaxCost, "max cost", options.max_cost.is_some()),
        (
            Choice::Temperature,
            "temperature",
            options.temperature.is_some(),
        ),
        (Choice::Seed, "seed", options.seed.is_some()),
        (
            Choice::ExtraArgs,
            "extra arguments",
            !options.extra_args.is_empty(),
        ),
    ];
    let untold = chosen
        .into_iter()
        .filter(|(choice, _, chosen)| *chosen && !about.takes.contains(choice));
    untold
        .map(|(_, name, _)| format!("{name}: this agent cannot be told, so its own choice holds"))
        .collect()
}

fn last_words(left: &Left<'_>) -> String {
    let words = service_failure::last_words(left.stderr);
    if !words.is_empty() {
        return words;
    }
    let words = service_failure::last_words(left.stdout);
    match left.returncode {
        _ if !words.is_empty() => words,
        Some(code) => format!("it ended with {code} and said nothing"),
        None => "it did not start".to_owned(),
    }
}

pub fn call(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Call {
    Call {
        id: id.into(),
        name: name.into(),
        arguments,
        result: None,
        is_error: false,
    }
}
