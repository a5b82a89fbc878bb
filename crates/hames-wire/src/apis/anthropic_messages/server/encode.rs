//! Answers as the Messages service writes them, in events or whole.
//!
//! Blocks follow one another: a new one closes the one before, thinking with its signature.

use hames_types::{ModelEvent, StopReason, Usage};
use serde_json::{Value, json};

use super::{error_object, thinking};
use crate::{
    request::{Refusal, ServedRequest},
    served::{
        Encoder,
        answer::{Answer, Said, id_of},
    },
};

const ID: &str = "msg_";

pub(super) struct Stream {
    id: String,
    model: String,
    usage: Usage,
    /// How many blocks there have been, the open one included.
    blocks: usize,
    open: Option<(u32, Said)>,
}

impl Stream {
    pub fn new(request: &ServedRequest, usage: Usage) -> Self {
        Self {
            id: id_of(request, ID),
            model: request.model.clone(),
            usage,
            blocks: 0,
            open: None,
        }
    }

    fn index(&self) -> usize {
        self.blocks.saturating_sub(1)
    }

    fn open(&mut self, block: u32, said: Said, pieces: &mut Vec<Vec<u8>>) {
        if self.open.as_ref().is_some_and(|(open, _)| *open == block) {
            return;
        }
        self.close(pieces);
        let content_block = match &said {
            Said::Text(_) => json!({"type": "text", "text": ""}),
            Said::Reasoning(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Said::Call { id, name, .. } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
        };
        self.blocks += 1;
        let index = self.index();
        pieces.push(event(
            &json!({"type": "content_block_start", "index": index, "content_block": content_block}),
        ));
        self.open = Some((block, said));
    }

    fn delta(&mut self, more: &str, delta: Value, pieces: &mut Vec<Vec<u8>>) {
        if let Some((_, said)) = &mut self.open {
            said.push(more);
        }
        let index = self.index();
        pieces.push(event(
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        ));
    }

    fn close(&mut self, pieces: &mut Vec<Vec<u8>>) {
        let Some((_, said)) = self.open.take() else {
            return;
        };
        let index = self.index();
        if let Said::Reasoning(text) = said {
            let delta = json!({"type": "signature_delta", "signature": thinking::sign(&text)});
            pieces.push(event(
                &json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        pieces.push(event(
            &json!({"type": "content_block_stop", "index": index}),
        ));
    }

    fn finish(&mut self, stop: StopReason, pieces: &mut Vec<Vec<u8>>) {
        self.close(pieces);
        let delta = json!({"stop_reason": stop_reason(stop), "stop_sequence": null});
        let usage = usage_object(self.usage);
        pieces.push(event(
            &json!({"type": "message_delta", "delta": delta, "usage": usage}),
        ));
        pieces.push(event(&json!({"type": "message_stop"})));
    }
}

impl Encoder for Stream {
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    fn begin(&mut self) -> Vec<Vec<u8>> {
        let usage = usage_object(Usage {
            output: 1,
            ..self.usage
        });
        let message = json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        });
        vec![
            event(&json!({"type": "message_start", "message": message})),
            self.keep_alive(),
        ]
    }

    fn event(&mut self, said: &ModelEvent) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        match said {
            ModelEvent::TextDelta { block, text } => {
                self.open(*block, Said::Text(String::new()), &mut pieces);
                self.delta(
                    text,
                    json!({"type": "text_delta", "text": text}),
                    &mut pieces,
                );
            }
            ModelEvent::ReasoningDelta { block, text } => {
                self.open(*block, Said::Reasoning(String::new()), &mut pieces);
                let delta = json!({"type": "thinking_delta", "thinking": text});
                self.delta(text, delta, &mut pieces);
            }
            ModelEvent::CallStarted { block, id, name } => {
                self.open(*block, Said::call(id, name), &mut pieces);
            }
            ModelEvent::CallInputDelta { json, .. } => {
                let delta = json!({"type": "input_json_delta", "partial_json": json});
                self.delta(json, delta, &mut pieces);
            }
            ModelEvent::BlockEcho { .. } => {}
            ModelEvent::Usage(usage) => self.usage = *usage,
            ModelEvent::Finished(stop) => self.finish(*stop, &mut pieces),
        }
        pieces
    }

    fn keep_alive(&self) -> Vec<u8> {
        event(&json!({"type": "ping"}))
    }

    fn fail(&mut self, refusal: &Refusal) -> Vec<Vec<u8>> {
        vec![event(&error_object(refusal))]
    }
}

fn event(value: &Value) -> Vec<u8> {
    let name = value["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n").into_bytes()
}

pub(super) fn whole(request: &ServedRequest, events: &[ModelEvent]) -> Vec<u8> {
    let answer = Answer::of(events);
    let block = |said: &Said| match said {
        Said::Text(text) => json!({"type": "text", "text": text}),
        Said::Reasoning(text) => {
            json!({"type": "thinking", "thinking": text, "signature": thinking::sign(text)})
        }
        Said::Call { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": object(input)})
        }
    };
    let content: Vec<Value> = answer.blocks.iter().map(block).collect();
    let body = json!({
        "id": id_of(request, ID), "type": "message", "role": "assistant", "model": request.model,
        "content": content, "stop_reason": answer.stop.map(stop_reason), "stop_sequence": null,
        "usage": usage_object(answer.usage),
    });
    body.to_string().into_bytes()
}

/// A whole body can hold only an object: what is none is wrapped, as the service advises.
fn object(input: &str) -> Value {
    match serde_json::from_str(input) {
        Ok(Value::Object(object)) => Value::Object(object),
        Ok(_) | Err(_) if input.trim().is_empty() => json!({}),
        Ok(_) | Err(_) => json!({"INVALID_JSON": input}),
    }
}

fn stop_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::StopSequence => "stop_sequence",
        StopReason::MaxTokens => "max_tokens",
        StopReason::ContextExceeded => "model_context_window_exceeded",
        StopReason::Refusal | StopReason::ContentFilter => "refusal",
        StopReason::PauseTurn => "pause_turn",
        StopReason::Interrupted | StopReason::Unknown => "unknown",
    }
}

fn usage_object(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
    })
}
