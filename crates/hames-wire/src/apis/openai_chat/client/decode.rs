//! Folds chunks, or one whole body, into events.
//!
//! The message ends with a `finish_reason`; it reports no end that the wire did not tell.

use hames_types::{ModelEvent, ProviderError, ProviderErrorKind, StopReason};
use serde_json::value::RawValue;

use super::{
    calls::Calls,
    chunk::{CallDelta, Choice, Chunk, Content, Delta, Part, WireUsage},
    details::Details,
};
use crate::{
    body::{Fold, parse},
    errors,
    lenient::Text,
};

/// The answer so far: which blocks it has, and what is held back.
#[derive(Default)]
pub(super) struct Answer {
    next_block: u32,
    text: Option<u32>,
    reasoning: Option<u32>,
    refused: bool,
    calls: Calls,
    echo: ReasoningEcho,
}

/// What has to go back with the next request, in the field that it came in.
#[derive(Default)]
struct ReasoningEcho {
    field: &'static str,
    text: String,
    details: Details,
    changed: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Came {
    InPieces,
    Whole,
}

impl Fold for Answer {
    fn value(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        self.take_in(json, Came::InPieces, out)
    }

    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        self.take_in(json, Came::Whole, out)
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        self.let_go(out);
    }
}

impl Answer {
    fn take_in(
        &mut self,
        json: &str,
        came: Came,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        if json.starts_with('[') {
            return Err(errors::in_answer(json));
        }
        let mut room = String::new();
        let chunk: Chunk<'_> = parse(json, &mut room)?;
        if errors::is_told(chunk.error) || chunk.object.as_str() == "error" {
            return Err(errors::in_answer(json));
        }
        let speaks = !chunk.message.is_empty() || chunk.detail.is_some();
        if chunk.choices.is_none() && (came == Came::Whole || speaks) {
            return Err(errors::in_answer(json));
        }
        let groq = chunk.x_groq.and_then(|groq| groq.usage);
        report(chunk.usage.or(groq), out);
        for choice in chunk.choices.unwrap_or_default() {
            // Other choices are other answers to the same question; one is enough.
            if choice.index.or_zero() == 0 {
                self.choice(choice, came, out)?;
            }
        }
        Ok(())
    }

    fn choice(
        &mut self,
        choice: Choice<'_>,
        came: Came,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        report(choice.usage, out);
        let delta = match came {
            Came::InPieces => choice.delta.or(choice.message),
            Came::Whole => choice.message.or(choice.delta),
        };
        if let Some(delta) = delta {
            self.delta(delta, came, out);
        }
        let reason = choice.finish_reason.as_str();
        if reason.is_empty() && came == Came::InPieces {
            return Ok(());
        }
        self.let_go(out);
        let stop = stop_reason(reason)?;
        out.push(ModelEvent::Finished(match stop {
            StopReason::EndTurn if self.refused => StopReason::Refusal,
            stop => stop,
        }));
        Ok(())
    }

    fn delta(&mut self, delta: Delta<'_>, came: Came, out: &mut Vec<ModelEvent>) {
        let named = [
            ("reasoning_content", delta.reasoning_content),
            ("reasoning", delta.reasoning),
            ("reasoning_text", delta.reasoning_text),
        ];
        // Some send the same text under two names.
        let thought = named.into_iter().find(|(_, text)| !text.is_empty());
        if let Some((field, text)) = thought {
            self.think(field, text.into_string(), out);
        }
        if let Some(details) = delta.reasoning_details {
            self.keep_details(details, came, out);
        }
        match delta.content {
            Content::Nothing => {}
            Content::Text(text) => self.say(text.into_owned(), out),
            Content::Parts(parts) => parts.into_iter().for_each(|part| self.part(part, out)),
        }
        self.refuse(delta.refusal, out);
        let legacy = delta.function_call.map(|function| CallDelta {
            function: Some(function),
            ..CallDelta::default()
        });
        let legacy = legacy.filter(says_something);
        let calls = delta.tool_calls.unwrap_or_default().into_iter().flatten();
        for call in calls.chain(legacy) {
            match came {
                Came::InPieces => self.calls.take_in(call, &mut self.next_block, out),
                Came::Whole => self.calls.take_whole(call, &mut self.next_block, out),
            }
        }
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<ModelEvent>) {
        if let Some(thinking) = part.thinking {
            let inner: Content<'_> = serde_json::from_str(thinking.get()).unwrap_or_default();
            match inner {
                Content::Nothing => {}
                Content::Text(text) => self.think("content", text.into_owned(), out),
                Content::Parts(parts) => parts
                    .into_iter()
                    .for_each(|part| self.think("content", part.text.into_string(), out)),
            }
            return;
        }
        self.refuse(part.refusal, out);
        match part.kind.as_str() {
            "thinking" | "reasoning" => self.think("content", part.text.into_string(), out),
            _ => self.say(part.text.into_string(), out),
        }
    }

    fn say(&mut self, text: String, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        let block = claim(&mut self.text, &mut self.next_block);
        out.push(ModelEvent::TextDelta { block, text });
    }

    /// A refusal is an answer in words, and the words are all there is.
    fn refuse(&mut self, words: Text<'_>, out: &mut Vec<ModelEvent>) {
        self.refused = self.refused || !words.is_empty();
        self.say(words.into_string(), out);
    }

    fn think(&mut self, field: &'static str, text: String, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        let block = claim(&mut self.reasoning, &mut self.next_block);
        self.echo.field = field;
        self.echo.text += &text;
        self.echo.changed = true;
        out.push(ModelEvent::ReasoningDelta { block, text });
    }

    fn keep_details(&mut self, details: &RawValue, came: Came, out: &mut Vec<ModelEvent>) {
        match came {
            Came::InPieces => self.echo.details.take_in(details),
            Came::Whole => self.echo.details.take_whole(details),
        }
        if self.echo.details.is_empty() {
            return;
        }
        self.echo.changed = true;
        if self.reasoning.is_none() {
            let block = claim(&mut self.reasoning, &mut self.next_block);
            let text = String::new();
            out.push(ModelEvent::ReasoningDelta { block, text });
        }
    }

    fn let_go(&mut self, out: &mut Vec<ModelEvent>) {
        self.calls.flush(out);
        if let Some(block) = self.reasoning
            && std::mem::take(&mut self.echo.changed)
        {
            let json = self.echo.to_json();
            out.push(ModelEvent::BlockEcho { block, json });
        }
    }
}

impl ReasoningEcho {
    fn to_json(&self) -> String {
        if !self.details.is_empty() {
            return format!(r#"{{"reasoning_details":{}}}"#, self.details.to_json());
        }
        let text = serde_json::to_string(&self.text).unwrap_or_default();
        match self.field {
            "content" => format!(
                r#"{{"content":[{{"type":"thinking","thinking":[{{"type":"text","text":{text}}}]}}]}}"#
            ),
            field => format!(r#"{{"{field}":{text}}}"#),
        }
    }
}

fn claim(block: &mut Option<u32>, next: &mut u32) -> u32 {
    *block.get_or_insert_with(|| {
        let claimed = *next;
        *next = next.saturating_add(1);
        claimed
    })
}

fn says_something(call: &CallDelta<'_>) -> bool {
    let function = call.function.as_ref();
    function.is_some_and(|function| {
        let empty = function.arguments.is_none_or(|text| text.get() == r#""""#);
        !function.name.is_empty() || !empty
    })
}

fn report(usage: Option<WireUsage>, out: &mut Vec<ModelEvent>) {
    if let Some(usage) = usage {
        out.push(ModelEvent::Usage(usage.counts()));
    }
}

/// The wire's four reasons, and what its dialects say instead.
fn stop_reason(reason: &str) -> Result<StopReason, ProviderError> {
    let lower = reason.to_ascii_lowercase();
    let stop = match lower.as_str() {
        "stop" | "end_turn" | "eos" | "eos_token" | "complete" => StopReason::EndTurn,
        "stop_sequence" => StopReason::StopSequence,
        "length" | "max_tokens" | "max_output_tokens" => StopReason::MaxTokens,
        "model_length" | "context_length_exceeded" => StopReason::ContextExceeded,
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => StopReason::ToolUse,
        "content_filter" | "safety" | "sensitive" => StopReason::ContentFilter,
        "refusal" => StopReason::Refusal,
        "error" | "network_error" | "insufficient_system_resource" => {
            let message = format!("the server gave up in the middle of its answer ({reason})");
            return Err(ProviderError::new(ProviderErrorKind::Overloaded, message));
        }
        _ => StopReason::Unknown,
    };
    Ok(stop)
}
