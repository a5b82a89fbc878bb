//! The trajectory that a session's journal tells; a killed run has one as well.
//!
//! It reads files of the agent's home and changes none; what cannot be read in them is passed over.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hames_journal::{Record, file};
use hames_types::{
    AssistantMessage, BlockKind, Content, Entry, EpochCause, EpochMessage, Origin, Outcome,
    ProviderError, ResultStatus, ToolResult, UserMessage,
};
use serde_json::Value;

use super::{
    json_lines, launch,
    retelling::{Retelling, call},
};
use crate::trajectory::{Source, Usage};

/// Of the newest session in a folder of sessions, with what its sub-agents did.
pub fn read(sessions: &Path) -> Option<Retelling> {
    let journals = file::list(sessions).ok()?;
    let is_session = |path: &&PathBuf| stem(path).is_some_and(|stem| !stem.contains('.'));
    let newest = journals.iter().filter(is_session).max_by_key(|path| {
        let changed = fs::metadata(path).and_then(|about| about.modified()).ok();
        (changed, (*path).clone())
    })?;
    let id = stem(newest)?;
    let mut told = retell(newest)?;
    let of_it = format!("{id}.");
    for child in journals
        .iter()
        .filter(|path| stem(path).is_some_and(|stem| stem.starts_with(&of_it)))
    {
        if let Some(child) = retell(child) {
            told.trajectory.usage += child.trajectory.usage;
            told.trajectory.subagents.push(child.trajectory);
        }
    }
    Some(told)
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}

fn retell(journal: &Path) -> Option<Retelling> {
    let mut told = Retelling::default();
    told.trajectory.session_id = stem(journal).map(str::to_owned);
    for record in file::read_records(journal, 0).ok()? {
        match record {
            Ok(record) => entry(&mut told, &record),
            // The last line of a killed run.
            Err(_) => told.garbled += 1,
        }
    }
    Some(told)
}

fn entry(told: &mut Retelling, record: &Record) {
    let turns = told.trajectory.turns.len();
    match &record.entry {
        Entry::EpochStarted {
            cause,
            head,
            messages,
        } => {
            told.trajectory.model = Some(head.model.to_string());
            epoch(told, *cause, &head.system, messages);
        }
        Entry::User { message, .. } => user(told, message),
        Entry::Assistant { message } => assistant(told, message),
        Entry::ToolFinished { result } => answer(told, result),
        Entry::CallFailed { error, usage, .. } => failed(told, error, *usage),
        Entry::QueryFinished { outcome } => finished(told, outcome),
        Entry::TurnStarted { .. }
        | Entry::SteeringReceived { .. }
        | Entry::PermissionRequested { .. }
        | Entry::PermissionDecided { .. }
        | Entry::ToolStarted { .. }
        | Entry::ToolReturned { .. }
        | Entry::HookRan { .. }
        | Entry::ChildOpened { .. }
        | Entry::ShapeProgress { .. }
        | Entry::Unknown => {}
    }
    for turn in told.trajectory.turns.iter_mut().skip(turns) {
        turn.at = Some(launch::moment(record.at as f64 / 1000.0));
    }
}

/// What a new epoch brings that was in no entry before it.
fn epoch(told: &mut Retelling, cause: EpochCause, system: &str, messages: &[EpochMessage]) {
    match cause {
        EpochCause::Open if !system.is_empty() => told.say(Source::System, system),
        EpochCause::Open | EpochCause::Compaction => {}
        EpochCause::Resume
        | EpochCause::Model
        | EpochCause::Tools
        | EpochCause::Quarantine
        | EpochCause::Rewind
        | EpochCause::Fork => return,
    }
    for message in messages {
        match message {
            EpochMessage::User(message) => user(told, message),
            EpochMessage::Kept { .. } | EpochMessage::Assistant(_) | EpochMessage::Results(_) => {}
        }
    }
}

fn user(told: &mut Retelling, message: &UserMessage) {
    let source = match message.origin {
        Origin::Human | Origin::Steering => Source::User,
        // Said by the program, in the user's place.
        Origin::Hook
        | Origin::StopHook
        | Origin::Nudge
        | Origin::Inform
        | Origin::Shape
        | Origin::Summary => Source::System,
    };
    told.say(source, message.plain_text());
}

fn assistant(told: &mut Retelling, message: &AssistantMessage) {
    // Whatever failed before has been tried again.
    told.error = None;
    let usage = usage(message.usage);
    told.trajectory.usage += usage;
    let turn = told.turn(Source::Agent);
    turn.usage = Some(usage);
    turn.text = message.text();
    for block in &message.blocks {
        match &block.kind {
            BlockKind::Reasoning { text } => turn.reasoning.get_or_insert_default().push_str(text),
            BlockKind::ToolCall(made) => {
                let arguments = json_lines::arguments(&Value::String(made.input.0.to_string()));
                turn.calls.push(call(&*made.id.0, &*made.name, arguments));
            }
            BlockKind::Text { .. } | BlockKind::Opaque => {}
        }
    }
}

fn answer(told: &mut Retelling, result: &ToolResult) {
    let texts = result.content.iter().filter_map(Content::as_text);
    let text = texts.collect::<Vec<_>>().join("\n");
    told.answer(&result.call.0, text, result.status != ResultStatus::Ok);
}

/// A failed call is paid for all the same.
fn failed(told: &mut Retelling, error: &ProviderError, spent: hames_types::Usage) {
    told.trajectory.usage += usage(spent);
    told.error = Some(error.to_string());
}

fn finished(told: &mut Retelling, outcome: &Outcome) {
    let error = match outcome {
        Outcome::Completed => None,
        Outcome::Failed { error } => Some(error.clone()),
        Outcome::LimitReached { .. } => {
            Some(format!("it reached a limit: {}", outcome.end_cause()))
        }
        Outcome::Refused
        | Outcome::Truncated
        | Outcome::NoAnswer
        | Outcome::Interrupted
        | Outcome::CheckFailed { .. }
        | Outcome::SchemaFailed { .. } => Some(format!("it ended with {}", outcome.end_cause())),
    };
    // A service's failure says more than the word that the query ended with.
    told.error = error.map(|error| match told.error.take() {
        Some(before) if before != error => format!("{error}\n{before}"),
        Some(_) | None => error,
    });
}

fn usage(usage: hames_types::Usage) -> Usage {
    Usage {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        reasoning: usage.reasoning,
        calls: 1,
    }
}
