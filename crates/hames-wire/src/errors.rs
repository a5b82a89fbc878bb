//! What a server's refusal means, from its status and its words: one table for all wires.
//!
//! It reads, and decides nothing: whether to wait, retry or stop is the Error Handler's.

use hames_types::{ProviderError, ProviderErrorKind as Kind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::lenient::{Count, Text};

/// Reads the body of an answer whose status says that it is an error.
pub(crate) fn classify(status: u16, body: &[u8]) -> ProviderError {
    let text = String::from_utf8_lossy(body);
    let said = Said::read(&text);
    let mut error = said.classify(Some(status));
    error.status = Some(status);
    error
}

/// Reads an error that came inside an answer whose status was fine.
pub(crate) fn in_answer(json: &str) -> ProviderError {
    let said = Said::read(json);
    let status = said.status;
    let mut error = said.classify(status);
    error.status = status;
    error
}

/// Whether a field named `error` tells of one: some always send it, with nothing in it.
pub(crate) fn is_told(field: Option<&RawValue>) -> bool {
    field.is_some_and(|raw| !matches!(raw.get(), "null" | "false" | "\"\"" | "{}" | "[]" | "0"))
}

/// What an error's body says, whichever of the usual shapes it has.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Type and code, in lower case, with a blank between them.
    labels: String,
    /// The status that the body names itself.
    status: Option<u16>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    message: Text<'a>,
    msg: Text<'a>,
    detail: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Text<'a>,
    code: Text<'a>,
    status: Text<'a>,
    status_code: Count,
    raw_status_code: Count,
    metadata: Option<Metadata<'a>>,
}

/// OpenRouter's: what the provider behind it said.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata<'a> {
    #[serde(borrow)]
    raw: Text<'a>,
}

impl Said {
    fn read(text: &str) -> Self {
        let mut said = Self::default();
        said.take_in(text.trim(), 0);
        said.labels = said.labels.to_ascii_lowercase();
        if said.message.is_empty() {
            said.message = without_tags(text);
        }
        said
    }

    /// Shapes nest: `{"error":{…}}`, `[{"error":…}]`, `{"detail":"…"}`, or plain text.
    fn take_in(&mut self, json: &str, depth: u8) {
        if depth > 4 {
            return;
        }
        if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(json) {
            if let Some(first) = list.first() {
                self.take_in(first.get(), depth + 1);
            }
            return;
        }
        if let Ok(text) = serde_json::from_str::<String>(json) {
            self.message = text;
            return;
        }
        let Ok(fields) = serde_json::from_str::<Fields<'_>>(json) else {
            return;
        };
        for inner in [fields.error, fields.detail].into_iter().flatten() {
            self.take_in(inner.get(), depth + 1);
        }
        for label in [&fields.kind, &fields.code, &fields.status] {
            self.labels += label.as_str();
            self.labels.push(' ');
        }
        let number = |text: &Text<'_>| Count(text.as_str().parse().ok());
        let named = fields.status_code.or(fields.raw_status_code);
        let named = named.or(number(&fields.code)).or(number(&fields.status));
        let named = named.0.and_then(|status| u16::try_from(status).ok());
        self.status = self
            .status
            .or(named.filter(|status| (400..600).contains(status)));
        if self.message.is_empty() {
            let words = if fields.message.is_empty() {
                fields.msg
            } else {
                fields.message
            };
            self.message = words.as_str().to_owned();
        }
        if let Some(metadata) = fields.metadata
            && !metadata.raw.is_empty()
        {
            self.message = format!("{}: {}", self.message, metadata.raw.as_str());
        }
    }

    fn classify(self, status: Option<u16>) -> ProviderError {
        let words = format!("{} {}", self.labels, self.message.to_ascii_lowercase());
        let kind = by_words(&words, status).unwrap_or_else(|| by_status(status, &words));
        let message = match (self.message.is_empty(), status) {
            (false, _) => shorten(&self.message),
            (true, Some(status)) => {
                format!("the server answered with status {status} and no words")
            }
            (true, None) => "the server sent an error without words".to_owned(),
        };
        ProviderError::new(kind, message)
    }
}

/// When a row's words may be believed.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Any,
    /// Not for 429 and 5xx, where talk of limits means something else.
    Refusals,
}

/// The first row of which some word stands in the body wins.
const BY_WORDS: &[(Kind, At, &[&str])] = &[
    (
        Kind::QuotaExceeded,
        At::Any,
        &[
            "insufficient_quota",
            "exceeded your current quota",
            "billing_hard_limit",
            "billing_not_active",
            "billing_error",
            "credit balance is too low",
            "insufficient credits",
            "insufficient balance",
            "insufficient_balance",
            "requires more credits",
            "quota_exceeded",
            "exceeded_current_quota",
            "spend limit",
            "spending limit",
            "usage limit",
            "free-models-per-day",
            "per-day",
            "tokens per day",
            "requests per day",
        ],
    ),
    (
        Kind::ContextOverflow,
        At::Refusals,
        &[
            "context_length_exceeded",
            "exceed_context_size",
            "context_window_exceeded",
            "too_many_prompt_tokens",
            "maximum context length",
            "max context length",
            "maximum prompt length",
            "context window",
            "context size",
            "context length",
            "context_length",
            "exceeds the context",
            "prompt is too long",
            "prompt too long",
            "prompt length",
            "input is too long",
            "input length and `max_tokens` exceed",
            "input tokens exceed",
            "input token count",
            "total length of all messages is too long",
            "too many tokens",
            "too large for model",
            "maximum number of tokens",
            "reduce the length of the messages",
            "request_too_large",
            "model_max_prompt_tokens_exceeded",
        ],
    ),
    (
        Kind::Auth,
        At::Refusals,
        &[
            "invalid_api_key",
            "invalid api key",
            "incorrect api key",
            "api key not valid",
            "api key is invalid",
            "no api key",
            "authentication_error",
            "permission_error",
            "permission_denied",
            "unauthorized",
            "missing authentication",
            "model_not_allowed",
        ],
    ),
    (
        Kind::RateLimited,
        At::Refusals,
        &[
            "rate_limit",
            "rate limit",
            "ratelimitreached",
            "too many requests",
        ],
    ),
    (
        Kind::Overloaded,
        At::Refusals,
        &[
            "overloaded",
            "server_error",
            "api_error",
            "internal server error",
            "unavailable",
        ],
    ),
];

fn by_words(words: &str, status: Option<u16>) -> Option<Kind> {
    let busy = status.is_some_and(|status| status == 429 || status >= 500);
    let row = BY_WORDS.iter().find(|(kind, at, list)| {
        let in_place = match at {
            At::Any => true,
            At::Refusals => !busy || *kind == Kind::ContextOverflow && status != Some(429),
        };
        in_place && list.iter().any(|word| words.contains(word))
    });
    row.map(|(kind, ..)| *kind)
}

/// What is said in mid-answer of a request that would be refused again.
const REFUSES: &[&str] = &["invalid", "not_found", "not found", "content_filter"];

fn by_status(status: Option<u16>, words: &str) -> Kind {
    match status {
        Some(401 | 403 | 407) => Kind::Auth,
        Some(402) => Kind::QuotaExceeded,
        Some(408 | 409 | 425) => Kind::Transport,
        Some(413) => Kind::ContextOverflow,
        Some(429) => Kind::RateLimited,
        Some(500..) => Kind::Overloaded,
        Some(_) => Kind::Rejected,
        None if REFUSES.iter().any(|word| words.contains(word)) => Kind::Rejected,
        // An error in mid-answer without a status is the server's own trouble.
        None => Kind::Overloaded,
    }
}

/// A proxy's page, without its markup.
fn without_tags(text: &str) -> String {
    let mut plain = String::new();
    let mut in_tag = false;
    for symbol in text.chars() {
        match symbol {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                plain.push(' ');
            }
            _ if in_tag => {}
            symbol => plain.push(symbol),
        }
    }
    plain
}

fn shorten(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(600).collect()
}

#[cfg(test)]
mod tests;
