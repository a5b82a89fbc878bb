//! The result of a run as one object: what `json` prints, and the last line of `stream-json`.
//!
//! Its fields are Claude Code's, so that its readers understand it, and ours beside them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hames_types::{Outcome, Prices, StopReason, Usage};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::{
    claude_names,
    exit::{self, Ending, ending},
    tally::{Denied, Tally},
};

/// What a run is known by before it begins.
#[derive(Debug, Clone, Default)]
pub struct About {
    pub session: String,
    pub cwd: String,
    pub model: String,
    pub tools: Vec<String>,
    pub permission_mode: String,
    /// By model name; a model that is missing here has no known price.
    pub prices: BTreeMap<Arc<str>, Prices>,
    pub windows: BTreeMap<Arc<str>, Window>,
    /// Where the key comes from, as a variable's name or `none`.
    pub key_source: String,
}

/// In tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Window {
    pub context: u64,
    pub output: u64,
}

#[derive(Debug)]
pub struct Report {
    pub about: Arc<About>,
    pub outcome: Outcome,
    pub ending: Ending,
    pub tally: Tally,
    pub took: Duration,
    /// The final answer, where a schema was asked for and it fits.
    pub structured: Option<Value>,
}

impl Report {
    pub fn new(
        about: Arc<About>,
        outcome: Outcome,
        tally: Tally,
        took: Duration,
        structured: Option<Value>,
    ) -> Self {
        let ending = ending(&outcome, tally.unasked);
        Self {
            about,
            outcome,
            ending,
            tally,
            took,
            structured,
        }
    }

    /// In US dollars; `None` when a model served whose price nobody knows.
    pub fn cost(&self) -> Option<f64> {
        cost(&self.tally, &self.about.prices)
    }

    /// The one result line, without its end.
    pub fn line(&self) -> serde_json::Result<String> {
        let Ending {
            code,
            is_error,
            subtype,
            end_cause,
            ref message,
        } = self.ending;
        let errors = if is_error {
            vec![message.as_str()]
        } else {
            Vec::new()
        };
        serde_json::to_string(&ResultLine {
            kind: "result",
            subtype,
            is_error,
            exit_code: code,
            outcome: exit::outcome_name(&self.outcome),
            end_cause,
            terminal_reason: terminal_reason(&self.outcome),
            duration_ms: millis(self.took),
            duration_api_ms: self.tally.api_ms,
            num_turns: self.tally.turns,
            result: &self.tally.answer,
            structured_output: self.structured.as_ref(),
            stop_reason: self.tally.stop.map(stop_reason),
            session_id: &self.about.session,
            total_cost_usd: self.cost(),
            usage: WireUsage::of(self.tally.usage),
            model_usage: self.model_usage(),
            permission_denials: self.tally.denied.iter().map(Denial::of).collect(),
            errors,
            uuid: uuid(&self.about.session, u64::MAX),
        })
    }

    fn model_usage(&self) -> BTreeMap<&str, ModelUsage> {
        let models = self.tally.by_model.iter();
        let used = models.map(|(model, usage)| {
            let window = self.about.windows.get(model).copied().unwrap_or_default();
            let prices = self.about.prices.get(model);
            let used = ModelUsage {
                input_tokens: usage.input,
                output_tokens: usage.output,
                cache_read_input_tokens: usage.cache_read,
                cache_creation_input_tokens: usage.cache_write,
                web_search_requests: 0,
                cost_usd: prices.map(|prices| prices.cost(*usage)),
                context_window: window.context,
                max_output_tokens: window.output,
            };
            (&**model, used)
        });
        used.collect()
    }
}

/// In US dollars; `None` when a model served whose price nobody knows.
pub fn cost(tally: &Tally, prices: &BTreeMap<Arc<str>, Prices>) -> Option<f64> {
    let costs = tally.by_model.iter();
    let costs = costs.map(|(model, usage)| Some(prices.get(model)?.cost(*usage)));
    costs.sum()
}

#[derive(Serialize)]
struct ResultLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    subtype: &'static str,
    is_error: bool,
    exit_code: u8,
    outcome: &'static str,
    end_cause: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    terminal_reason: Option<&'static str>,
    duration_ms: u64,
    duration_api_ms: u64,
    num_turns: u32,
    result: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_output: Option<&'a Value>,
    stop_reason: Option<&'static str>,
    session_id: &'a str,
    total_cost_usd: Option<f64>,
    usage: WireUsage,
    #[serde(rename = "modelUsage")]
    model_usage: BTreeMap<&'a str, ModelUsage>,
    permission_denials: Vec<Denial<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<&'a str>,
    uuid: String,
}

/// Tokens by the names of the Anthropic Messages API.
#[derive(Serialize)]
pub struct WireUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

impl WireUsage {
    pub fn of(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_input_tokens: usage.cache_read,
            cache_creation_input_tokens: usage.cache_write,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ModelUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    web_search_requests: u64,
    #[serde(rename = "costUSD")]
    cost_usd: Option<f64>,
    context_window: u64,
    max_output_tokens: u64,
}

#[derive(Serialize)]
struct Denial<'a> {
    tool_name: &'a str,
    tool_use_id: &'a str,
    tool_input: Box<RawValue>,
}

impl<'a> Denial<'a> {
    fn of(denied: &'a Denied) -> Self {
        Self {
            tool_name: claude_names::tool(&denied.tool),
            tool_use_id: &denied.call,
            tool_input: claude_names::input(&denied.tool, &denied.input),
        }
    }
}

pub fn stop_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::StopSequence => "stop_sequence",
        StopReason::MaxTokens => "max_tokens",
        StopReason::ContextExceeded => "model_context_window_exceeded",
        StopReason::Refusal | StopReason::ContentFilter => "refusal",
        StopReason::PauseTurn => "pause_turn",
        StopReason::Interrupted => "interrupted",
        StopReason::Unknown => "unknown",
    }
}

/// Claude Code's word for an end, where it has one.
fn terminal_reason(outcome: &Outcome) -> Option<&'static str> {
    use hames_types::Limit;
    match outcome {
        Outcome::Completed => Some("completed"),
        Outcome::LimitReached { limit } => match limit {
            Limit::Turns => Some("max_turns"),
            Limit::Cost | Limit::Tokens => Some("budget_exhausted"),
            Limit::Context => Some("prompt_too_long"),
            Limit::WallTime | Limit::ToolErrors | Limit::RepeatedCall => None,
        },
        Outcome::Interrupted => Some("aborted_streaming"),
        Outcome::SchemaFailed { .. } => Some("structured_output_retry_exhausted"),
        Outcome::Failed { .. } => Some("model_error"),
        Outcome::Refused | Outcome::Truncated | Outcome::NoAnswer | Outcome::CheckFailed { .. } => {
            None
        }
    }
}

/// A name for a line, in the form of a UUID: the same line always has the same.
pub fn uuid(session: &str, line: u64) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (session, line, salt).hash(&mut hasher);
        hasher.finish()
    };
    let (one, two) = (half(1), half(2));
    format!(
        "{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}",
        one >> 32,
        one >> 16 & 0xffff,
        one & 0xfff,
        two >> 48 & 0x3fff | 0x8000,
        two & 0xffff_ffff_ffff
    )
}

pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
