//! Messages of an Anthropic request, round by round.
//!
//! Results stand first in the message that follows their calls, or nothing goes through.

use std::collections::BTreeSet;

use hames_types::{ApiKind, Block, BlockKind, CallId, Content, Echo, RawJson, ToolCall};
use serde_json::Value;

use super::{required, shape, thinking};
use crate::{
    request::{Refusal, ServedMessage, ServedResult},
    served::read::{self, Object},
};

pub(super) fn decode(
    body: &Object,
    model: &str,
    thinks: bool,
) -> Result<Vec<ServedMessage>, Refusal> {
    let messages = body.get("messages").ok_or_else(|| required("messages"))?;
    let messages = messages
        .as_array()
        .ok_or_else(|| shape("messages", "a valid list"))?;
    if messages.is_empty() {
        return Err(Refusal::bad("messages: at least one message is required"));
    }
    let mut reading = Reading {
        model,
        thinks,
        served: Vec::new(),
        asked: Vec::new(),
        all_ids: BTreeSet::new(),
        unthought: None,
    };
    for (index, message) in messages.iter().enumerate() {
        reading.message(index, message, index + 1 == messages.len())?;
    }
    reading.must_be_answered(messages.len(), &[])?;
    match reading.unthought {
        Some(refusal) => Err(refusal),
        None => Ok(reading.served),
    }
}

struct Reading<'a> {
    model: &'a str,
    /// Thinking is switched on.
    thinks: bool,
    served: Vec<ServedMessage>,
    /// The calls of the message before.
    asked: Vec<CallId>,
    all_ids: BTreeSet<CallId>,
    /// The last assistant message asked for tools without a thought, where one was due.
    unthought: Option<Refusal>,
}

impl Reading<'_> {
    fn message(&mut self, index: usize, message: &Value, is_last: bool) -> Result<(), Refusal> {
        let at = format!("messages.{index}");
        let fields = message.as_object().ok_or_else(|| shape(&at, "an object"))?;
        if let Some(key) = fields
            .keys()
            .find(|key| *key != "role" && *key != "content")
        {
            return Err(Refusal::bad(format!(
                "{at}.{key}: Extra inputs are not permitted"
            )));
        }
        let content = blocks(fields, &at)?;
        match read::text(fields, "role") {
            Some("user") => self.user(index, &content, &at),
            Some("assistant") if index == 0 => Err(Refusal::bad(
                "messages: first message must use the \"user\" role",
            )),
            Some("assistant") => self.assistant(index, &content, &at, is_last),
            Some(other) => {
                let message = format!(
                    "messages: Unexpected role \"{other}\". Allowed roles are \"user\" or \"assistant\"."
                );
                Err(Refusal::bad(message))
            }
            None => Err(required(&format!("{at}.role"))),
        }
    }

    fn user(&mut self, index: usize, content: &[Value], at: &str) -> Result<(), Refusal> {
        if content.is_empty() {
            let message = format!("{at}: user messages must have non-empty content");
            return Err(Refusal::bad(message));
        }
        let is_result = |block: &&Value| block["type"] == "tool_result";
        let first_results = content.iter().take_while(is_result).count();
        let mut results = Vec::new();
        for (place, block) in content
            .iter()
            .enumerate()
            .filter(|(_, block)| is_result(block))
        {
            results.push(self.result(block, &format!("{at}.content.{place}"))?);
        }
        self.must_be_answered(index, results.get(..first_results).unwrap_or(&results))?;
        self.must_be_asked(&results, at)?;
        self.asked.clear();
        let rest = content
            .iter()
            .enumerate()
            .filter(|(_, block)| !is_result(block));
        let rest = rest.map(|(place, block)| self.content(block, &format!("{at}.content.{place}")));
        let rest: Vec<Content> = rest.collect::<Result<_, _>>()?;
        if !results.is_empty() {
            self.served.push(ServedMessage::Tool(results));
        }
        if !rest.is_empty() {
            self.served.push(ServedMessage::User(rest));
        }
        Ok(())
    }

    fn must_be_asked(&self, results: &[ServedResult], at: &str) -> Result<(), Refusal> {
        for (place, result) in results.iter().enumerate() {
            let id = &result.call.0;
            if !self.asked.contains(&result.call) {
                let message = format!(
                    "{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                );
                return Err(Refusal::bad(message));
            }
            if results
                .iter()
                .take(place)
                .any(|earlier| earlier.call == result.call)
            {
                let message = format!(
                    "{at}.content.{place}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
                );
                return Err(Refusal::bad(message));
            }
        }
        Ok(())
    }

    /// Only results that nothing stands before count as being there.
    fn must_be_answered(&self, index: usize, results: &[ServedResult]) -> Result<(), Refusal> {
        let answered = |id: &&CallId| !results.iter().any(|result| result.call == **id);
        let open: Vec<_> = self
            .asked
            .iter()
            .filter(answered)
            .map(|id| &*id.0)
            .collect();
        if open.is_empty() {
            return Ok(());
        }
        let (before, ids) = (index.saturating_sub(1), open.join(", "));
        Err(Refusal::bad(format!(
            "messages.{before}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )))
    }

    fn result(&self, block: &Value, at: &str) -> Result<ServedResult, Refusal> {
        let id = block["tool_use_id"].as_str();
        let id = id.ok_or_else(|| required(&format!("{at}.tool_result.tool_use_id")))?;
        let content = match &block["content"] {
            Value::Null => Vec::new(),
            Value::String(text) => Content::text(text.clone()),
            Value::Array(blocks) => {
                let blocks = blocks.iter().enumerate();
                let inner = |(place, block)| {
                    self.content(block, &format!("{at}.tool_result.content.{place}"))
                };
                blocks.map(inner).collect::<Result<_, _>>()?
            }
            _ => return Err(shape(&format!("{at}.tool_result.content"), "a valid list")),
        };
        let is_error = block["is_error"] == true;
        Ok(ServedResult {
            call: id.into(),
            is_error,
            content,
        })
    }

    fn content(&self, block: &Value, at: &str) -> Result<Content, Refusal> {
        let source = &block["source"];
        let inline = (source["media_type"].as_str(), source["data"].as_str());
        match (block["type"].as_str(), inline) {
            (Some("text"), _) => {
                let text = text(block, at)?.to_owned();
                Ok(Content::Text { text })
            }
            (Some("image"), (Some(media_type), Some(data))) => {
                let (media_type, base64) = (media_type.to_owned(), data.into());
                Ok(Content::Image { media_type, base64 })
            }
            (Some("document"), (Some(media_type), Some(data))) if source["type"] == "base64" => {
                let (media_type, base64) = (media_type.to_owned(), data.into());
                Ok(Content::Document { media_type, base64 })
            }
            (Some("image" | "document"), _) if source.is_null() => {
                Err(required(&format!("{at}.source")))
            }
            (Some("tool_use" | "thinking" | "redacted_thinking"), _) => {
                let kind = block["type"].as_str().unwrap_or_default();
                let message = format!("{at}: `{kind}` blocks can only be in `assistant` messages");
                Err(Refusal::bad(message))
            }
            (Some(_), _) => Ok(Content::Opaque(self.echo(block))),
            (None, _) => Err(required(&format!("{at}.type"))),
        }
    }

    fn assistant(
        &mut self,
        index: usize,
        content: &[Value],
        at: &str,
        is_last: bool,
    ) -> Result<(), Refusal> {
        self.must_be_answered(index, &[])?;
        if content.is_empty() && !is_last {
            let message = format!(
                "{at}: all messages must have non-empty content except for the optional final assistant message"
            );
            return Err(Refusal::bad(message));
        }
        let mut blocks = Vec::new();
        for (place, block) in content.iter().enumerate() {
            blocks.push(self.block(block, &format!("{at}.content.{place}"))?);
        }
        if is_last && ends_in_blanks(&blocks) {
            let message = "messages: final assistant content cannot end with trailing whitespace";
            return Err(Refusal::bad(message));
        }
        self.asked = blocks.iter().filter_map(asked).collect();
        let thought = !self.thinks || self.asked.is_empty() || starts_with_thinking(content);
        self.unthought = (!thought).then(|| unthought(content, at));
        for id in &self.asked {
            if !self.all_ids.insert(id.clone()) {
                return Err(Refusal::bad(format!("{at}: `tool_use` ids must be unique")));
            }
        }
        self.served.push(ServedMessage::Assistant(blocks));
        Ok(())
    }

    fn block(&self, block: &Value, at: &str) -> Result<Block, Refusal> {
        let own = |kind| Block { kind, echo: None };
        match block["type"].as_str() {
            Some("text") => {
                let text = text(block, at)?.to_owned();
                Ok(own(BlockKind::Text { text }))
            }
            Some("thinking") => {
                let text = thinking::check(block, at)?;
                let (kind, echo) = (BlockKind::Reasoning { text }, Some(self.echo(block)));
                Ok(Block { kind, echo })
            }
            Some("tool_use") => Ok(own(BlockKind::ToolCall(call(block, at)?))),
            Some("tool_result") => {
                let message = format!("{at}: `tool_result` blocks can only be in `user` messages");
                Err(Refusal::bad(message))
            }
            Some(_) => {
                let (kind, echo) = (BlockKind::Opaque, Some(self.echo(block)));
                Ok(Block { kind, echo })
            }
            None => Err(required(&format!("{at}.type"))),
        }
    }

    fn echo(&self, block: &Value) -> Echo {
        Echo {
            api: ApiKind::AnthropicMessages,
            model: self.model.into(),
            json: RawJson(block.to_string().into()),
        }
    }
}

/// A text is short for one block of it.
fn blocks(fields: &Object, at: &str) -> Result<Vec<Value>, Refusal> {
    match fields.get("content") {
        None => Err(required(&format!("{at}.content"))),
        Some(Value::String(text)) => Ok(vec![serde_json::json!({"type": "text", "text": text})]),
        Some(Value::Array(blocks)) => Ok(blocks.clone()),
        Some(_) => Err(shape(&format!("{at}.content"), "a valid list")),
    }
}

fn text<'a>(block: &'a Value, at: &str) -> Result<&'a str, Refusal> {
    let text = block["text"].as_str();
    let text = text.ok_or_else(|| required(&format!("{at}.text.text")))?;
    if text.is_empty() {
        return Err(Refusal::bad(
            "messages: text content blocks must be non-empty",
        ));
    }
    if text.chars().all(char::is_whitespace) {
        let message = "messages: text content blocks must contain non-whitespace text";
        return Err(Refusal::bad(message));
    }
    Ok(text)
}

fn call(block: &Value, at: &str) -> Result<ToolCall, Refusal> {
    let id = block["id"]
        .as_str()
        .ok_or_else(|| required(&format!("{at}.tool_use.id")))?;
    if !read::is_name(id, usize::MAX) {
        let message = format!("{at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'");
        return Err(Refusal::bad(message));
    }
    let name = block["name"]
        .as_str()
        .ok_or_else(|| required(&format!("{at}.tool_use.name")))?;
    let input = match block.get("input") {
        None => return Err(required(&format!("{at}.tool_use.input"))),
        Some(input) if !input.is_object() => {
            return Err(shape(&format!("{at}.tool_use.input"), "a valid dictionary"));
        }
        Some(input) => RawJson(input.to_string().into()),
    };
    let (id, name) = (id.into(), name.to_owned());
    Ok(ToolCall { id, name, input })
}

fn asked(block: &Block) -> Option<CallId> {
    match &block.kind {
        BlockKind::ToolCall(call) => Some(call.id.clone()),
        BlockKind::Text { .. } | BlockKind::Reasoning { .. } | BlockKind::Opaque => None,
    }
}

fn ends_in_blanks(blocks: &[Block]) -> bool {
    match blocks.last().map(|block| &block.kind) {
        Some(BlockKind::Text { text }) => text.ends_with(char::is_whitespace),
        Some(BlockKind::Reasoning { .. } | BlockKind::ToolCall(_) | BlockKind::Opaque) | None => {
            false
        }
    }
}

fn unthought(content: &[Value], at: &str) -> Refusal {
    let found = content.first().and_then(|block| block["type"].as_str());
    let found = found.unwrap_or_default();
    Refusal::bad(format!(
        "{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
    ))
}

fn starts_with_thinking(content: &[Value]) -> bool {
    let kind = content.first().and_then(|block| block["type"].as_str());
    matches!(kind, Some("thinking" | "redacted_thinking"))
}
