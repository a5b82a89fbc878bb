//! An answer gathered from its events, for bodies that hold it whole.
//!
//! It keeps what was said as it was said: arguments are text here, valid or not.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use hames_types::{ModelEvent, StopReason, Usage};

use crate::request::ServedRequest;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub blocks: Vec<Said>,
    pub usage: Usage,
    pub stop: Option<StopReason>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Text(String),
    Reasoning(String),
    Call {
        id: String,
        name: String,
        input: String,
    },
}

impl Answer {
    pub fn of(events: &[ModelEvent]) -> Self {
        let mut answer = Self::default();
        let mut blocks: BTreeMap<u32, Said> = BTreeMap::new();
        for event in events {
            match event {
                ModelEvent::TextDelta { block, text } => {
                    blocks
                        .entry(*block)
                        .or_insert_with(|| Said::Text(String::new()))
                        .push(text);
                }
                ModelEvent::ReasoningDelta { block, text } => {
                    blocks
                        .entry(*block)
                        .or_insert_with(|| Said::Reasoning(String::new()))
                        .push(text);
                }
                ModelEvent::CallStarted { block, id, name } => {
                    blocks.insert(*block, Said::call(id, name));
                }
                ModelEvent::CallInputDelta { block, json } => {
                    if let Some(said) = blocks.get_mut(block) {
                        said.push(json);
                    }
                }
                ModelEvent::BlockEcho { .. } => {}
                ModelEvent::Usage(usage) => answer.usage = *usage,
                ModelEvent::Finished(stop) => answer.stop = Some(*stop),
            }
        }
        answer.blocks = blocks.into_values().collect();
        answer
    }

    /// All text, joined.
    pub fn text(&self) -> String {
        let text = |said: &Said| match said {
            Said::Text(text) => Some(text.clone()),
            Said::Reasoning(_) | Said::Call { .. } => None,
        };
        self.blocks.iter().filter_map(text).collect()
    }

    /// All reasoning, joined.
    pub fn reasoning(&self) -> String {
        let text = |said: &Said| match said {
            Said::Reasoning(text) => Some(text.clone()),
            Said::Text(_) | Said::Call { .. } => None,
        };
        self.blocks.iter().filter_map(text).collect()
    }

    /// Ids, names and arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.blocks.iter().filter_map(|said| match said {
            Said::Call { id, name, input } => Some((id.as_str(), name.as_str(), input.as_str())),
            Said::Text(_) | Said::Reasoning(_) => None,
        })
    }
}

/// The name of the answer to this request: no two of a conversation have the same, or clients that
/// join messages by it would take them for one. The same request has the same.
pub(crate) fn id_of(request: &ServedRequest, prefix: &str) -> String {
    let mut hasher = DefaultHasher::new();
    request.system.hash(&mut hasher);
    for message in &request.messages {
        // What cannot be written down, which no message is, adds nothing.
        serde_json::to_string(message).ok().hash(&mut hasher);
    }
    format!("{prefix}{:016x}", hasher.finish())
}

impl Said {
    pub fn call(id: &str, name: &str) -> Self {
        Self::Call {
            id: id.to_owned(),
            name: name.to_owned(),
            input: String::new(),
        }
    }

    pub fn push(&mut self, more: &str) {
        match self {
            Self::Text(text) | Self::Reasoning(text) | Self::Call { input: text, .. } => {
                text.push_str(more);
            }
        }
    }
}
