//! A trial's trajectory as it is shown, read from ATIF leniently: what has another form is left out.
//!
//! It checks nothing; that is `atif`'s. All texts that it gives are safe to show, and cut.

use std::{fs, path::Path};

use serde_json::Value;

use super::clean;

/// Parsed, it takes many times as much memory.
const TOO_LARGE: u64 = 48 << 20;

/// As ATIF has them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    pub turns: Vec<ShownTurn>,
    /// In the middle, where all of it was too much.
    pub left_out: usize,
    /// Embedded trajectories, by their id.
    pub subagents: Vec<(String, Shown)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownTurn {
    /// Before which [`Shown::left_out`] turns are missing.
    pub after_gap: bool,
    pub number: usize,
    /// `system`, `user` or `agent`; what else stands there otherwise.
    pub source: String,
    pub at: String,
    pub preview: String,
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<ShownCall>,
    /// In and out.
    pub tokens: Option<(u64, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownCall {
    pub name: String,
    pub preview: String,
    pub arguments: String,
    /// None where no answer is recorded.
    pub result: Option<String>,
    pub is_error: bool,
}

/// None where there is no such file; an error where it cannot be read as JSON.
pub fn read(path: &Path, budget: usize) -> Option<Result<Shown, String>> {
    let parsed = bytes(path)?.and_then(|bytes| {
        let parsed = serde_json::from_slice::<Value>(&bytes);
        parsed.map_err(|error| format!("trajectory.json cannot be read: {error}"))
    });
    Some(parsed.map(|value| of(&value, budget)))
}

/// Of a file that a page can show part of; none where there is no such file.
pub fn bytes(path: &Path) -> Option<Result<Vec<u8>, String>> {
    let size = fs::metadata(path).ok()?.len();
    if size > TOO_LARGE {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let megabytes = size / 1_000_000;
        return Some(Err(format!(
            "{name} has {megabytes} MB: too large to be shown here"
        )));
    }
    Some(fs::read(path).map_err(|error| error.to_string()))
}

pub fn of(trajectory: &Value, budget: usize) -> Shown {
    let none = Vec::new();
    let list = |name: &str| trajectory.get(name).and_then(Value::as_array);
    let steps = list("steps").unwrap_or(&none);
    let embedded = list("subagent_trajectories").unwrap_or(&none);
    let budget = budget / (embedded.len() + 1);
    let subagents = embedded.iter().map(|subagent| {
        let id = clean::line(string(subagent.get("trajectory_id")));
        (id, of(subagent, budget))
    });
    // A turn has two or three long texts: all of them together are to fit.
    let limit = (budget / (2 * steps.len().max(1))).clamp(400, 8_000);
    let most = (budget / 600).max(8);
    let (head, tail) = (most / 3, most - most / 3);
    let (kept_head, gap_end) = match steps.len() > most {
        true => (head, steps.len() - tail),
        false => (steps.len(), steps.len()),
    };
    let numbered = steps.iter().enumerate();
    let kept = numbered.filter(|(at, _)| *at < kept_head || *at >= gap_end);
    let turns = kept.map(|(at, step)| ShownTurn {
        after_gap: at == gap_end,
        number: at + 1,
        ..turn(step, limit)
    });
    Shown {
        turns: turns.collect(),
        left_out: gap_end - kept_head,
        subagents: subagents.collect(),
    }
}

fn turn(step: &Value, limit: usize) -> ShownTurn {
    let message = content(step.get("message"));
    let metrics = step.get("metrics");
    let tokens = |name: &str| metrics.and_then(|metrics| metrics.get(name)?.as_u64());
    ShownTurn {
        source: clean::line(string(step.get("source"))),
        at: clean::line(string(step.get("timestamp"))),
        preview: clean::preview(&message, 140),
        text: shown(&message, limit),
        reasoning: shown(string(step.get("reasoning_content")), limit),
        calls: calls(step, limit),
        tokens: tokens("prompt_tokens").zip(tokens("completion_tokens")),
        ..ShownTurn::default()
    }
}

fn calls(step: &Value, limit: usize) -> Vec<ShownCall> {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let observation = step.get("observation");
    let mut results = list(observation.and_then(|held| held.get("results")));
    let mut calls: Vec<ShownCall> = Vec::new();
    for call in list(step.get("tool_calls")) {
        let id = call.get("tool_call_id");
        let answers = |result: &Value| id.is_some() && result.get("source_call_id") == id;
        let answer = results
            .iter()
            .position(answers)
            .map(|at| results.remove(at));
        let arguments = call.get("arguments").unwrap_or(&Value::Null);
        calls.push(ShownCall {
            name: clean::line(string(call.get("function_name"))),
            preview: clean::preview(first_argument(arguments), 110),
            arguments: shown(&spread(arguments), limit),
            ..answered(answer.as_ref(), limit)
        });
    }
    calls.extend(results.iter().map(|result| answered(Some(result), limit)));
    calls
}

fn answered(result: Option<&Value>, limit: usize) -> ShownCall {
    let is_error = result
        .and_then(|result| result.get("extra")?.get("is_error")?.as_bool())
        .unwrap_or(false);
    ShownCall {
        result: result.map(|result| shown(&content(result.get("content")), limit)),
        is_error,
        ..ShownCall::default()
    }
}

/// Arguments that say most of a call in one line, whatever the agent calls its tools.
const TELLING: [&str; 8] = [
    "command",
    "cmd",
    "file_path",
    "path",
    "pattern",
    "query",
    "url",
    "prompt",
];

fn first_argument(arguments: &Value) -> &str {
    match arguments {
        Value::String(text) => text,
        Value::Object(map) => {
            let telling = TELLING.iter().filter_map(|name| map.get(*name));
            let texts = telling.chain(map.values()).filter_map(Value::as_str);
            texts.into_iter().next().unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => "",
    }
}

/// One argument a paragraph, texts as they are: a command in JSON is hard to read.
fn spread(arguments: &Value) -> String {
    let Value::Object(map) = arguments else {
        return match arguments {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
    };
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.contains('\n') => format!("{name}:\n{text}"),
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    };
    map.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// A string, or parts of which texts are shown and others named.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let part = |part: &Value| match part.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => format!("[{}]", string(part.get("type"))),
            };
            parts.iter().map(part).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn string(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

fn shown(raw: &str, limit: usize) -> String {
    clean::text(&clean::cut(raw, limit))
}
