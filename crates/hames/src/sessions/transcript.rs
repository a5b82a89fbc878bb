//! A session as a text: who said what, which calls were made and what came of them.
//!
//! It follows the journal, so that what a compaction took out of the model's sight still stands here.

use std::{fmt::Write, path::Path};

use anyhow::{Context, Result};
use hames_journal::{Record, file::read_records};
use hames_types::{
    AssistantMessage, BlockKind, Content, Entry, EpochCause, Origin, ResultStatus, ToolResult,
    UserMessage,
};

/// In lines: how much of a tool's answer is shown.
const SHOWN: usize = 20;

pub(super) fn text(path: &Path) -> Result<String> {
    let records = read_records(path, 0).with_context(|| format!("{}", path.display()))?;
    let mut text = String::new();
    let mut bad = 0;
    for record in records {
        match record {
            Ok(record) => text += &entry(&record),
            Err(_) => bad += 1,
        }
    }
    if bad > 0 {
        let _ = writeln!(text, "({bad} lines of the journal cannot be read)");
    }
    Ok(text)
}

fn entry(record: &Record) -> String {
    match &record.entry {
        Entry::User { message, .. } => user(message),
        Entry::Assistant { message } => assistant(message),
        Entry::ToolFinished { result } => tool(result),
        Entry::EpochStarted { cause, head, .. } => match cause {
            EpochCause::Open => format!("### {}\n\n", head.model),
            EpochCause::Compaction => "### compacted\n\n".to_owned(),
            EpochCause::Model => format!("### {} takes over\n\n", head.model),
            EpochCause::Resume
            | EpochCause::Tools
            | EpochCause::Quarantine
            | EpochCause::Rewind
            | EpochCause::Fork => format!(
                "### a new epoch: {}\n\n",
                format!("{cause:?}").to_lowercase()
            ),
        },
        Entry::CallFailed { error, .. } => format!("### a call failed: {error}\n\n"),
        Entry::ChildOpened { journal, label } => format!("### {label} begins ({})\n\n", journal.0),
        Entry::QueryFinished { outcome } => format!("### ended: {}\n\n", outcome.end_cause()),
        Entry::TurnStarted { .. }
        | Entry::SteeringReceived { .. }
        | Entry::PermissionRequested { .. }
        | Entry::PermissionDecided { .. }
        | Entry::ToolStarted { .. }
        | Entry::ToolReturned { .. }
        | Entry::HookRan { .. }
        | Entry::ShapeProgress { .. }
        | Entry::Unknown => String::new(),
    }
}

fn user(message: &UserMessage) -> String {
    let who = match message.origin {
        Origin::Human => "User",
        Origin::Steering => "User, meanwhile",
        Origin::Hook | Origin::StopHook => "Hook",
        Origin::Nudge | Origin::Inform | Origin::Shape => "Harness",
        Origin::Summary => "Summary",
    };
    format!("## {who}\n\n{}\n\n", message.plain_text().trim_end())
}

fn assistant(message: &AssistantMessage) -> String {
    let mut text = String::from("## Assistant\n\n");
    for block in &message.blocks {
        match &block.kind {
            BlockKind::Text { text: said } if said.trim().is_empty() => {}
            BlockKind::Text { text: said } => {
                let _ = write!(text, "{}\n\n", said.trim_end());
            }
            BlockKind::Reasoning { text: thought } => {
                let quoted = thought.lines().map(|line| format!("> {line}\n"));
                let _ = writeln!(text, "{}", quoted.collect::<String>());
            }
            BlockKind::ToolCall(call) => {
                let _ = write!(text, "→ {} {}\n\n", call.name, call.input.0);
            }
            BlockKind::Opaque => {}
        }
    }
    text
}

fn tool(result: &ToolResult) -> String {
    let status = match result.status {
        ResultStatus::Ok => "",
        ResultStatus::Error => " (error)",
        ResultStatus::Denied => " (refused)",
        ResultStatus::Interrupted => " (interrupted)",
    };
    let said: String = result.content.iter().filter_map(Content::as_text).collect();
    let mut text = format!("← {}{status}\n", result.call.0);
    let count = said.lines().count();
    for line in said.lines().take(SHOWN) {
        let _ = writeln!(text, "    {line}");
    }
    if count > SHOWN {
        let _ = writeln!(text, "    … {} more lines", count - SHOWN);
    }
    text + "\n"
}
