//! Words for the eye: a call in one line, a time, a text that cannot command a terminal.
//!
//! What is cut or left out here is whole in the journal.

use std::{borrow::Cow, time::Duration};

use hames_types::{Content, ProviderError, ProviderErrorKind, RawJson, ToolResult};
use serde_json::Value;

/// In characters: what fits beside a tool's name.
const LINE: usize = 100;

/// The fields of an input that say most, in the order of how much they say.
const TELLING: [&str; 6] = ["command", "path", "file_path", "pattern", "query", "url"];

/// `bash cargo test`, or `grep fn main`.
pub fn call(tool: &str, input: &RawJson) -> String {
    let input: Value = input.parse().unwrap_or_default();
    let telling = TELLING.iter().find_map(|field| input.get(field)?.as_str());
    match telling {
        Some(text) => format!("{tool} {}", first_line(text)),
        None => tool.to_owned(),
    }
}

/// The first line that says something, cut to what fits.
pub fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = harmless(line.unwrap_or_default());
    if line.chars().count() <= LINE {
        return line.into_owned();
    }
    let kept: String = line.chars().take(LINE - 1).collect();
    format!("{kept}…")
}

pub fn result(result: &ToolResult) -> String {
    result.content.iter().filter_map(Content::as_text).collect()
}

pub fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{seconds:.0} s")
    }
}

pub fn failure(error: &ProviderError) -> String {
    let what = match error.kind {
        ProviderErrorKind::Transport => "the connection failed",
        ProviderErrorKind::RateLimited => "the rate limit was reached",
        ProviderErrorKind::Overloaded => "the service is overloaded",
        ProviderErrorKind::Malformed => "the answer could not be read",
        ProviderErrorKind::ContextOverflow => "the request is too long",
        ProviderErrorKind::Auth => "the key was refused",
        ProviderErrorKind::QuotaExceeded => "the quota is used up",
        ProviderErrorKind::Rejected => "the request was refused",
    };
    let status = error
        .status
        .map(|status| format!(" ({status})"))
        .unwrap_or_default();
    format!("{what}{status}: {}", first_line(&error.message))
}

/// Without control characters: a model's text must not move a cursor or set a title.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let commands = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter(|letter| !commands(*letter)).collect())
}
