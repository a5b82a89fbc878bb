//! Folds events, or one whole body, into our events.
//!
//! The message ends with `message_stop`; its reason came before, in `message_delta`.

use hames_types::{ModelEvent, ProviderError, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::block::OpenBlock;
use crate::{
    body::{Fold, malformed, parse},
    errors,
    lenient::{Count, Text},
};

#[derive(Default)]
pub(super) struct Answer {
    begun: bool,
    next_block: u32,
    blocks: Vec<OpenBlock>,
    usage: WireUsage,
    stop: Option<StopReason>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: Count,
    message: Option<Message<'a>>,
    content_block: Option<&'a RawValue>,
    delta: Option<&'a RawValue>,
    usage: Option<WireUsage>,
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<Vec<&'a RawValue>>,
    stop_reason: Text<'a>,
    usage: Option<WireUsage>,
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageDelta<'a> {
    #[serde(borrow)]
    stop_reason: Text<'a>,
}

#[derive(Default, Clone, Copy, Deserialize)]
#[serde(default)]
struct WireUsage {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Clone, Copy, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Count,
}

impl Fold for Answer {
    fn value(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        let mut room = String::new();
        let event: Event<'_> = parse(json, &mut room)?;
        match event.kind.as_str() {
            "message_start" => self.begin(event.message.unwrap_or_default(), out),
            "content_block_start" => {
                let raw = event.content_block.unwrap_or(RawValue::NULL);
                self.start(event.index.or_zero(), raw, out)
            }
            "content_block_delta" => {
                let raw = event.delta.unwrap_or(RawValue::NULL);
                self.delta(event.index.or_zero(), raw, out)
            }
            "content_block_stop" => {
                if let Some(block) = self.block(event.index.or_zero()) {
                    block.close(out);
                }
                Ok(())
            }
            "message_delta" => {
                let raw = event.delta.unwrap_or(RawValue::NULL);
                let delta: Option<MessageDelta<'_>> =
                    serde_json::from_str(raw.get()).map_err(|error| malformed(json, &error))?;
                let delta = delta.unwrap_or_default();
                self.stop = stop_reason(delta.stop_reason.as_str()).or(self.stop);
                self.count(event.usage, out);
                Ok(())
            }
            "message_stop" => {
                self.close_all(out);
                let stop = self.stop.unwrap_or(StopReason::Unknown);
                out.push(ModelEvent::Finished(stop));
                Ok(())
            }
            "error" => Err(errors::in_answer(json)),
            _ if errors::is_told(event.error) => Err(errors::in_answer(json)),
            // Pings, and events that are newer than this.
            _ => Ok(()),
        }
    }

    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        let mut room = String::new();
        let message: Message<'_> = parse(json, &mut room)?;
        let Some(content) = message.content.filter(|_| !errors::is_told(message.error)) else {
            return Err(errors::in_answer(json));
        };
        for (index, raw) in (0u64..).zip(content) {
            self.start(index, raw, out)?;
        }
        self.close_all(out);
        self.count(message.usage, out);
        let stop = stop_reason(message.stop_reason.as_str());
        out.push(ModelEvent::Finished(stop.unwrap_or(StopReason::Unknown)));
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<ModelEvent>) {}
}

impl Answer {
    /// A second `message_start` is the first one again; it may hold content that has come already.
    fn begin(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        if !std::mem::replace(&mut self.begun, true) {
            self.count(message.usage, out);
        }
        Ok(())
    }

    fn start(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let block = self.next_block;
        self.next_block = block.saturating_add(1);
        let open = OpenBlock::start(index, block, raw, out);
        self.blocks
            .push(open.map_err(|error| malformed(raw.get(), &error))?);
        Ok(())
    }

    /// A delta of a block that never started says nothing that could be understood.
    fn delta(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let Some(block) = self.block(index) else {
            return Ok(());
        };
        let read = block.delta(raw, out);
        read.map_err(|error| malformed(raw.get(), &error))
    }

    fn block(&mut self, index: u64) -> Option<&mut OpenBlock> {
        self.blocks.iter_mut().rfind(|block| block.index == index)
    }

    fn close_all(&mut self, out: &mut Vec<ModelEvent>) {
        for block in &mut self.blocks {
            block.close(out);
        }
    }

    /// Counts are cumulative; a later report leaves out, or zeroes, what it has no news of, and its
    /// output is the last word.
    fn count(&mut self, news: Option<WireUsage>, out: &mut Vec<ModelEvent>) {
        let Some(news) = news else {
            return;
        };
        let so_far = self.usage;
        self.usage = WireUsage {
            input_tokens: news.input_tokens.or(so_far.input_tokens),
            output_tokens: Count(news.output_tokens.0.or(so_far.output_tokens.0)),
            cache_read_input_tokens: news
                .cache_read_input_tokens
                .or(so_far.cache_read_input_tokens),
            cache_creation_input_tokens: news
                .cache_creation_input_tokens
                .or(so_far.cache_creation_input_tokens),
            output_tokens_details: news.output_tokens_details.or(so_far.output_tokens_details),
        };
        out.push(ModelEvent::Usage(self.usage.counts()));
    }
}

impl WireUsage {
    fn counts(&self) -> Usage {
        let details = self.output_tokens_details.unwrap_or_default();
        Usage {
            input: self.input_tokens.or_zero(),
            output: self.output_tokens.or_zero(),
            reasoning: details.thinking_tokens.or_zero(),
            cache_read: self.cache_read_input_tokens.or_zero(),
            cache_write: self.cache_creation_input_tokens.or_zero(),
        }
    }
}

fn stop_reason(reason: &str) -> Option<StopReason> {
    let stop = match reason {
        "" => return None,
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "stop_sequence" => StopReason::StopSequence,
        "max_tokens" => StopReason::MaxTokens,
        "model_context_window_exceeded" => StopReason::ContextExceeded,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::PauseTurn,
        _ => StopReason::Unknown,
    };
    Some(stop)
}
