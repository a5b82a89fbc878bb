//! The file format of scenarios, and the checks that a file must pass; what it means is elsewhere.

use std::fmt;

use hames_types::{ProviderErrorKind, StopReason, Usage};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor, value::SeqAccessDeserializer},
};
use serde_json::Value;

use super::ScenarioError;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default)]
    pub about: String,
    #[serde(default)]
    pub defaults: Defaults,
    /// In estimated tokens; a longer request is refused as one that does not fit.
    #[serde(default)]
    pub window: Option<u64>,
    /// The first whose condition holds is the one; otherwise `turns`.
    #[serde(default)]
    pub conversations: Vec<Conversation>,
    #[serde(default)]
    pub turns: Vec<Turn>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Defaults {
    /// In milliseconds, before the first event.
    pub delay: u64,
    /// In milliseconds, between two events.
    pub pace: u64,
    /// In characters: how much text one event carries.
    pub piece: usize,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            delay: 0,
            pace: 0,
            piece: 24,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    #[serde(default)]
    pub about: String,
    pub when: When,
    pub turns: Vec<Turn>,
}

/// Conditions on a request; all that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// Texts that the current prompt contains.
    pub prompt: Texts,
    /// Texts that the last message contains.
    pub last: Texts,
    /// Texts that the newest tool results contain.
    pub result: Texts,
    /// Texts that some message contains.
    pub history: Texts,
    /// Texts that no message contains.
    pub absent: Texts,
    /// Texts that the system prompt contains.
    pub system: Texts,
    /// A part of the model's name.
    pub model: Option<String>,
    /// How many answers the history holds since the current prompt.
    pub answers: Option<usize>,
    /// How many tool results the history holds since the current prompt.
    pub results: Option<usize>,
}

/// One answer, or the attempts at one.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    pub about: String,
    pub when: Option<When>,
    /// It also answers every longer history of its conversation.
    pub repeat: bool,
    /// What the first, second, … request with the same history gets; the last one stays.
    pub attempts: Vec<Turn>,
    /// In milliseconds, before the first event.
    pub delay: Option<u64>,
    /// In milliseconds, between two events.
    pub pace: Option<u64>,
    /// In characters.
    pub piece: Option<usize>,
    pub think: Option<Texts>,
    pub text: Option<Texts>,
    pub calls: Vec<Call>,
    /// Instead of `think`, `text` and `calls`: the same in any order, and waits between them.
    pub parts: Vec<Part>,
    pub usage: Option<Usage>,
    pub stop: Option<StopReason>,
    /// The message ends with nothing in it.
    pub empty: bool,
    /// The connection is closed there.
    pub cut: Option<Place>,
    /// Nothing more comes from there on.
    pub hang: Option<Place>,
    /// Instead of an answer; after what was said, if something was.
    pub error: Option<Fault>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Think(Texts),
    Text(Texts),
    Call(Call),
    /// In milliseconds.
    Wait(u64),
    /// Bytes that say nothing, as servers send them to keep a connection open.
    KeepAlive(bool),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    #[serde(default)]
    pub input: Option<Value>,
    /// The arguments' text as it is sent, valid or not.
    #[serde(default)]
    pub raw: Option<String>,
    #[serde(default)]
    pub id: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fault {
    pub status: Option<u16>,
    pub kind: Option<ProviderErrorKind>,
    pub message: Option<String>,
    /// In seconds.
    pub retry_after: Option<f64>,
    /// Over HTTP, `retry_after` is sent as a date.
    pub as_date: bool,
    /// Over HTTP, the body as it is sent, instead of the wire's own error object.
    pub body: Option<String>,
}

/// Where in a stream something ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// After that many events; a cut or hang at 0 comes before the first byte.
    After(usize),
    /// In the middle of the last call's arguments.
    InCall,
    /// After everything but what ends the message.
    BeforeEnd,
}

/// One text, or several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts(pub Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<Texts, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(texts)).map(Texts)
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anywhere;
        impl Visitor<'_> for Anywhere {
            type Value = Place;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of events, \"in_call\" or \"before_end\"")
            }

            fn visit_u64<E>(self, events: u64) -> Result<Place, E> {
                Ok(Place::After(usize::try_from(events).unwrap_or(usize::MAX)))
            }

            fn visit_str<E: serde::de::Error>(self, place: &str) -> Result<Place, E> {
                match place {
                    "in_call" => Ok(Place::InCall),
                    "before_end" => Ok(Place::BeforeEnd),
                    other => Err(E::custom(format!(
                        "`{other}` is no place: say a number of events, \"in_call\" or \"before_end\""
                    ))),
                }
            }
        }
        deserializer.deserialize_any(Anywhere)
    }
}

impl Scenario {
    /// An unknown key is an error: it would be a condition that never holds.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self =
            serde_json::from_str(text).map_err(|error| ScenarioError(error.to_string()))?;
        if scenario.turns.is_empty() && scenario.conversations.is_empty() {
            let empty = "it holds no turns: give `turns` or `conversations`";
            return Err(ScenarioError(empty.to_owned()));
        }
        check(&scenario.turns, "turns")?;
        for (index, conversation) in scenario.conversations.iter().enumerate() {
            check(
                &conversation.turns,
                &format!("conversations[{index}].turns"),
            )?;
        }
        Ok(scenario)
    }
}

fn check(turns: &[Turn], place: &str) -> Result<(), ScenarioError> {
    for (index, turn) in turns.iter().enumerate() {
        let at = |problem: &str| Err(ScenarioError(format!("{place}[{index}] {problem}")));
        if turn.attempts.is_empty() {
            if let Some(problem) = turn.problem() {
                return at(problem);
            }
            continue;
        }
        if turn.says_something() {
            return at("has `attempts`, so what it says belongs into them");
        }
        for attempt in &turn.attempts {
            if attempt.when.is_some() || !attempt.attempts.is_empty() || attempt.repeat {
                return at(
                    "has an attempt with `when`, `repeat` or `attempts`: they are the turn's",
                );
            }
            if let Some(problem) = attempt.problem() {
                return at(&format!("has an attempt that {problem}"));
            }
        }
    }
    Ok(())
}

impl Turn {
    fn says_something(&self) -> bool {
        let said = self.think.is_some() || self.text.is_some() || !self.calls.is_empty();
        said || !self.parts.is_empty() || self.empty || self.ends_early()
    }

    fn ends_early(&self) -> bool {
        self.error.is_some() || self.cut.is_some() || self.hang.is_some()
    }

    fn problem(&self) -> Option<&'static str> {
        let short = self.think.is_some() || self.text.is_some() || !self.calls.is_empty();
        if !self.says_something() {
            return Some("says nothing: give `text`, `calls`, `parts`, `error`, or `empty`");
        }
        if short && !self.parts.is_empty() {
            return Some("has `parts`, so `think`, `text` and `calls` belong into them");
        }
        if self.empty && (short || !self.parts.is_empty()) {
            return Some("is `empty` and says something");
        }
        let ends = [
            self.error.is_some(),
            self.cut.is_some(),
            self.hang.is_some(),
        ];
        if ends.iter().filter(|given| **given).count() > 1 {
            return Some("ends more than once: give one of `error`, `cut`, `hang`");
        }
        let in_call = Some(Place::InCall);
        if (self.cut == in_call || self.hang == in_call) && !self.has_call() {
            return Some("ends \"in_call\" and makes no call");
        }
        let calls = self
            .calls
            .iter()
            .chain(self.parts.iter().filter_map(Part::call));
        let both = |call: &Call| call.input.is_some() && call.raw.is_some();
        let mut calls = calls;
        if calls.any(both) {
            return Some("has a call with `input` and `raw`: give one of them");
        }
        let negative = |fault: &Fault| fault.retry_after.is_some_and(|s| !(0.0..1e9).contains(&s));
        if self.error.as_ref().is_some_and(negative) {
            return Some("has a `retry_after` that is no number of seconds");
        }
        None
    }

    fn has_call(&self) -> bool {
        !self.calls.is_empty() || self.parts.iter().any(|part| part.call().is_some())
    }

    /// What happens to the request that comes after `tried` others with the same history.
    pub(super) fn attempt(&self, tried: usize) -> &Self {
        let last = self.attempts.len().saturating_sub(1);
        self.attempts.get(tried.min(last)).unwrap_or(self)
    }
}

impl Part {
    fn call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) => Some(call),
            Self::Think(_) | Self::Text(_) | Self::Wait(_) | Self::KeepAlive(_) => None,
        }
    }
}
