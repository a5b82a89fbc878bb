//! Keepsakes: what a compaction must not trust to a summary.
//!
//! The files that were changed come from the journal, an open list of to-dos from its last call.

use std::collections::BTreeSet;

use hames_types::{BlockKind, Entry, Message};

use crate::{QueryContext, Transcript};

const MOST_FILES: usize = 200;

/// Empty when there is nothing to keep.
pub(super) fn keepsakes(cx: &QueryContext, transcript: &Transcript, tools: &[String]) -> String {
    let mut kept = String::new();
    let files = changed_files(cx);
    if !files.is_empty() {
        kept += "\n\nFiles changed so far:\n";
        let listed = files.iter().take(MOST_FILES);
        kept.extend(listed.flat_map(|path| ["- ", path, "\n"]));
        if files.len() > MOST_FILES {
            kept += &format!("- and {} more\n", files.len() - MOST_FILES);
        }
    }
    for tool in tools {
        if let Some(input) = last_input(transcript, tool) {
            kept += &format!("\n\nThe last `{tool}` call, word for word:\n{input}\n");
        }
    }
    kept
}

/// What calls that were allowed said they would write, in the whole session.
fn changed_files(cx: &QueryContext) -> BTreeSet<String> {
    let records = cx.journal.read(0).into_iter().flatten().flatten();
    let written = records.filter_map(|record| match record.entry {
        Entry::PermissionDecided {
            access,
            allowed: true,
            ..
        } => Some(access.writes),
        _ => None,
    });
    written
        .flatten()
        .map(|path| path.as_str().to_owned())
        .collect()
}

fn last_input(transcript: &Transcript, tool: &str) -> Option<String> {
    let asked = transcript.messages().iter().rev();
    let mut calls = asked.filter_map(|message| match message {
        Message::Assistant(message) => {
            message
                .blocks
                .iter()
                .rev()
                .find_map(|block| match &block.kind {
                    BlockKind::ToolCall(call) if call.name == tool => {
                        Some(call.input.0.to_string())
                    }
                    _ => None,
                })
        }
        Message::User(_) | Message::Tool(_) => None,
    });
    // A list that went with an earlier compaction stands in that one's keepsakes.
    calls.next().or_else(|| kept_before(transcript, tool))
}

fn kept_before(transcript: &Transcript, tool: &str) -> Option<String> {
    let title = format!("The last `{tool}` call, word for word:\n");
    transcript.user_messages().find_map(|message| {
        let text = message.plain_text();
        let (_, after) = text.split_once(&title)?;
        after.lines().next().map(str::to_owned)
    })
}
