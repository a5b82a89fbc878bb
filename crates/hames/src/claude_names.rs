//! Claude Code's names for our tools and their fields, where it has them.
//!
//! Only what leaves this process is renamed; nothing that comes in is.

use hames_tools::aliases::{claude_tool, to_claude_input};
use hames_types::RawJson;
use serde_json::value::RawValue;

pub fn tool(name: &str) -> &str {
    claude_tool(name)
}

/// `tool` is our name.
pub fn input(tool: &str, input: &RawJson) -> Box<RawValue> {
    json_or_text(&to_claude_input(tool, input))
}

/// Arguments as they came where they are JSON, else as a JSON string.
fn json_or_text(input: &RawJson) -> Box<RawValue> {
    let text = input.0.trim();
    let text = if text.is_empty() { "{}" } else { text };
    serde_json::from_str(text).unwrap_or_else(|_| {
        serde_json::value::to_raw_value(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
    })
}
