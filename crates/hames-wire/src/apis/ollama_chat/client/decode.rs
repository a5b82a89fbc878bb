//! Folds lines, or one whole body, into events.
//!
//! The message ends with the line that says `done`; that it asks for tools is seen from its calls.

use hames_types::{ModelEvent, ProviderError, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    arguments,
    body::{Fold, parse},
    errors,
    lenient::{Count, Text},
    written,
};

#[derive(Default)]
pub(super) struct Answer {
    next_block: u32,
    text: Option<u32>,
    thinking: Option<u32>,
    thought: String,
    has_calls: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
    done: Option<bool>,
    done_reason: Text<'a>,
    prompt_eval_count: Count,
    eval_count: Count,
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Text<'a>,
    thinking: Text<'a>,
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    arguments: Option<&'a RawValue>,
}

impl Fold for Answer {
    fn value(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        let mut room = String::new();
        let line: Line<'_> = parse(json, &mut room)?;
        if errors::is_told(line.error) {
            return Err(errors::in_answer(json));
        }
        self.message(line.message.unwrap_or_default(), out);
        if line.done != Some(true) {
            return Ok(());
        }
        self.echo_thinking(out);
        out.push(ModelEvent::Usage(Usage {
            input: line.prompt_eval_count.or_zero(),
            output: line.eval_count.or_zero(),
            ..Usage::default()
        }));
        let stop = self.stop_reason(line.done_reason.as_str());
        out.push(ModelEvent::Finished(stop));
        Ok(())
    }

    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        self.value(json, out)
    }

    fn end(&mut self, _out: &mut Vec<ModelEvent>) {}
}

impl Answer {
    fn message(&mut self, message: Message<'_>, out: &mut Vec<ModelEvent>) {
        if !message.thinking.is_empty() {
            let block = claim(&mut self.thinking, &mut self.next_block);
            let text = message.thinking.into_string();
            self.thought += &text;
            out.push(ModelEvent::ReasoningDelta { block, text });
        }
        if !message.content.is_empty() {
            let block = claim(&mut self.text, &mut self.next_block);
            let text = message.content.into_string();
            out.push(ModelEvent::TextDelta { block, text });
        }
        for call in message.tool_calls.unwrap_or_default() {
            self.call(call, out);
        }
    }

    /// Calls come whole; an id is new, and older servers send none.
    fn call(&mut self, call: Call<'_>, out: &mut Vec<ModelEvent>) {
        self.has_calls = true;
        let block = claim(&mut None, &mut self.next_block);
        let function = call.function.unwrap_or_default();
        let (id, name) = (call.id.into_string(), function.name.into_string());
        out.push(ModelEvent::CallStarted { block, id, name });
        let json = function
            .arguments
            .map(arguments::text_of)
            .unwrap_or_default();
        if !json.is_empty() {
            out.push(ModelEvent::CallInputDelta { block, json });
        }
    }

    fn echo_thinking(&self, out: &mut Vec<ModelEvent>) {
        if let Some(block) = self.thinking {
            let json = format!(r#"{{"thinking":{}}}"#, written::string(&self.thought));
            out.push(ModelEvent::BlockEcho { block, json });
        }
    }

    /// It says `stop` whether it asks for tools or not, and in older versions nothing at all.
    fn stop_reason(&self, reason: &str) -> StopReason {
        match reason {
            "stop" | "" if self.has_calls => StopReason::ToolUse,
            "stop" | "" => StopReason::EndTurn,
            "tool_calls" => StopReason::ToolUse,
            "length" => StopReason::MaxTokens,
            _ => StopReason::Unknown,
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
