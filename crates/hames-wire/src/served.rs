//! What a wire must be able to do as a server, and the one list of wires that can.
//!
//! As strict as the services themselves: what they refuse is refused here, in their words.

pub(crate) mod answer;
pub(crate) mod read;

use hames_types::{ApiKind, ModelEvent, Usage};

use crate::{
    apis,
    request::{ErrorResponse, Refusal, ServedRequest},
};

/// One API kind, seen from the server.
pub trait Served: Send + Sync {
    fn kind(&self) -> ApiKind;

    /// Where clients post their requests, whatever base URL they were given.
    fn paths(&self) -> &'static [&'static str];

    fn decode_request(&self, body: &[u8], template: Template) -> Result<ServedRequest, Refusal>;

    /// What turns one answer's events into bytes; some wires say the usage first.
    fn encoder(&self, request: &ServedRequest, usage: Usage) -> Box<dyn Encoder>;

    /// The answer in one body; an error is what the service says when it cannot say that.
    fn encode_whole(
        &self,
        request: &ServedRequest,
        events: &[ModelEvent],
    ) -> Result<Vec<u8>, Refusal>;

    fn encode_error(&self, refusal: &Refusal) -> ErrorResponse;
}

/// Writes one answer as a stream.
pub trait Encoder: Send {
    fn content_type(&self) -> &'static str;

    /// What comes before the first event; each piece is one write.
    fn begin(&mut self) -> Vec<Vec<u8>>;

    fn event(&mut self, event: &ModelEvent) -> Vec<Vec<u8>>;

    /// Bytes that mean nothing.
    fn keep_alive(&self) -> Vec<u8>;

    /// An error after the answer has begun.
    fn fail(&mut self, refusal: &Refusal) -> Vec<Vec<u8>>;
}

/// Whether the model's chat template has opinions of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Template {
    #[default]
    Lenient,
    /// Two user messages in a row are refused, as some local models' templates do.
    Strict,
}

/// `None` for an API kind that is not served yet.
pub fn served(kind: ApiKind) -> Option<&'static dyn Served> {
    match kind {
        ApiKind::OpenaiChat => Some(&apis::openai_chat::Server),
        ApiKind::AnthropicMessages => Some(&apis::anthropic_messages::Server),
        ApiKind::OllamaChat => Some(&apis::ollama_chat::Server),
        ApiKind::OpenaiResponses | ApiKind::GeminiGenerate => None,
    }
}
