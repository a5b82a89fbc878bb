//! Requests as a server reads them, and the refusals it answers with.
//!
//! Neutral between the wires; what only one wire knows stays in `extras`. No policy, no clock.

use std::time::Duration;

use hames_types::{
    ApiKind, Block, CallId, Content, Message, ProviderErrorKind, RawJson, ResultStatus, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request, decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedRequest {
    pub api: ApiKind,
    pub model: String,
    /// Every system or developer text, in order.
    pub system: Vec<String>,
    pub messages: Vec<ServedMessage>,
    pub tools: Vec<ToolSpec>,
    pub tool_choice: Option<ToolChoice>,
    pub temperature: Option<f64>,
    pub effort: Option<String>,
    /// The JSON Schema that the answer must fit.
    pub schema: Option<RawJson>,
    pub stream: bool,
    pub max_tokens: Option<u64>,
    /// Top-level keys that have no field above, as they came.
    pub extras: Vec<(String, Value)>,
}

impl ServedRequest {
    pub fn new(api: ApiKind, model: impl Into<String>) -> Self {
        Self {
            api,
            model: model.into(),
            system: Vec::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            temperature: None,
            effort: None,
            schema: None,
            stream: false,
            max_tokens: None,
            extras: Vec::new(),
        }
    }
}

/// By author, as `hames_types::Message`, but readable from any client's bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", content = "content", rename_all = "snake_case")]
pub enum ServedMessage {
    User(Vec<Content>),
    Assistant(Vec<Block>),
    /// The answers of one round.
    Tool(Vec<ServedResult>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServedResult {
    pub call: CallId,
    /// A wire that cannot say it says `false`.
    #[serde(default)]
    pub is_error: bool,
    pub content: Vec<Content>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    /// Some tool must be called.
    Any,
    Named(String),
}

impl From<&Message> for ServedMessage {
    fn from(message: &Message) -> Self {
        match message {
            Message::User(message) => Self::User(message.content.clone()),
            Message::Assistant(message) => Self::Assistant(message.blocks.clone()),
            Message::Tool(results) => {
                let served = |result: &std::sync::Arc<hames_types::ToolResult>| ServedResult {
                    call: result.call.clone(),
                    is_error: result.status != ResultStatus::Ok,
                    content: result.content.clone(),
                };
                Self::Tool(results.iter().map(served).collect())
            }
        }
    }
}

/// Why a server will not answer, before it is put into a wire's own words.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    pub kind: ProviderErrorKind,
    pub message: String,
    /// The part of the request that is at fault, where a wire names it.
    pub param: Option<String>,
    /// How long the client is to stay away.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// A request that is wrong in itself: 400.
    pub fn bad(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: ProviderErrorKind::Rejected,
            message: message.into(),
            param: None,
            retry_after: None,
        }
    }

    pub fn at(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }
}

/// A refusal in a wire's own words.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorResponse {
    pub status: u16,
    /// Beside `content-type`, which is `application/json`.
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl ErrorResponse {
    /// `retry-after` in whole seconds, rounded up: a client that obeys is never early.
    pub fn of(refusal: &Refusal, body: &Value) -> Self {
        let seconds = |wait: Duration| wait.as_millis().div_ceil(1000).to_string();
        let wait = refusal.retry_after.map(seconds);
        Self {
            status: refusal.status,
            headers: wait.map(|wait| ("retry-after", wait)).into_iter().collect(),
            body: body.to_string().into_bytes(),
        }
    }
}
