//! What a recording says is right, in our terms, beside what was observed.
//!
//! The tables here are written from the recordings' own page, not from the codecs.

use hames_types::{StopReason, Usage};
use hames_wire::Api;
use serde_json::{Value, json};

use super::{
    classes::Classes,
    listed::Difference,
    observed::{Observed, observe},
    recording::{Kind, Recording},
};

pub fn compare(recording: &Recording, api: &dyn Api, classes: &Classes) -> Vec<Difference> {
    let expect = &recording.expect;
    let mut found = Vec::new();
    let seen = match recording.refused_with() {
        Some(status) => Observed {
            error: Some(api.classify_error(status, &recording.body)),
            ..Observed::default()
        },
        None => observe(api, recording.delivery(), [&*recording.body]),
    };
    let class = error_of(recording).map(|error| classes.of(recording.status, &error));
    let kind = seen.error.as_ref().map(|error| error.kind);
    differ("error", &class, &kind, &mut found);
    if recording.kind == Kind::Error {
        return found;
    }
    let text = |name: &str| expect[name].as_str().unwrap_or_default().to_owned();
    differ(
        "text",
        &(text("text") + &text("refusal")),
        &seen.text,
        &mut found,
    );
    differ("thinking", &text("thinking"), &seen.thinking, &mut found);
    if let Some(blocks) = expect.get("thinking_blocks") {
        differ(
            "thinking_blocks",
            blocks,
            &thinking_blocks(&seen),
            &mut found,
        );
    }
    calls(expect, &seen, &mut found);
    differ(
        "complete",
        &expect["complete"],
        &json!(seen.complete),
        &mut found,
    );
    let stop = expected_stop(expect, seen.stop);
    differ("stop_reason", &stop, &seen.stop, &mut found);
    let counted = seen.usage.unwrap_or_default();
    if let Some(usage) = expected_usage(&recording.protocol, &expect["usage"], counted) {
        differ("usage", &usage, &counted, &mut found);
    }
    found
}

/// Some vendors put an error's fields at the top of the body, where a recording's page has no name.
fn error_of(recording: &Recording) -> Option<Value> {
    let error = &recording.expect["error"];
    if !error.is_null() {
        return Some(error.clone());
    }
    let whole = (recording.kind == Kind::Error).then_some(&*recording.body)?;
    let text = || Value::String(String::from_utf8_lossy(whole).into_owned());
    Some(serde_json::from_slice(whole).unwrap_or_else(|_| text()))
}

fn differ<T: PartialEq + std::fmt::Debug>(
    field: &'static str,
    expected: &T,
    seen: &T,
    found: &mut Vec<Difference>,
) {
    if expected != seen {
        found.push(Difference::new(field, expected, seen));
    }
}

/// Signed and redacted thinking, as it goes back.
fn thinking_blocks(seen: &Observed) -> Value {
    let blocks = seen
        .echoes
        .iter()
        .filter_map(|echo| match echo["type"].as_str() {
            Some("thinking") => {
                Some(json!({"thinking": echo["thinking"], "signature": echo["signature"]}))
            }
            Some("redacted_thinking") => Some(json!({"redacted_data": echo["data"]})),
            Some(_) | None => None,
        });
    Value::Array(blocks.collect())
}

fn calls(expect: &Value, seen: &Observed, found: &mut Vec<Difference>) {
    let none = Vec::new();
    let expected = expect["tool_calls"].as_array().unwrap_or(&none);
    differ("tool_calls", &expected.len(), &seen.calls.len(), found);
    for (expected, call) in expected.iter().zip(&seen.calls) {
        let id = expected["id"].as_str().unwrap_or_default();
        differ("call_id", &id, &call.id.as_str(), found);
        let name = expected["name"].as_str().unwrap_or_default();
        differ("call_name", &name, &call.name.as_str(), found);
        let arguments = Some(expected["arguments"].clone()).filter(|value| !value.is_null());
        differ("call_arguments", &arguments, &call.value(), found);
        if let (None, Some(raw)) = (arguments, expected["arguments_raw"].as_str()) {
            differ("call_arguments_raw", &raw, &call.arguments.as_str(), found);
        }
    }
}

/// Where nothing was said, `Unknown` and none at all are both right: `complete` tells them apart.
fn expected_stop(expect: &Value, seen: Option<StopReason>) -> Option<StopReason> {
    let refused = expect["refusal"]
        .as_str()
        .is_some_and(|words| !words.is_empty());
    match expect["stop_reason"].as_str() {
        None => seen.filter(|stop| *stop == StopReason::Unknown),
        Some("error" | "cancelled") => None,
        // The words of a refusal are in a field of their own; the wire calls it a stop.
        Some("end_turn") if refused => Some(StopReason::Refusal),
        Some("end_turn") => Some(StopReason::EndTurn),
        Some("tool_use") => Some(StopReason::ToolUse),
        Some("max_tokens") => Some(StopReason::MaxTokens),
        Some("stop_sequence") => Some(StopReason::StopSequence),
        Some("content_filter") => Some(StopReason::ContentFilter),
        Some("refusal") => Some(StopReason::Refusal),
        Some("pause_turn") => Some(StopReason::PauseTurn),
        Some(_) => Some(StopReason::Unknown),
    }
}

/// A vendor's counts in ours: input without what was cached, output with reasoning.
fn expected_usage(protocol: &str, usage: &Value, seen: Usage) -> Option<Usage> {
    if !usage.is_object() {
        return None;
    }
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (input, output, total) = (count("input"), count("output"), count("total"));
    let (cache_read, cache_write) = (count("cache_read"), count("cache_write"));
    let reasoning = count("reasoning");
    let (input, output) = match protocol {
        "openai-chat" => {
            let cached = cache_read + cache_write;
            // Who counts a part larger than its whole, or a total larger than its parts, counts it beside.
            let fresh = if cached > input {
                input
            } else {
                input - cached
            };
            let output = match total.saturating_sub(input) {
                rest if rest > output => rest,
                _ if reasoning > output => output + reasoning,
                _ => output,
            };
            (fresh, output)
        }
        _ => (input, output),
    };
    let page_has_reasoning = !usage["reasoning"].is_null();
    Some(Usage {
        input,
        output,
        reasoning: if page_has_reasoning {
            reasoning.min(output)
        } else {
            seen.reasoning
        },
        cache_read,
        cache_write,
    })
}
