//! What a model does not know unless it is told: its turns, its budget, the time.
//!
//! It stays unsaid by default. When asked for, it is said at the tail, never in the prefix.

use crate::budget::Budget;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inform {
    pub turns: bool,
    /// Tokens, and US dollars where there is a price.
    pub budget: bool,
    pub time: bool,
}

impl Inform {
    /// `None` when nothing is to be said.
    pub(crate) fn note(self, budget: &Budget) -> Option<String> {
        let (limits, spent) = (budget.limits(), budget.spent());
        let mut said = Vec::new();
        if self.turns {
            said.push(of(spent.turns, limits.max_turns, "turns"));
        }
        if self.budget {
            said.push(of(spent.tokens, limits.max_tokens, "tokens"));
            if let Some(most) = limits.max_cost {
                said.push(format!("${:.4} of ${most:.4}", spent.cost));
            }
        }
        if self.time {
            let limit = limits.wall_time.map(|wall| wall.as_secs());
            said.push(of(budget.elapsed().as_secs(), limit, "seconds"));
        }
        (!said.is_empty()).then(|| format!("[used so far: {}]", said.join(", ")))
    }
}

fn of<T: std::fmt::Display>(spent: T, limit: Option<T>, unit: &str) -> String {
    match limit {
        Some(limit) => format!("{spent} of {limit} {unit}"),
        None => format!("{spent} {unit}"),
    }
}
