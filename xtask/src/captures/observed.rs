//! What our codec makes of a body: events folded into the fields that a recording has.
//!
//! The fold is its own, so that what came before an error is seen too; whether the message is
//! complete is what the Output Parser says.

use std::collections::BTreeMap;

use hames_agent::parser::Parser;
use hames_types::{Head, ModelEvent, Options, ProviderError, StopReason, Usage};
use hames_wire::{Api, Delivery};
use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    pub text: String,
    pub thinking: String,
    /// Thinking that goes back unchanged: its echo, as its provider wrote it.
    pub echoes: Vec<Value>,
    pub calls: Vec<Call>,
    pub stop: Option<StopReason>,
    pub usage: Option<Usage>,
    pub complete: bool,
    pub may_run_calls: bool,
    pub error: Option<ProviderError>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl Call {
    /// What the text says, or nothing when it is no JSON and so must not run.
    pub fn value(&self) -> Option<Value> {
        match self.arguments.trim() {
            "" => Some(Value::Object(serde_json::Map::new())),
            text => serde_json::from_str(text).ok(),
        }
    }
}

#[derive(Default)]
struct Block {
    text: String,
    reasoning: bool,
    call: Option<(String, String)>,
    echo: Option<Value>,
}

/// Decodes pieces that together are the body.
pub fn observe<'a>(
    api: &dyn Api,
    delivery: Delivery,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Observed {
    let mut events = Vec::new();
    let mut decoder = api.decoder(delivery);
    let mut read = Ok(());
    for piece in pieces {
        read = decoder.feed(piece, &mut events);
        if read.is_err() {
            break;
        }
    }
    if read.is_ok() {
        read = decoder.finish(&mut events);
    }
    fold(api, events, read.err())
}

fn fold(api: &dyn Api, events: Vec<ModelEvent>, error: Option<ProviderError>) -> Observed {
    let head = head(api);
    let mut parser = Parser::new(&head);
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    let mut seen = Observed::default();
    for event in events {
        parser.feed(event.clone());
        take_in(event, &mut blocks, &mut seen);
    }
    for block in blocks.into_values() {
        seen.echoes.extend(block.echo);
        match block.call {
            Some((id, name)) => seen.calls.push(Call {
                id,
                name,
                arguments: block.text,
            }),
            None if block.reasoning => seen.thinking += &block.text,
            None => seen.text += &block.text,
        }
    }
    let message = parser.finish().ok().filter(|_| error.is_none());
    seen.complete = message.is_some();
    seen.may_run_calls = message.is_some_and(|message| message.stop.may_run_calls());
    seen.error = error;
    seen
}

fn take_in(event: ModelEvent, blocks: &mut BTreeMap<u32, Block>, seen: &mut Observed) {
    match event {
        ModelEvent::TextDelta { block, text } => blocks.entry(block).or_default().text += &text,
        ModelEvent::ReasoningDelta { block, text } => {
            let block = blocks.entry(block).or_default();
            block.reasoning = true;
            block.text += &text;
        }
        ModelEvent::CallStarted { block, id, name } => {
            blocks.entry(block).or_default().call = Some((id, name));
        }
        ModelEvent::CallInputDelta { block, json } => {
            blocks.entry(block).or_default().text += &json;
        }
        ModelEvent::BlockEcho { block, json } => {
            blocks.entry(block).or_default().echo = serde_json::from_str(&json).ok();
        }
        ModelEvent::Usage(usage) => seen.usage = Some(usage),
        ModelEvent::Finished(stop) => seen.stop = Some(stop),
    }
}

fn head(api: &dyn Api) -> Head {
    Head {
        api: api.kind(),
        model: "recorded".into(),
        system: "".into(),
        tools: Vec::new(),
        options: Options {
            max_tokens: 1,
            temperature: None,
            effort: None,
            context_window: None,
        },
    }
}
