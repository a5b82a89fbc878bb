//! What a hook reads on its stdin, field by field in Claude Code's names.
//!
//! Facts of the session and the call; no judgement on them.

use hames_tools::aliases;
use hames_types::{Content, ToolCall, ToolResult};
use serde_json::{Value, json};

use super::HookSession;
use crate::settings::HookEvent;

pub fn before_tool(session: &HookSession, call: &ToolCall) -> Value {
    let about = json!({
        "tool_name": aliases::claude_tool(&call.name),
        "tool_input": tool_input(call),
        "tool_use_id": &*call.id.0,
    });
    with(session, HookEvent::PreToolUse, about)
}

pub fn after_tool(session: &HookSession, call: &ToolCall, result: &ToolResult) -> Value {
    let about = json!({
        "tool_name": aliases::claude_tool(&call.name),
        "tool_input": tool_input(call),
        "tool_response": tool_response(call, result),
        "tool_use_id": &*call.id.0,
    });
    with(session, HookEvent::PostToolUse, about)
}

pub fn prompt(session: &HookSession, prompt: &str) -> Value {
    with(
        session,
        HookEvent::UserPromptSubmit,
        json!({ "prompt": prompt }),
    )
}

pub fn stop(session: &HookSession, last: &str, again: bool) -> Value {
    let about = json!({ "stop_hook_active": again, "last_assistant_message": last });
    with(session, HookEvent::Stop, about)
}

fn with(session: &HookSession, event: HookEvent, about: Value) -> Value {
    let mut input = json!({
        "session_id": session.session_id,
        "transcript_path": session.transcript_path.to_string_lossy(),
        "cwd": session.workspace.to_string_lossy(),
        "hook_event_name": event.as_str(),
        "permission_mode": session.mode.claude_name(),
    });
    if let (Value::Object(input), Value::Object(about)) = (&mut input, about) {
        input.extend(about);
    }
    input
}

/// Arguments that are no JSON are given as the text they are.
fn tool_input(call: &ToolCall) -> Value {
    let input = aliases::to_claude_input(&call.name, &call.input);
    input
        .parse()
        .unwrap_or_else(|_| call.input.0.to_string().into())
}

/// One text, under the names by which scripts look for it.
fn tool_response(call: &ToolCall, result: &ToolResult) -> Value {
    let texts = result.content.iter().filter_map(Content::as_text);
    let text: String = texts.collect();
    match call.name.as_str() {
        "bash" => json!({ "content": text, "stdout": text, "stderr": "", "interrupted": false }),
        "read" | "write" | "edit" => {
            let input = tool_input(call);
            let path = input.get("file_path").cloned().unwrap_or_default();
            json!({ "content": text, "filePath": path, "success": true })
        }
        _ => json!({ "content": text }),
    }
}
