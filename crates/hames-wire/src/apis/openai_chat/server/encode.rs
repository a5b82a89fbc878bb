//! Answers as chat completions write them, in chunks or whole.
//!
//! Ids and dates are fixed: nothing may hang on them.

use std::collections::BTreeMap;

use hames_types::{ModelEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::error_object;
use crate::{
    request::{Refusal, ServedRequest},
    served::{
        Encoder,
        answer::{Answer, id_of},
    },
};

const ID: &str = "chatcmpl-";

pub(super) struct Stream {
    id: String,
    model: String,
    usage: Usage,
    /// By block: a call's index on the wire.
    calls: BTreeMap<u32, usize>,
}

impl Stream {
    pub fn new(request: &ServedRequest, usage: Usage) -> Self {
        Self {
            id: id_of(request, ID),
            model: request.model.clone(),
            usage,
            calls: BTreeMap::new(),
        }
    }

    fn delta(&self, delta: Value, finish: Option<&str>) -> Vec<u8> {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        data(&self.chunk(json!([choice])))
    }

    fn chunk(&self, choices: Value) -> Value {
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": 0, "model": self.model,
            "choices": choices,
        })
    }

    /// Usage comes whether it was asked for or not, as from most services.
    fn finished(&self, stop: StopReason) -> Vec<Vec<u8>> {
        let mut usage = self.chunk(json!([]));
        usage["usage"] = usage_object(self.usage);
        let done = b"data: [DONE]\n\n".to_vec();
        vec![
            self.delta(json!({}), Some(finish_reason(stop))),
            data(&usage),
            done,
        ]
    }
}

impl Encoder for Stream {
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    fn begin(&mut self) -> Vec<Vec<u8>> {
        vec![self.delta(json!({"role": "assistant", "content": ""}), None)]
    }

    fn event(&mut self, event: &ModelEvent) -> Vec<Vec<u8>> {
        let delta = match event {
            ModelEvent::TextDelta { text, .. } => json!({"content": text}),
            ModelEvent::ReasoningDelta { text, .. } => json!({"reasoning_content": text}),
            ModelEvent::CallStarted { block, id, name } => {
                let index = self.calls.len();
                self.calls.insert(*block, index);
                let function = json!({"name": name, "arguments": ""});
                let call =
                    json!({"index": index, "id": id, "type": "function", "function": function});
                json!({"tool_calls": [call]})
            }
            ModelEvent::CallInputDelta { block, json } => {
                let index = self.calls.get(block).copied().unwrap_or_default();
                json!({"tool_calls": [{"index": index, "function": {"arguments": json}}]})
            }
            ModelEvent::BlockEcho { .. } => return Vec::new(),
            ModelEvent::Usage(usage) => {
                self.usage = *usage;
                return Vec::new();
            }
            ModelEvent::Finished(stop) => return self.finished(*stop),
        };
        vec![self.delta(delta, None)]
    }

    fn keep_alive(&self) -> Vec<u8> {
        b": keep-alive\n\n".to_vec()
    }

    fn fail(&mut self, refusal: &Refusal) -> Vec<Vec<u8>> {
        vec![data(&error_object(refusal))]
    }
}

fn data(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

pub(super) fn whole(request: &ServedRequest, events: &[ModelEvent]) -> Vec<u8> {
    let answer = Answer::of(events);
    let (text, reasoning) = (answer.text(), answer.reasoning());
    let call = |(id, name, arguments): (&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls: Vec<Value> = answer.calls().map(call).collect();
    let mut message = json!({"role": "assistant", "content": text});
    if text.is_empty() && !calls.is_empty() {
        message["content"] = Value::Null;
    }
    if !reasoning.is_empty() {
        message["reasoning_content"] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let finish = answer.stop.map(finish_reason);
    let body = json!({
        "id": id_of(request, ID), "object": "chat.completion", "created": 0, "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage_object(answer.usage),
    });
    body.to_string().into_bytes()
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::StopSequence => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens | StopReason::ContextExceeded => "length",
        StopReason::Refusal | StopReason::ContentFilter => "content_filter",
        StopReason::PauseTurn | StopReason::Interrupted | StopReason::Unknown => "unknown",
    }
}

/// Here the prompt's tokens include what the cache held.
fn usage_object(usage: Usage) -> Value {
    let prompt = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}
