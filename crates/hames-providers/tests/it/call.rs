//! A provider at a test's server, and one call of it.

use std::time::Duration;

use futures_util::StreamExt;
use hames_providers::{Catalog, Choice, HttpProvider, Network, Timeouts, Wanted, discover};
use hames_types::{
    ApiKind, Encoded, Head, Message, ModelEvent, Options, Origin, Provider, ProviderError,
    ProviderErrorKind, Request, StopReason, UserMessage,
};
use hames_wire::Delivery;

pub const KEY: &str = "sk-very-secret-1234";

pub fn key_is_set(name: &str) -> Option<String> {
    (name == "HAMES_API_KEY").then(|| KEY.to_owned())
}

pub async fn choice_at(url: &str) -> Choice {
    let catalog = Catalog::built_in().unwrap();
    let spec = format!("{url}#toy");
    let wanted = Wanted {
        asked: Some(&spec),
        settings: None,
    };
    let network = Network::default();
    discover(&catalog, wanted, &key_is_set, &network)
        .await
        .unwrap()
}

/// Limits that no healthy test server comes near.
pub fn patient() -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(20),
        first_byte: Duration::from_secs(20),
        idle: Duration::from_secs(20),
    }
}

pub async fn provider(url: &str, network: Network, timeouts: Timeouts) -> HttpProvider {
    let choice = choice_at(url).await;
    let provider = choice.connect(network, timeouts, Delivery::Stream).unwrap();
    std::sync::Arc::into_inner(provider).unwrap()
}

pub async fn plain(url: &str) -> HttpProvider {
    provider(url, Network::default(), patient()).await
}

pub struct Asking {
    head: Head,
    head_bytes: bytes::Bytes,
    messages: Vec<Encoded>,
}

impl Asking {
    pub fn new(provider: &HttpProvider, prompts: &[&str]) -> Self {
        let head = Head {
            api: ApiKind::OpenaiChat,
            model: "toy".into(),
            system: "It's a test: $HOME, `id`, \"quoted\" and \\ too.".into(),
            tools: Vec::new(),
            options: Options {
                max_tokens: 100,
                temperature: None,
                effort: None,
                context_window: None,
            },
        };
        let encode = |prompt: &&str| {
            let message = UserMessage::text(Origin::Human, *prompt);
            provider.encode_message(&head, &Message::User(message.into()))
        };
        let messages = prompts.iter().map(encode).collect();
        let head_bytes = provider.encode_head(&head);
        Self {
            head,
            head_bytes,
            messages,
        }
    }

    pub fn request(&self) -> Request<'_> {
        Request {
            head: &self.head,
            head_bytes: &self.head_bytes,
            messages: &self.messages,
        }
    }
}

pub async fn ask(provider: &HttpProvider) -> Vec<Result<ModelEvent, ProviderError>> {
    let asking = Asking::new(provider, &["Say something."]);
    provider.send(&asking.request()).collect().await
}

/// What a call comes to: its text, how it ended, or the error that ended it.
#[derive(Debug, PartialEq)]
pub struct Heard {
    pub text: String,
    pub stop: Option<StopReason>,
    pub error: Option<ProviderError>,
}

impl Heard {
    pub fn well(text: &str) -> Self {
        Self {
            text: text.into(),
            stop: Some(StopReason::EndTurn),
            error: None,
        }
    }

    pub fn badly(text: &str, kind: ProviderErrorKind, message: String) -> Self {
        Self {
            text: text.into(),
            stop: None,
            error: Some(ProviderError::new(kind, message)),
        }
    }
}

pub async fn hear(provider: &HttpProvider) -> Heard {
    let mut heard = Heard {
        text: String::new(),
        stop: None,
        error: None,
    };
    for event in ask(provider).await {
        assert_eq!(heard.error, None, "nothing comes after an error");
        match event {
            Ok(ModelEvent::TextDelta { text, .. }) => heard.text += &text,
            Ok(ModelEvent::Finished(stop)) => heard.stop = Some(stop),
            Ok(_) => {}
            Err(error) => heard.error = Some(error),
        }
    }
    heard
}

pub async fn error(provider: &HttpProvider) -> ProviderError {
    hear(provider).await.error.unwrap()
}
