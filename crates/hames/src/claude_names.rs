//! Claude Code's names for our tools and their fields, where it has them.
//!
//! Only what leaves this process is renamed; nothing that comes in is.

use hames_types::RawJson;
use serde_json::value::RawValue;

pub fn tool(name: &str) -> &str {
    name
}

pub fn input(_tool: &str, _input: &RawJson) -> Option<Box<RawValue>> {
    None
}
