//! Messages of a chat completions request, round by round.
//!
//! A call without its answer, or an answer without its call, goes no further than here.

use hames_types::{ApiKind, Block, BlockKind, CallId, Content, Echo, RawJson, ToolCall};
use serde_json::Value;

use super::{empty_array, missing, wrong_type};
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
    let messages = body.get("messages").ok_or_else(|| missing("messages"))?;
    let expected = "an array of objects";
    let messages = messages
        .as_array()
        .ok_or_else(|| wrong_type("messages", expected, messages))?;
    if messages.is_empty() {
        return Err(empty_array("messages"));
    }
    let mut open = Open::default();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        let fields = message
            .as_object()
            .ok_or_else(|| wrong_type(&at, "an object", message))?;
        let role = read::text(fields, "role").ok_or_else(|| missing(&format!("{at}.role")))?;
        if role == "tool" {
            let result = result(fields, index, &at)?;
            open.answer(&result.call, index)?;
            push_result(&mut request.messages, result);
            continue;
        }
        open.must_be_answered(index)?;
        match role {
            "system" | "developer" => request.system.push(text_of(fields, &at)?),
            "user" => {
                refuse_neighbours(template, &request.messages)?;
                let content = content(fields, &at, &request.model)?;
                request.messages.push(ServedMessage::User(content));
            }
            "assistant" => {
                let blocks = assistant(fields, &at)?;
                open = Open::of(&blocks, index)?;
                request.messages.push(ServedMessage::Assistant(blocks));
            }
            other => return Err(unknown_role(other, &at)),
        }
    }
    open.must_be_answered(messages.len())
}

/// The calls that no tool message has answered yet.
#[derive(Default)]
struct Open {
    asked: Vec<CallId>,
    unanswered: Vec<CallId>,
}

impl Open {
    fn of(blocks: &[Block], index: usize) -> Result<Self, Refusal> {
        let mut asked: Vec<CallId> = Vec::new();
        for block in blocks {
            if let BlockKind::ToolCall(call) = &block.kind {
                if asked.contains(&call.id) {
                    return Err(duplicate(&call.id, index, "tool_calls"));
                }
                asked.push(call.id.clone());
            }
        }
        let unanswered = asked.clone();
        Ok(Self { asked, unanswered })
    }

    fn answer(&mut self, call: &CallId, index: usize) -> Result<(), Refusal> {
        if self.asked.is_empty() {
            let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
            return Err(Refusal::bad(message).at(format!("messages.[{index}].role")));
        }
        if let Some(place) = self.unanswered.iter().position(|open| open == call) {
            self.unanswered.remove(place);
            return Ok(());
        }
        if self.asked.contains(call) {
            return Err(duplicate(call, index, "tool_call_id"));
        }
        let message = format!(
            "Invalid parameter: 'tool_call_id' of '{}' not found in 'tool_calls' of previous message.",
            call.0
        );
        Err(Refusal::bad(message).at(format!("messages.[{index}].tool_call_id")))
    }

    fn must_be_answered(&mut self, index: usize) -> Result<(), Refusal> {
        if self.unanswered.is_empty() {
            self.asked.clear();
            return Ok(());
        }
        let ids: Vec<_> = self.unanswered.iter().map(|id| &*id.0).collect();
        let message = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            ids.join(", ")
        );
        Err(Refusal::bad(message).at(format!("messages.[{index}].role")))
    }
}

fn duplicate(call: &CallId, index: usize, key: &str) -> Refusal {
    let message = format!(
        "Duplicate value for 'tool_call_id' of '{}' in message[{index}].",
        call.0
    );
    Refusal::bad(message).at(format!("messages.[{index}].{key}"))
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

fn unknown_role(role: &str, at: &str) -> Refusal {
    let message = format!(
        "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
    );
    Refusal::bad(message).at(format!("{at}.role"))
}

fn push_result(messages: &mut Vec<ServedMessage>, result: ServedResult) {
    match messages.last_mut() {
        Some(ServedMessage::Tool(results)) => results.push(result),
        Some(ServedMessage::User(_) | ServedMessage::Assistant(_)) | None => {
            messages.push(ServedMessage::Tool(vec![result]));
        }
    }
}

fn result(fields: &Object, index: usize, at: &str) -> Result<ServedResult, Refusal> {
    let id = read::text(fields, "tool_call_id").ok_or_else(|| {
        let message = "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.";
        Refusal::bad(message).at(format!("messages.[{index}].tool_call_id"))
    })?;
    let (call, content) = (id.into(), Content::text(text_of(fields, at)?));
    let is_error = false;
    Ok(ServedResult {
        call,
        is_error,
        content,
    })
}

/// A text, or parts that are all text.
fn text_of(fields: &Object, at: &str) -> Result<String, Refusal> {
    match fields.get("content") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let part = |(index, part): (usize, &Value)| match part["type"].as_str() {
                Some("text") => part_text(part, at, index).map(str::to_owned),
                other => Err(unknown_part(other, at, index, "'text'")),
            };
            parts
                .iter()
                .enumerate()
                .map(part)
                .collect::<Result<String, _>>()
        }
        other => Err(no_content(other.unwrap_or(&Value::Null), at)),
    }
}

fn no_content(value: &Value, at: &str) -> Refusal {
    let got = read::type_of(value);
    Refusal::bad(format!(
        "Invalid value for 'content': expected a string, got {got}."
    ))
    .at(format!("{at}.content"))
}

fn unknown_part(kind: Option<&str>, at: &str, index: usize, known: &str) -> Refusal {
    let kind = kind.unwrap_or_default();
    Refusal::bad(format!(
        "Invalid value: '{kind}'. Supported values are: {known}."
    ))
    .at(format!("{at}.content[{index}].type"))
}

fn part_text<'a>(part: &'a Value, at: &str, index: usize) -> Result<&'a str, Refusal> {
    part["text"]
        .as_str()
        .ok_or_else(|| missing(&format!("{at}.content[{index}].text")))
}

fn content(fields: &Object, at: &str, model: &str) -> Result<Vec<Content>, Refusal> {
    match fields.get("content") {
        Some(Value::String(text)) => Ok(Content::text(text.clone())),
        Some(Value::Array(parts)) if parts.is_empty() => Err(empty_array(&format!("{at}.content"))),
        Some(Value::Array(parts)) => {
            let part = |(index, value)| part(value, at, index, model);
            parts.iter().enumerate().map(part).collect()
        }
        other => Err(no_content(other.unwrap_or(&Value::Null), at)),
    }
}

fn part(part: &Value, at: &str, index: usize, model: &str) -> Result<Content, Refusal> {
    match part["type"].as_str() {
        Some("text") => {
            let text = part_text(part, at, index)?.to_owned();
            Ok(Content::Text { text })
        }
        Some("image_url") => {
            let param = format!("{at}.content[{index}].image_url.url");
            let url = part["image_url"]["url"]
                .as_str()
                .ok_or_else(|| missing(&param))?;
            let image = |(media_type, base64): (&str, &str)| Content::Image {
                media_type: media_type.to_owned(),
                base64: base64.into(),
            };
            Ok(read::data_url(url).map_or_else(|| opaque(part, model), image))
        }
        Some("file" | "input_audio") => Ok(opaque(part, model)),
        other => {
            let known = "'text', 'image_url', 'input_audio', and 'file'";
            Err(unknown_part(other, at, index, known))
        }
    }
}

fn opaque(part: &Value, model: &str) -> Content {
    Content::Opaque(Echo {
        api: ApiKind::OpenaiChat,
        model: model.into(),
        json: RawJson(part.to_string().into()),
    })
}

fn assistant(fields: &Object, at: &str) -> Result<Vec<Block>, Refusal> {
    let mut blocks = Vec::new();
    let reasoning = ["reasoning_content", "reasoning"];
    let reasoning = reasoning.iter().find_map(|key| read::text(fields, key));
    if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
        let text = text.to_owned();
        blocks.push(block(BlockKind::Reasoning { text }));
    }
    let calls = read::given(fields, "tool_calls");
    match read::given(fields, "content") {
        Some(_) => {
            let text = text_of(fields, at)?;
            if !text.is_empty() {
                blocks.push(block(BlockKind::Text { text }));
            }
        }
        None if calls.is_some() => {}
        None => return Err(no_content(&Value::Null, at)),
    }
    if let Some(calls) = calls {
        blocks.extend(tool_calls(calls, &format!("{at}.tool_calls"))?);
    }
    Ok(blocks)
}

fn tool_calls(calls: &Value, at: &str) -> Result<Vec<Block>, Refusal> {
    let calls = calls
        .as_array()
        .ok_or_else(|| wrong_type(at, "an array of objects", calls))?;
    if calls.is_empty() {
        return Err(empty_array(at));
    }
    let call = |(index, value)| call(value, &format!("{at}[{index}]"));
    let calls = calls.iter().enumerate().map(call);
    calls
        .map(|call| Ok(block(BlockKind::ToolCall(call?))))
        .collect()
}

fn call(call: &Value, at: &str) -> Result<ToolCall, Refusal> {
    let id = call["id"].as_str().filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| missing(&format!("{at}.id")))?;
    if call["type"] != "function" {
        return Err(missing(&format!("{at}.type")));
    }
    let function = &call["function"];
    let name = function["name"].as_str();
    let name = name.ok_or_else(|| missing(&format!("{at}.function.name")))?;
    let param = format!("{at}.function.arguments");
    let arguments = match &function["arguments"] {
        Value::String(arguments) => arguments.as_str(),
        Value::Null => return Err(missing(&param)),
        other => return Err(wrong_type(&param, "a string", other)),
    };
    let (id, name, input) = (id.into(), name.to_owned(), arguments.into());
    Ok(ToolCall { id, name, input })
}

fn block(kind: BlockKind) -> Block {
    Block { kind, echo: None }
}
