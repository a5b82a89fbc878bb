//! One recording: a body, and what a right client makes of it.
//!
//! It reads; it does not judge.

use std::{fs, io, path::Path};

use hames_types::ApiKind;
use hames_wire::{Api, Delivery, api};
use serde_json::Value;

pub struct Recording {
    pub file: String,
    pub protocol: String,
    pub kind: Kind,
    pub status: Option<u16>,
    pub tags: Vec<String>,
    pub expect: Value,
    pub body: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Stream,
    Response,
    Error,
}

impl Recording {
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        let mut page: Value = serde_json::from_str(&text)?;
        let field = |name: &str| page.get(name).and_then(Value::as_str).map(str::to_owned);
        let missing = |what: &str| {
            let path = path.display();
            io::Error::other(format!("{path}: no {what}"))
        };
        let file = field("file").ok_or_else(|| missing("file"))?;
        let protocol = field("protocol").ok_or_else(|| missing("protocol"))?;
        let kind = match field("kind").as_deref() {
            Some("stream") => Kind::Stream,
            Some("response") => Kind::Response,
            Some("error") => Kind::Error,
            Some(_) | None => return Err(missing("kind that is known")),
        };
        let status = page.pointer("/http/status").and_then(Value::as_u64);
        let tags = page.get("tags").and_then(Value::as_array);
        let tags = tags.into_iter().flatten().filter_map(Value::as_str);
        let tags = tags.map(str::to_owned).collect();
        let beside = path.parent().unwrap_or(path).join(&file);
        Ok(Self {
            body: fs::read(beside)?,
            status: status.and_then(|status| u16::try_from(status).ok()),
            expect: page["expect"].take(),
            file,
            protocol,
            kind,
            tags,
        })
    }

    /// The codec for it, where one is built.
    pub fn api(&self) -> Option<&'static dyn Api> {
        api(match self.protocol.as_str() {
            "openai-chat" => ApiKind::OpenaiChat,
            "openai-responses" => ApiKind::OpenaiResponses,
            "anthropic" => ApiKind::AnthropicMessages,
            "ollama" => ApiKind::OllamaChat,
            "gemini" => ApiKind::GeminiGenerate,
            _ => return None,
        })
    }

    pub fn delivery(&self) -> Delivery {
        match self.kind {
            Kind::Stream => Delivery::Stream,
            Kind::Response | Kind::Error => Delivery::Whole,
        }
    }

    /// The status said that it is an error, so that no decoder sees the body.
    pub fn refused_with(&self) -> Option<u16> {
        self.status.filter(|status| *status >= 400)
    }
}
