//! Writes requests: a head once an epoch, each message once, and the body from their bytes.
//!
//! It looks at one message at a time, so that nothing sent before can change.

use bytes::Bytes;
use hames_types::{
    ApiKind, AssistantMessage, Block, BlockKind, Content, Encoded, Head, Message, Request,
    ResultStatus, ToolCall, ToolResult, ToolResults, ToolSpec, UserMessage,
};

use crate::{
    Delivery, arguments,
    pieces::{Joint, Marks, assemble},
    written,
};

const API: ApiKind = ApiKind::AnthropicMessages;

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// How much of a message stands behind the place for a marker: `}]}`.
const BEHIND_MARK: usize = 3;

/// Roles have to take turns, so neighbours of one role are one message.
static JOINTS: [Joint; 2] = [
    Joint {
        opening: r#"{"role":"user","content":["#,
        closing: "]}",
        between: ",",
    },
    Joint {
        opening: r#"{"role":"assistant","content":["#,
        closing: "]}",
        between: ",",
    },
];

pub(super) fn head(head: &Head) -> Bytes {
    let options = &head.options;
    let mut json = format!(
        r#"{{"model":{},"max_tokens":{}"#,
        written::string(&head.model),
        options.max_tokens
    );
    let effort = options.effort.as_deref();
    let thinking = effort.map(|effort| thinking(&head.model, effort, options.max_tokens));
    let thinking = thinking.unwrap_or_default();
    json += &thinking;
    if let Some(temperature) = options
        .temperature
        .filter(|_| !thinking.contains("thinking"))
    {
        // A model that thinks takes no temperature but its own.
        json += &format!(r#","temperature":{}"#, written::number(temperature));
    }
    let has_system = !head.system.trim().is_empty();
    if !head.tools.is_empty() {
        let last = head.tools.len() - 1;
        let tools = head.tools.iter().enumerate().map(|(index, spec)| {
            let marker = if !has_system && index == last {
                MARKER
            } else {
                ""
            };
            tool(spec, marker)
        });
        json += &format!(r#","tools":[{}]"#, written::joined(tools));
    }
    if has_system {
        let text = written::string(&head.system);
        json += &format!(r#","system":[{{"type":"text","text":{text}{MARKER}}}]"#);
    }
    json += r#","messages":["#;
    Bytes::from(json)
}

/// Models before `output_config` take a budget instead: <https://platform.claude.com/docs/en/build-with-claude/effort>.
const BY_BUDGET: &[&str] = &[
    "claude-3-7",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-sonnet-4-5",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2",
    "claude-haiku-4-5",
    "claude-4-",
];

/// The smallest budget that is accepted.
const LEAST_BUDGET: u32 = 1024;

fn thinking(model: &str, effort: &str, max_tokens: u32) -> String {
    if effort == "none" {
        return String::new();
    }
    if model.contains("claude-3-5") || model.contains("claude-3-haiku") {
        return String::new();
    }
    if !BY_BUDGET.iter().any(|old| model.contains(old)) {
        // This one has effort, but no thinking of its own measure.
        let adaptive = if model.contains("claude-opus-4-5") {
            ""
        } else {
            r#","thinking":{"type":"adaptive"}"#
        };
        let effort = written::string(effort);
        return format!(r#"{adaptive},"output_config":{{"effort":{effort}}}"#);
    }
    let wanted = match effort {
        "minimal" | "low" => 2048,
        "medium" => 8192,
        _ => 24576,
    };
    // The budget is part of the cap, and an answer has to fit beside it.
    let budget = wanted.min(max_tokens / 2).max(LEAST_BUDGET);
    if budget >= max_tokens {
        return String::new();
    }
    format!(r#","thinking":{{"type":"enabled","budget_tokens":{budget}}}"#)
}

fn tool(spec: &ToolSpec, marker: &str) -> String {
    format!(
        r#"{{"name":{},"description":{},"input_schema":{}{marker}}}"#,
        written::string(&spec.name),
        written::string(&spec.description),
        written::schema(&spec.input_schema)
    )
}

pub(super) fn message(head: &Head, message: &Message) -> Encoded {
    match message {
        Message::User(message) => markable("user", user(head, message)),
        Message::Tool(results) => markable("user", tool_results(head, results)),
        Message::Assistant(message) => {
            let blocks = assistant(head, message);
            let mark_at = None;
            let bytes = in_role("assistant", &blocks);
            Encoded { bytes, mark_at }
        }
    }
}

fn markable(role: &str, blocks: String) -> Encoded {
    let bytes = in_role(role, &blocks);
    let mark_at = bytes.len().checked_sub(BEHIND_MARK);
    Encoded { bytes, mark_at }
}

fn in_role(role: &str, blocks: &str) -> Bytes {
    if blocks.is_empty() {
        return Bytes::new();
    }
    Bytes::from(format!(r#"{{"role":"{role}","content":[{blocks}]}}"#))
}

fn user(head: &Head, message: &UserMessage) -> String {
    let blocks = written::joined(contents(head, &message.content));
    if blocks.is_empty() {
        // There is no user message without words.
        return text("(empty)");
    }
    blocks
}

fn contents(head: &Head, content: &[Content]) -> impl Iterator<Item = String> {
    content.iter().filter_map(|content| part(head, content))
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, written::string(text))
}

fn part(head: &Head, content: &Content) -> Option<String> {
    match content {
        Content::Text { text } if text.trim().is_empty() => None,
        Content::Image { media_type, base64 }
            if written::is_picture(media_type) && written::is_base64(base64) =>
        {
            Some(source("image", media_type, base64))
        }
        Content::Document { media_type, base64 }
            if media_type == "application/pdf" && written::is_base64(base64) =>
        {
            Some(source("document", media_type, base64))
        }
        Content::Opaque(echo) if written::echo(Some(echo), API, head).is_some() => {
            Some(echo.json.0.to_string())
        }
        Content::Text { .. }
        | Content::Image { .. }
        | Content::Document { .. }
        | Content::Blob(_)
        | Content::Opaque(_) => Some(text(&written::note(content))),
    }
}

fn source(kind: &str, media_type: &str, base64: &str) -> String {
    let source = format!(r#"{{"type":"base64","media_type":"{media_type}","data":"{base64}"}}"#);
    format!(r#"{{"type":"{kind}","source":{source}}}"#)
}

fn tool_results(head: &Head, results: &ToolResults) -> String {
    written::joined(results.iter().map(|result| tool_result(head, result)))
}

fn tool_result(head: &Head, result: &ToolResult) -> String {
    let id = written::string(&written::identifier(&result.call.0));
    let blocks = written::joined(contents(head, &result.content));
    let content = match blocks.is_empty() {
        true => String::new(),
        false => format!(r#","content":[{blocks}]"#),
    };
    let failed = match result.status {
        ResultStatus::Ok => "",
        ResultStatus::Error | ResultStatus::Denied | ResultStatus::Interrupted => {
            r#","is_error":true"#
        }
    };
    format!(r#"{{"type":"tool_result","tool_use_id":{id}{content}{failed}}}"#)
}

fn assistant(head: &Head, message: &AssistantMessage) -> String {
    written::joined(
        message
            .blocks
            .iter()
            .filter_map(|block| assistant_block(head, block)),
    )
}

fn assistant_block(head: &Head, block: &Block) -> Option<String> {
    let echo = written::echo(block.echo.as_ref(), API, head).map(str::to_owned);
    match &block.kind {
        BlockKind::Text { text } if text.trim().is_empty() => None,
        BlockKind::Text { text: words } => Some(echo.unwrap_or_else(|| text(words))),
        BlockKind::ToolCall(call) => Some(echo.unwrap_or_else(|| tool_use(call))),
        // Thinking that another model signed, or nobody, would have the whole request refused.
        BlockKind::Reasoning { .. } | BlockKind::Opaque => echo,
    }
}

fn tool_use(call: &ToolCall) -> String {
    format!(
        r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
        written::string(&written::identifier(&call.id.0)),
        written::string(&written::name(&call.name)),
        arguments::as_object(&call.input.0)
    )
}

pub(super) fn body(request: &Request<'_>, delivery: Delivery) -> Vec<Bytes> {
    let tail: &[u8] = match delivery {
        Delivery::Stream => br#"],"stream":true}"#,
        Delivery::Whole => b"]}",
    };
    let marks = Marks {
        marker: MARKER,
        places: &places_to_mark(request.messages),
    };
    let (head, messages) = (request.head_bytes, request.messages);
    assemble(head, messages, &JOINTS, &marks, Bytes::from_static(tail))
}

/// The end, to be read from the next time, and where the request before this one ended.
///
/// With the head's own marker that is three of the four that are allowed.
fn places_to_mark(messages: &[Encoded]) -> Vec<usize> {
    let markable = |index: &usize| {
        messages
            .get(*index)
            .is_some_and(|one| one.mark_at.is_some())
    };
    let last = (0..messages.len()).rev().find(markable);
    let since_then = last.unwrap_or_default();
    let answer = (0..since_then).rev().find(|index| !markable(index));
    let before = (0..answer.unwrap_or_default()).rev().find(markable);
    before.into_iter().chain(last).collect()
}
