//! A scripted model: it answers from a scenario, and needs neither a network nor a key.
//!
//! It decides from the request alone, as a server would; who calls it and how often is not its
//! concern.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hames_types::{
    ApiKind, BoxStream, Encoded, Head, Message, ModelEvent, Provider, ProviderError,
    ProviderErrorKind, Request,
};
use hames_wire::{
    request::{Refusal, ServedMessage, ServedRequest},
    scenario::{Playing, Reply, Scenario, ScenarioError, Step},
};

pub struct Scripted {
    playing: Mutex<Playing>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{path}: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("{path}: {error}")]
    Parse { path: String, error: ScenarioError },
}

impl Scripted {
    pub fn new(scenario: Scenario) -> Self {
        let playing = Mutex::new(Playing::new(scenario));
        Self { playing }
    }

    /// Reads a scenario file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let shown = || path.as_ref().display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| OpenError::Read {
            path: shown(),
            error,
        })?;
        Self::parse(&text).map_err(|error| OpenError::Parse {
            path: shown(),
            error,
        })
    }

    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        Scenario::parse(text).map(Self::new)
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, ProviderError> {
        let request = decode(request)?;
        let mut playing = self.playing.lock().unwrap_or_else(PoisonError::into_inner);
        playing.answer(&request).map_err(error_of)
    }
}

impl Provider for Scripted {
    /// Only a name: no bytes of it are written, and no echo is kept.
    fn api(&self) -> ApiKind {
        ApiKind::OpenaiChat
    }

    fn encode_head(&self, head: &Head) -> Bytes {
        serde_json::to_vec(head).unwrap_or_default().into()
    }

    fn encode_message(&self, _: &Head, message: &Message) -> Encoded {
        let message = ServedMessage::from(message);
        let bytes = serde_json::to_vec(&message).unwrap_or_default().into();
        let mark_at = None;
        Encoded { bytes, mark_at }
    }

    fn send(&self, request: &Request<'_>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        match self.answer(request) {
            Ok(reply) => play(reply),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}

fn decode(request: &Request<'_>) -> Result<ServedRequest, ProviderError> {
    let messages = request.messages.iter();
    let messages = messages.map(|message| serde_json::from_slice(&message.bytes));
    let messages: Result<Vec<ServedMessage>, _> = messages.collect();
    let messages = messages.map_err(|error| {
        ProviderError::new(ProviderErrorKind::Rejected, format!("message: {error}"))
    })?;
    let head = request.head;
    let tools = head.tools.iter().map(|tool| tool.as_ref().clone());
    Ok(ServedRequest {
        system: vec![head.system.to_string()],
        messages,
        tools: tools.collect(),
        stream: true,
        max_tokens: Some(head.options.max_tokens.into()),
        effort: head.options.effort.clone(),
        ..ServedRequest::new(head.api, head.model.to_string())
    })
}

type Played = Result<ModelEvent, ProviderError>;

fn play(reply: Reply) -> BoxStream<'static, Played> {
    stream::unfold(VecDeque::from(reply.steps), next).boxed()
}

/// The next event, once its time has come; an error is the last thing that happens.
async fn next(mut steps: VecDeque<Step>) -> Option<(Played, VecDeque<Step>)> {
    // As with a socket, whoever waits for the next event can be stopped before it comes.
    tokio::task::yield_now().await;
    loop {
        match steps.pop_front()? {
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Event(event) => return Some((Ok(event), steps)),
            Step::KeepAlive => {}
            Step::Cut => return None,
            Step::Hang => std::future::pending().await,
            Step::Fail(failure) => {
                return Some((Err(error_of(failure.refusal)), VecDeque::new()));
            }
        }
    }
}

fn error_of(refusal: Refusal) -> ProviderError {
    ProviderError {
        status: Some(refusal.status),
        retry_after: refusal.retry_after,
        ..ProviderError::new(refusal.kind, refusal.message)
    }
}
