//! Messages of an Ollama request; results find their calls by id where they have one, else in order.
//!
//! It refuses a round that is not closed.

use hames_types::{Block, BlockKind, CallId, Content, RawJson, ToolCall};
use serde_json::Value;

use super::unreadable;
use crate::{
    request::{Refusal, ServedMessage, ServedRequest, ServedResult},
    served::{
        Template,
        read::{self, Object},
    },
};

pub(super) fn decode(
    body: &Object,
    template: Template,
    request: &mut ServedRequest,
) -> Result<(), Refusal> {
    let messages = body.get("messages").unwrap_or(&Value::Null);
    let messages = messages
        .as_array()
        .ok_or_else(|| unreadable(messages, "messages", "[]api.Message"))?;
    let mut open: Vec<CallId> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let expected = "api.Message";
        let fields = message
            .as_object()
            .ok_or_else(|| unreadable(message, "messages", expected))?;
        let role = read::text(fields, "role").unwrap_or_default();
        let text = content(fields)?;
        if role != "tool" {
            refuse_open(&open, index)?;
        }
        match role {
            "system" => request.system.push(text),
            "user" => {
                refuse_neighbours(template, &request.messages)?;
                request
                    .messages
                    .push(ServedMessage::User(user(fields, text)?));
            }
            "assistant" => {
                let blocks = assistant(fields, text, index)?;
                open = blocks.iter().filter_map(asked).collect();
                request.messages.push(ServedMessage::Assistant(blocks));
            }
            "tool" => {
                let call = answered(fields, &mut open, index)?;
                push_result(&mut request.messages, call, text);
            }
            other => return Err(Refusal::bad(format!("invalid role: {other:?}"))),
        }
    }
    refuse_open(&open, messages.len())
}

fn content(fields: &Object) -> Result<String, Refusal> {
    match read::given(fields, "content") {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(unreadable(other, "messages.content", "string")),
    }
}

fn user(fields: &Object, text: String) -> Result<Vec<Content>, Refusal> {
    let mut content = Content::text(text);
    let images = read::given(fields, "images").and_then(Value::as_array);
    for image in images.into_iter().flatten() {
        let base64 = image.as_str();
        let base64 = base64.ok_or_else(|| unreadable(image, "messages.images", "api.ImageData"))?;
        if base64.starts_with("data:") {
            let message = "illegal base64 data at input byte 4";
            return Err(Refusal::bad(message));
        }
        // The wire does not say what it is.
        let media_type = "image/*".to_owned();
        content.push(Content::Image {
            media_type,
            base64: base64.into(),
        });
    }
    Ok(content)
}

fn assistant(fields: &Object, text: String, index: usize) -> Result<Vec<Block>, Refusal> {
    let own = |kind| Block { kind, echo: None };
    let mut blocks = Vec::new();
    if let Some(thinking) = read::text(fields, "thinking").filter(|text| !text.is_empty()) {
        let text = thinking.to_owned();
        blocks.push(own(BlockKind::Reasoning { text }));
    }
    if !text.is_empty() {
        blocks.push(own(BlockKind::Text { text }));
    }
    let Some(calls) = read::given(fields, "tool_calls") else {
        return Ok(blocks);
    };
    let expected = "[]api.ToolCall";
    let calls = calls
        .as_array()
        .ok_or_else(|| unreadable(calls, "messages.tool_calls", expected))?;
    for (place, call) in calls.iter().enumerate() {
        let call = self::call(call, || format!("call_{index}_{place}"))?;
        let repeated = blocks.iter().filter_map(asked).any(|id| id == call.id);
        if repeated {
            let message = format!("messages[{index}]: two calls have the id {}", call.id.0);
            return Err(Refusal::bad(message));
        }
        blocks.push(own(BlockKind::ToolCall(call)));
    }
    Ok(blocks)
}

fn call(call: &Value, unnamed: impl FnOnce() -> String) -> Result<ToolCall, Refusal> {
    let function = &call["function"];
    let name = function["name"].as_str().unwrap_or_default();
    let arguments = &function["arguments"];
    if !arguments.is_object() {
        let field = "messages.tool_calls.function.arguments";
        return Err(unreadable(
            arguments,
            field,
            "api.ToolCallFunctionArguments",
        ));
    }
    let id = call["id"].as_str().filter(|id| !id.is_empty());
    let id = id.map_or_else(unnamed, str::to_owned);
    Ok(ToolCall {
        id: CallId(id.into()),
        name: name.to_owned(),
        input: RawJson(arguments.to_string().into()),
    })
}

fn answered(fields: &Object, open: &mut Vec<CallId>, index: usize) -> Result<CallId, Refusal> {
    let place = match read::text(fields, "tool_call_id").filter(|id| !id.is_empty()) {
        Some(id) => open.iter().position(|call| *call.0 == *id),
        None => (!open.is_empty()).then_some(0),
    };
    match place {
        Some(place) => Ok(open.remove(place)),
        None => Err(Refusal::bad(format!(
            "messages[{index}]: a tool message answers no open call"
        ))),
    }
}

fn push_result(messages: &mut Vec<ServedMessage>, call: CallId, text: String) {
    let (is_error, content) = (false, Content::text(text));
    let result = ServedResult {
        call,
        is_error,
        content,
    };
    match messages.last_mut() {
        Some(ServedMessage::Tool(results)) => results.push(result),
        Some(ServedMessage::User(_) | ServedMessage::Assistant(_)) | None => {
            messages.push(ServedMessage::Tool(vec![result]));
        }
    }
}

fn refuse_open(open: &[CallId], index: usize) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = open.iter().map(|id| &*id.0).collect();
    let message = format!(
        "messages[{index}]: calls have no result before it: {}",
        ids.join(", ")
    );
    Err(Refusal::bad(message))
}

/// What templates that alternate roles raise.
fn refuse_neighbours(template: Template, before: &[ServedMessage]) -> Result<(), Refusal> {
    let repeats = matches!(before.last(), Some(ServedMessage::User(_)));
    if template == Template::Lenient || !repeats {
        return Ok(());
    }
    let message = "Conversation roles must alternate user/assistant/user/assistant/...";
    Err(Refusal::bad(message))
}

fn asked(block: &Block) -> Option<CallId> {
    match &block.kind {
        BlockKind::ToolCall(call) => Some(call.id.clone()),
        BlockKind::Text { .. } | BlockKind::Reasoning { .. } | BlockKind::Opaque => None,
    }
}
