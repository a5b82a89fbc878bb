//! Claude Code's names for our tools and their fields, where it has them.
//!
//! Only what leaves this process is renamed; nothing that comes in is.

use hames_tools::aliases::{claude_tool, to_claude_input};
use hames_types::RawJson;
use serde_json::value::RawValue;

use crate::report::json_or_text;

pub fn tool(name: &str) -> &str {
    claude_tool(name)
}

/// `tool` is our name.
pub fn input(tool: &str, input: &RawJson) -> Box<RawValue> {
    json_or_text(&to_claude_input(tool, input))
}
