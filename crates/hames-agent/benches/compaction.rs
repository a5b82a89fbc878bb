//! What a compaction keeps: fifteen facts planted in a session of sixty turns, and how many of them
//! the next requests still hold; and how much of what was sent stayed a stable prefix.
//!
//! The summarizing model is scripted, in three honesties: it repeats every fact that it sees in
//! what it is asked to sum up, every second one, or it cannot be had.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use hames_agent::{
    Model,
    compaction::{ClearThenSummarize, Window},
    ledger::Ledger,
};
use hames_testkit::{Rig, Script, render, rig::human};
use hames_types::{
    ApiKind, BoxStream, Encoded, Entry, Head, Message, ModelEvent, Outcome, Provider,
    ProviderError, ProviderErrorKind, Request, StopReason,
};

const TURNS: usize = 60;
const FACTS: usize = 15;

fn main() {
    println!(
        "{:<22} {:>9} {:>7} {:>9} {:>11}",
        "summary", "epochs", "facts", "requests", "prefix kept"
    );
    for (name, keeps) in [
        ("every fact", 1),
        ("every second fact", 2),
        ("none to be had", 0),
    ] {
        report(name, keeps);
    }
}

fn report(name: &str, keeps: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let model = Arc::new(Forgetful {
        keeps,
        sent: std::sync::Mutex::default(),
    });
    let mut rig = Rig::new(Script::in_order(Vec::new()));
    let head = rig.cx.model.head.clone();
    rig.cx.model = Arc::new(Model {
        provider: model.clone(),
        head,
        prices: None,
    });
    let source = "the bench".to_owned();
    let tokens = 8_000;
    rig.cx.compaction = Arc::new(ClearThenSummarize::new(Window { tokens, source }, 0.8));
    let mut session = rig.session().unwrap();
    for turn in 0..TURNS {
        let prompt = match turn % (TURNS / FACTS) {
            0 => format!("Remember {}. Go on.", fact(turn / (TURNS / FACTS))),
            _ => format!("Go on with step {turn}: {}", "and look at this ".repeat(30)),
        };
        let outcome = runtime.block_on(session.submit(human(&prompt)));
        assert_eq!(outcome, Outcome::Completed);
    }
    let sent = model.sent.lock().unwrap();
    let last = String::from_utf8_lossy(sent.last().unwrap()).into_owned();
    let held = (0..FACTS)
        .filter(|number| last.contains(&fact(*number)))
        .count();
    let records: Vec<_> = hames_testkit::rig::records(&*rig.memory);
    let epochs = records
        .iter()
        .filter(|record| matches!(record.entry, Entry::EpochStarted { .. }))
        .count();
    let turns = Ledger::of(records).turns.len();
    println!(
        "{name:<22} {epochs:>9} {held:>4}/{FACTS} {turns:>9} {:>10.1}%",
        stable(&sent)
    );
}

fn fact(number: usize) -> String {
    format!("fact-{number:02}-{:x}", (number + 7) * 7_919)
}

/// The share of all input bytes that the request before had sent at the same place.
fn stable(sent: &[Vec<u8>]) -> f64 {
    let common = |(one, other): (&Vec<u8>, &Vec<u8>)| {
        one.iter()
            .zip(other)
            .take_while(|(one, other)| one == other)
            .count()
    };
    let kept: usize = sent.iter().zip(&sent[1..]).map(common).sum();
    let all: usize = sent.iter().map(Vec::len).sum();
    kept as f64 * 100.0 / all as f64
}

/// A model that looks once, then answers; asked for a summary it repeats some of the facts.
struct Forgetful {
    keeps: usize,
    sent: std::sync::Mutex<Vec<Vec<u8>>>,
}

impl Provider for Forgetful {
    fn api(&self) -> ApiKind {
        ApiKind::OpenaiChat
    }

    fn encode_head(&self, head: &Head) -> Bytes {
        serde_json::to_vec(head).unwrap().into()
    }

    fn encode_message(&self, _: &Head, message: &Message) -> Encoded {
        let bytes = render::message(message).into();
        let mark_at = None;
        Encoded { bytes, mark_at }
    }

    fn send(&self, request: &Request<'_>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let last = request
            .messages
            .last()
            .map(|message| message.bytes.clone())
            .unwrap_or_default();
        let pieces = request.messages.iter().map(|message| message.bytes.clone());
        let whole: Vec<Bytes> = std::iter::once(request.head_bytes.clone())
            .chain(pieces)
            .collect();
        let whole = whole.concat();
        if last.starts_with(b"user Summary") {
            return self.summary(&whole);
        }
        self.sent.lock().unwrap().push(whole);
        let asked = last.starts_with(b"tool");
        let events = match asked {
            true => vec![
                said("I looked, and it is as it should be. ".repeat(8)),
                ModelEvent::Finished(StopReason::EndTurn),
            ],
            false => vec![
                ModelEvent::CallStarted {
                    block: 0,
                    id: "a".into(),
                    name: "look".into(),
                },
                ModelEvent::CallInputDelta {
                    block: 0,
                    json: format!("{{\"at\":\"{}\"}}", "x".repeat(700)),
                },
                ModelEvent::Finished(StopReason::ToolUse),
            ],
        };
        Box::pin(stream::iter(events.into_iter().map(Ok)))
    }
}

impl Forgetful {
    fn summary(&self, whole: &[u8]) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        if self.keeps == 0 {
            let error = ProviderError::new(ProviderErrorKind::ContextOverflow, "too long");
            return Box::pin(stream::iter([Err(error)]));
        }
        let text = String::from_utf8_lossy(whole);
        let seen = (0..FACTS).map(fact).filter(|fact| text.contains(fact));
        let kept: Vec<_> = seen.step_by(self.keeps).collect();
        let events = [
            said(kept.join(", ")),
            ModelEvent::Finished(StopReason::EndTurn),
        ];
        Box::pin(stream::iter(events.map(Ok)))
    }
}

fn said(text: String) -> ModelEvent {
    ModelEvent::TextDelta { block: 0, text }
}
