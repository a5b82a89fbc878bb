//! Answers as Ollama writes them: a line a piece, or one object.
//!
//! A call is written once it is whole; arguments that are no object end the answer, as there.

use hames_types::{ModelEvent, StopReason, Usage};
use serde_json::{Value, json};

use crate::{
    request::{Refusal, ServedRequest},
    served::{
        Encoder,
        answer::{Answer, Said},
    },
};

const AT: &str = "2026-01-01T00:00:00Z";

pub(super) struct Stream {
    model: String,
    usage: Usage,
    calls: usize,
    open: Option<Said>,
    failed: bool,
}

impl Stream {
    pub fn new(request: &ServedRequest, usage: Usage) -> Self {
        Self {
            model: request.model.clone(),
            usage,
            calls: 0,
            open: None,
            failed: false,
        }
    }

    fn line(&self, message: Value) -> Vec<u8> {
        line(&json!({"model": self.model, "created_at": AT, "message": message, "done": false}))
    }

    fn close(&mut self, pieces: &mut Vec<Vec<u8>>) {
        let Some(Said::Call { id, name, input }) = self.open.take() else {
            return;
        };
        match call(self.calls, &id, &name, &input) {
            Ok(call) => {
                let message = json!({"role": "assistant", "content": "", "tool_calls": [call]});
                pieces.push(self.line(message));
                self.calls += 1;
            }
            Err(refusal) => {
                pieces.extend(self.fail(&refusal));
                self.failed = true;
            }
        }
    }
}

impl Encoder for Stream {
    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn begin(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn event(&mut self, event: &ModelEvent) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        if self.failed {
            return pieces;
        }
        match event {
            ModelEvent::TextDelta { text, .. } => {
                self.close(&mut pieces);
                pieces.push(self.line(json!({"role": "assistant", "content": text})));
            }
            ModelEvent::ReasoningDelta { text, .. } => {
                self.close(&mut pieces);
                let message = json!({"role": "assistant", "content": "", "thinking": text});
                pieces.push(self.line(message));
            }
            ModelEvent::CallStarted { id, name, .. } => {
                self.close(&mut pieces);
                self.open = Some(Said::call(id, name));
            }
            ModelEvent::CallInputDelta { json, .. } => {
                if let Some(said) = &mut self.open {
                    said.push(json);
                }
            }
            ModelEvent::BlockEcho { .. } => {}
            ModelEvent::Usage(usage) => self.usage = *usage,
            ModelEvent::Finished(stop) => {
                self.close(&mut pieces);
                if !self.failed {
                    let message = json!({"role": "assistant", "content": ""});
                    pieces.push(line(&last(&self.model, message, *stop, self.usage)));
                }
            }
        }
        pieces
    }

    /// A blank line is skipped by every reader of lines.
    fn keep_alive(&self) -> Vec<u8> {
        b"\n".to_vec()
    }

    fn fail(&mut self, refusal: &Refusal) -> Vec<Vec<u8>> {
        vec![line(&json!({"error": refusal.message}))]
    }
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn call(index: usize, id: &str, name: &str, input: &str) -> Result<Value, Refusal> {
    let text = if input.trim().is_empty() { "{}" } else { input };
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => {
            let function = json!({"index": index, "name": name, "arguments": arguments});
            Ok(json!({"id": id, "function": function}))
        }
        Ok(_) | Err(_) => {
            let message = format!("error parsing tool call: raw='{input}', err=invalid arguments");
            Err(Refusal {
                status: 500,
                ..Refusal::bad(message)
            })
        }
    }
}

fn last(model: &str, message: Value, stop: StopReason, usage: Usage) -> Value {
    json!({
        "model": model, "created_at": AT, "message": message, "done": true,
        "done_reason": done_reason(stop), "total_duration": 1, "load_duration": 1,
        "prompt_eval_count": usage.input + usage.cache_read + usage.cache_write,
        "prompt_eval_duration": 1, "eval_count": usage.output, "eval_duration": 1,
    })
}

pub(super) fn whole(request: &ServedRequest, events: &[ModelEvent]) -> Result<Vec<u8>, Refusal> {
    let answer = Answer::of(events);
    let calls = answer.calls().enumerate();
    let calls = calls.map(|(index, (id, name, input))| call(index, id, name, input));
    let calls: Vec<Value> = calls.collect::<Result<_, _>>()?;
    let mut message = json!({"role": "assistant", "content": answer.text()});
    let reasoning = answer.reasoning();
    if !reasoning.is_empty() {
        message["thinking"] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let stop = answer.stop.unwrap_or(StopReason::Unknown);
    let body = last(&request.model, message, stop, answer.usage);
    Ok(body.to_string().into_bytes())
}

fn done_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::ToolUse | StopReason::StopSequence => "stop",
        StopReason::MaxTokens | StopReason::ContextExceeded => "length",
        StopReason::Refusal | StopReason::ContentFilter => "content_filter",
        StopReason::PauseTurn | StopReason::Interrupted | StopReason::Unknown => "unknown",
    }
}
