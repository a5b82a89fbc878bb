//! A model that may serve: who sends, what a new epoch starts with, and what it costs.
//!
//! Which of them serves is written in the transcript's head, so that a resumed query knows.

use std::sync::Arc;

use hames_types::{Head, Prices, Provider, Usage};

#[derive(Clone)]
pub struct Model {
    pub provider: Arc<dyn Provider>,
    /// What a new epoch starts with.
    pub head: Arc<Head>,
    /// `None` where nobody knows: tokens are counted, and no money.
    pub prices: Option<Prices>,
}

impl Model {
    /// True when an epoch under `head` is this model's.
    pub fn serves(&self, head: &Head) -> bool {
        self.head.api == head.api && self.head.model == head.model
    }

    /// In US dollars; nothing where there is no price.
    pub fn cost(&self, usage: Usage) -> f64 {
        self.prices.map_or(0.0, |prices| prices.cost(usage))
    }
}
