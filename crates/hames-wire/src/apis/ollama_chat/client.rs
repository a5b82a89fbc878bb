//! Ollama chat as a client: requests out, answers and errors in.
//!
//! It sends nothing itself and decides on no retry.

mod decode;
mod encode;

use bytes::Bytes;
use hames_types::{ApiKind, Encoded, Head, Message, ProviderError, Request};

use crate::{Api, Decoder, Delivery, body::Framed, errors};

/// The client side of Ollama chat.
pub struct Client;

impl Api for Client {
    fn kind(&self) -> ApiKind {
        ApiKind::OllamaChat
    }

    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn encode_head(&self, head: &Head) -> Bytes {
        encode::head(head)
    }

    fn encode_message(&self, head: &Head, message: &Message) -> Encoded {
        encode::message(head, message)
    }

    fn body(&self, request: &Request<'_>, delivery: Delivery) -> Vec<Bytes> {
        encode::body(request, delivery)
    }

    fn decoder(&self, delivery: Delivery) -> Box<dyn Decoder> {
        let answer = decode::Answer::default();
        match delivery {
            Delivery::Stream => Box::new(Framed::lines(answer)),
            Delivery::Whole => Box::new(Framed::whole(answer)),
        }
    }

    fn classify_error(&self, status: u16, body: &[u8]) -> ProviderError {
        errors::classify(status, body)
    }
}
