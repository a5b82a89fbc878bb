//! Choosing a turn: by conditions first, then by how many answers the prompt has had.

use hames_types::ProviderErrorKind;

use super::{History, Scenario, Texts, Turn, When};
use crate::request::Refusal;

impl Scenario {
    pub(super) fn fits(&self, history: &History<'_>) -> Result<(), Refusal> {
        let tokens = history.estimated_tokens();
        match self.window {
            Some(window) if tokens > window => {
                let message = format!("prompt is too long: {tokens} tokens > {window} maximum");
                let kind = ProviderErrorKind::ContextOverflow;
                Err(Refusal {
                    kind,
                    ..Refusal::bad(message)
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// In the conversation: the first turn whose condition holds, or the plain turn in its place.
    pub(super) fn pick(&self, history: &History<'_>) -> Result<&Turn, Refusal> {
        let mut held = self
            .conversations
            .iter()
            .filter(|talk| talk.when.holds(history));
        let turns = held.next().map_or(&self.turns, |talk| &talk.turns);
        let asked_for = turns
            .iter()
            .find(|turn| turn.when.as_ref().is_some_and(|when| when.holds(history)));
        let plain = || plain_turn(turns, history.answers());
        asked_for.or_else(plain).ok_or_else(|| none_for(history))
    }
}

fn plain_turn(turns: &[Turn], answers: usize) -> Option<&Turn> {
    let plain = || turns.iter().filter(|turn| turn.when.is_none());
    plain()
        .nth(answers)
        .or_else(|| plain().next_back().filter(|turn| turn.repeat))
}

fn none_for(history: &History<'_>) -> Refusal {
    let prompt = history.prompt();
    let shown = prompt.split_at(prompt.floor_char_boundary(200)).0;
    Refusal::bad(format!(
        "the scenario has no turn for this history: {} answers and {} tool results after the prompt {shown:?}",
        history.answers(),
        history.results(),
    ))
}

impl When {
    pub(super) fn holds(&self, history: &History<'_>) -> bool {
        let model = &history.request().model;
        self.answers
            .is_none_or(|answers| answers == history.answers())
            && self
                .results
                .is_none_or(|results| results == history.results())
            && self
                .model
                .as_ref()
                .is_none_or(|name| model.contains(name.as_str()))
            && all(&self.prompt, || history.prompt())
            && all(&self.last, || history.last())
            && all(&self.result, || history.last_results())
            && self.system.0.iter().all(|text| history.system_holds(text))
            && self.history.0.iter().all(|text| history.holds(text))
            && !self.absent.0.iter().any(|text| history.holds(text))
    }
}

/// The text is made only if something is asked of it.
fn all(wanted: &Texts, text: impl FnOnce() -> String) -> bool {
    wanted.0.is_empty() || {
        let text = text();
        wanted.0.iter().all(|wanted| text.contains(wanted.as_str()))
    }
}
