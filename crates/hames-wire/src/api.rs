//! What a wire must be able to do as a client, and the one list of API kinds.

use bytes::Bytes;
use hames_types::{ApiKind, Encoded, Head, Message, ModelEvent, ProviderError, Request};

use crate::apis::{anthropic_messages, ollama_chat, openai_chat};

/// How the answer is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Stream,
    Whole,
}

/// One API kind, seen from the client.
pub trait Api: Send + Sync {
    fn kind(&self) -> ApiKind;

    /// What follows the base URL, for example `/chat/completions`.
    fn path(&self) -> &'static str;

    /// Everything that stands before the messages, encoded once an epoch.
    fn encode_head(&self, head: &Head) -> Bytes;

    /// Depends on this message and the head alone.
    fn encode_message(&self, head: &Head, message: &Message) -> Encoded;

    /// The body in pieces that share the kept bytes; concatenated they are one JSON document.
    ///
    /// Neighbours of one role are folded here, where a wire's servers refuse two of them, and cache
    /// markers are put in. Without its closing tail, a longer transcript's body extends a shorter one's.
    fn body(&self, request: &Request<'_>, delivery: Delivery) -> Vec<Bytes>;

    fn decoder(&self, delivery: Delivery) -> Box<dyn Decoder>;

    /// Reads the body of an answer whose status says that it is an error.
    fn classify_error(&self, status: u16, body: &[u8]) -> ProviderError;
}

/// Turns the bytes of one answer into events, however they are split.
pub trait Decoder: Send {
    /// Takes in what came; an `Err` ends the answer.
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ProviderError>;

    /// The body has ended; what was not terminated by then is not reported as finished.
    fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError>;
}

/// The codec of an API kind; `None` for one that is not built yet.
pub fn api(kind: ApiKind) -> Option<&'static dyn Api> {
    match kind {
        ApiKind::OpenaiChat => Some(&openai_chat::Client),
        ApiKind::AnthropicMessages => Some(&anthropic_messages::Client),
        ApiKind::OllamaChat => Some(&ollama_chat::Client),
        ApiKind::OpenaiResponses | ApiKind::GeminiGenerate => None,
    }
}
