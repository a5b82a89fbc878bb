//! Scenarios: what a scripted model says, chosen by what a request's history holds.
//!
//! Pure: it reads no clock and no file, and never counts requests, so that a resumed session meets
//! the right turn. Only the attempts at one and the same history are counted.

mod format;
mod history;
mod pick;
mod reply;

use std::collections::HashMap;

pub use format::{Call, Conversation, Defaults, Fault, Place, Scenario, Texts, Turn, When};
pub use history::History;
pub use reply::{Failure, Reply, Step};

use crate::request::{Refusal, ServedRequest};

/// Why a scenario's text is none: the line and the key, or the turn that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("scenario: {0}")]
pub struct ScenarioError(pub String);

/// A scenario that is being played: it knows how often each history has been tried.
#[derive(Debug, Clone)]
pub struct Playing {
    scenario: Scenario,
    attempts: HashMap<(u64, String), usize>,
}

impl Playing {
    pub fn new(scenario: Scenario) -> Self {
        let attempts = HashMap::new();
        Self { scenario, attempts }
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The answer to one request; `Err` when the scenario has none, or its window is too small.
    pub fn answer(&mut self, request: &ServedRequest) -> Result<Reply, Refusal> {
        let history = History::of(request);
        self.scenario.fits(&history)?;
        let turn = self.scenario.pick(&history)?;
        // An error of one model's turn is no error of the model that stands in for it.
        let tried = (history.digest(), request.model.clone());
        let tried = self.attempts.entry(tried).or_default();
        let attempt = turn.attempt(*tried);
        *tried += 1;
        Ok(Reply::of(attempt, &self.scenario.defaults, &history))
    }
}
