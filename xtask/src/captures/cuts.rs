//! The same bodies in other pieces, and cut short.
//!
//! Where the terminal event lies is found here from the wire's page, not by asking the codec.

use std::ops::Range;

use hames_wire::Api;
use serde_json::Value;

use super::{
    listed::Difference,
    observed::{Observed, observe},
    recording::{Kind, Recording},
};

/// Splits at random places; the same ones every time.
const SEEDS: u64 = 4;

/// At most so many cuts inside a terminal event.
const INSIDE: usize = 64;

/// How many other deliveries were tried, and what went differently.
pub fn compare(recording: &Recording, api: &dyn Api) -> (usize, Vec<Difference>) {
    if recording.refused_with().is_some() {
        return (0, Vec::new());
    }
    let body = &*recording.body;
    let delivery = recording.delivery();
    let whole = observe(api, delivery, [body]);
    let mut tried = 1;
    let mut found = Vec::new();
    let mut same = |how: &'static str, seen: Observed| {
        if seen != whole {
            found.push(Difference::new(how, &whole, &seen));
        }
    };
    same("single_bytes", observe(api, delivery, body.chunks(1)));
    for seed in 1..=SEEDS {
        tried += 1;
        same("random_pieces", observe(api, delivery, pieces(body, seed)));
    }
    if recording.kind == Kind::Stream {
        for shorter in without_its_end(body) {
            tried += 1;
            same("end_missing", observe(api, delivery, [shorter]));
        }
        tried += cut_short(recording, api, &mut found);
    }
    (tried, found)
}

/// Pieces of one byte to some dozens, in an order that the seed fixes.
fn pieces(mut body: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pieces = Vec::new();
    while !body.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let length = 1 + usize::try_from(state % 40).unwrap_or_default();
        let (piece, rest) = body.split_at(length.min(body.len()));
        pieces.push(piece);
        body = rest;
    }
    pieces
}

/// Without blanks, the last line's end, and `[DONE]`: nothing of this is part of a message.
fn without_its_end(body: &[u8]) -> Vec<&[u8]> {
    let trimmed = body.trim_ascii_end();
    let mut shorter = vec![trimmed];
    let done: [&[u8]; 2] = [b"data: [DONE]", b"data:[DONE]"];
    for done in done {
        shorter.extend(trimmed.strip_suffix(done));
        shorter.extend(trimmed.strip_suffix(done).map(<[u8]>::trim_ascii_end));
    }
    shorter
}

fn cut_short(recording: &Recording, api: &dyn Api, found: &mut Vec<Difference>) -> usize {
    let Some(event) = terminal_event(recording) else {
        return 0;
    };
    let step = event.len().div_ceil(INSIDE).max(1);
    let places = event.clone().step_by(step);
    let places: Vec<usize> = places.chain([event.end.saturating_sub(1)]).collect();
    for place in &places {
        let cut = recording.body.get(..*place).unwrap_or_default();
        let seen = observe(api, recording.delivery(), [cut]);
        if seen.complete || seen.may_run_calls {
            let what = format!("cut at byte {place}, and still taken for whole");
            found.push(Difference::said("cut", what));
        }
    }
    places.len()
}

/// The bytes of the first event that ends the message; none where the message does not end.
fn terminal_event(recording: &Recording) -> Option<Range<usize>> {
    let mut start = 0;
    for line in recording.body.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.trim_ascii_end().len();
        let data = match recording.protocol.as_str() {
            "ollama" => line,
            _ => line.strip_prefix(b"data:").unwrap_or_default(),
        };
        let value: Value = serde_json::from_slice(data).unwrap_or_default();
        if ends_message(&recording.protocol, &value) {
            return Some(start..end);
        }
        start += line.len();
    }
    None
}

fn ends_message(protocol: &str, value: &Value) -> bool {
    match protocol {
        "openai-chat" => {
            let choices = value["choices"].as_array();
            choices.into_iter().flatten().any(|choice| {
                let reason = choice["finish_reason"].as_str().unwrap_or_default();
                choice["index"].as_u64().unwrap_or_default() == 0 && !reason.is_empty()
            })
        }
        "anthropic" => value["type"] == "message_stop",
        "ollama" => value["done"] == true,
        _ => false,
    }
}
