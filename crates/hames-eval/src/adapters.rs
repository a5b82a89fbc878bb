//! The list of coding agents that can be run.
//!
//! What each of them needs and prints is in its own file.

use crate::{
    adapter::{Adapter, Options},
    stage::StageError,
};

mod aider;
mod claude_code;
mod claude_stream;
mod codex;
mod command;
mod gemini_cli;
mod hames;
mod journal;
mod json_lines;
mod kimi;
mod launch;
mod mini_swe_agent;
mod oneshot;
mod opencode;
mod openharness;
mod predictions;
pub mod printed_diff;
mod python_runner;
mod qwen_code;
mod replay;
mod retelling;
mod service_failure;

/// An agent, and what it is told.
pub type Try = (Box<dyn Adapter>, Options);

/// Every agent, in the order in which they are listed.
pub fn all() -> Vec<Box<dyn Adapter>> {
    vec![
        Box::new(hames::Hames),
        Box::new(replay::Replay),
        Box::new(predictions::Predictions),
        Box::new(oneshot::Oneshot),
        Box::new(aider::Aider),
        Box::new(claude_code::ClaudeCode),
        Box::new(codex::Codex),
        Box::new(gemini_cli::GeminiCli),
        Box::new(kimi::Kimi),
        Box::new(mini_swe_agent::MiniSweAgent),
        Box::new(opencode::OpenCode),
        Box::new(openharness::OpenHarness),
        Box::new(qwen_code::QwenCode),
        Box::new(python_runner::AUTOGEN),
        Box::new(python_runner::CLAUDE_AGENT_SDK),
        Box::new(python_runner::LANGCHAIN),
        Box::new(python_runner::LANGGRAPH),
        Box::new(command::Command::default()),
    ]
}

/// By name or alias; `command:TEMPLATE` is an agent of its own. Case and `_` do not matter.
pub fn find(name: &str) -> Result<Box<dyn Adapter>, StageError> {
    if let Some(template) = name.strip_prefix("command:") {
        return Ok(Box::new(command::Command::of(template)));
    }
    let wanted = spelled(name);
    let known = all();
    let names: Vec<_> = known.iter().map(|one| one.name()).collect();
    let hint = near_misses(&wanted, &known);
    let found = known
        .into_iter()
        .find(|one| names_of(one.as_ref()).any(|known| known == wanted));
    found.ok_or_else(|| {
        StageError::BadInput(format!(
            "there is no adapter {name}{hint}; there are {}",
            names.join(", ")
        ))
    })
}

/// The tries of one trial, in order: the adapters as they are named, and for `oneshot` one try for
/// each model of a list (`MODEL,MODEL`), so that each of them has an attempt of its own.
pub fn chain(names: &[String], options: &Options) -> Result<Vec<Try>, StageError> {
    let mut tries = Vec::new();
    for name in names {
        let first = find(name)?;
        if first.name() != oneshot::NAME {
            tries.push((first, options.clone()));
            continue;
        }
        for model in options.model.split(',').map(str::trim) {
            let mut options = options.clone();
            model.clone_into(&mut options.model);
            tries.push((find(name)?, options));
        }
    }
    Ok(tries)
}

fn names_of(adapter: &dyn Adapter) -> impl Iterator<Item = &'static str> {
    std::iter::once(adapter.name()).chain(adapter.aliases().iter().copied())
}

fn spelled(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

/// ` (did you mean …?)`, or nothing.
fn near_misses(wanted: &str, known: &[Box<dyn Adapter>]) -> String {
    let is_near = |name: &&str| {
        distance(wanted, name) <= 2
            || (wanted.len() > 2 && (name.contains(wanted) || wanted.contains(*name)))
    };
    let names = known.iter().flat_map(|one| names_of(one.as_ref()));
    let near: Vec<_> = names.filter(is_near).collect();
    if near.is_empty() {
        return String::new();
    }
    format!(" (did you mean {}?)", near.join(" or "))
}

/// How many letters must be put in, left out or changed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<_> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, theirs) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *theirs);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
