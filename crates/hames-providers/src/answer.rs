//! One call as a stream: sent when it is first polled, then read to its end under its time limits.
//!
//! It retries nothing, and a stream that ends before its terminal event never ends well.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::stream;
use hames_types::{BoxStream, ModelEvent, ProviderError, ProviderErrorKind};
use hames_wire::{Api, Decoder, Delivery};
use reqwest::{
    Client, Request, Response,
    header::{CONTENT_TYPE, HeaderName, LOCATION},
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    auth::Key,
    failure::{Peer, Phase},
    network::Timeouts,
    retry_after::retry_after,
};

/// Once the terminal event is there, the rest of the body only decides whether the connection can
/// be used again, and some servers never end it.
const LINGER: Duration = Duration::from_secs(2);

/// The most that is read of an error's body, in bytes.
const ERROR_BODY: usize = 64 * 1024;

/// All that a call needs, so that its stream borrows nothing.
pub(crate) struct Call {
    pub client: Client,
    pub request: Request,
    /// Told whenever the connection takes a part of the request's body.
    pub taken: Arc<Notify>,
    pub terms: Terms,
}

/// What an answer is read by.
#[derive(Clone)]
pub(crate) struct Terms {
    pub api: &'static dyn Api,
    pub delivery: Delivery,
    pub timeouts: Timeouts,
    pub peer: Peer,
    pub secrets: Arc<[Key]>,
}

type Item = Result<ModelEvent, ProviderError>;

pub(crate) fn stream(call: Call) -> BoxStream<'static, Item> {
    let answer = Answer {
        ready: VecDeque::new(),
        secrets: call.terms.secrets.clone(),
        state: State::Unsent(Box::new(call)),
    };
    let next = |mut answer: Answer| async move { Some((answer.next().await?, answer)) };
    Box::pin(stream::unfold(answer, next))
}

struct Answer {
    ready: VecDeque<ModelEvent>,
    secrets: Arc<[Key]>,
    state: State,
}

enum State {
    Unsent(Box<Call>),
    Reading(Box<Reading>),
    Over(Option<ProviderError>),
}

impl Answer {
    /// What came before an error is handed on before it.
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            self.state = match std::mem::replace(&mut self.state, State::Over(None)) {
                State::Unsent(call) => match call.send().await {
                    Ok(reading) => State::Reading(Box::new(reading)),
                    Err(error) => State::Over(Some(error)),
                },
                State::Reading(mut reading) => match reading.read(&mut self.ready).await {
                    Ok(Progress::More) => State::Reading(reading),
                    Ok(Progress::End) => State::Over(None),
                    Err(error) => State::Over(Some(error)),
                },
                State::Over(error) => return Some(Err(self.without_secrets(error?))),
            };
        }
    }

    fn without_secrets(&self, mut error: ProviderError) -> ProviderError {
        for secret in &*self.secrets {
            error.message = secret.hide_in(&error.message);
        }
        error
    }
}

impl Call {
    async fn send(self) -> Result<Reading, ProviderError> {
        let Self {
            client,
            request,
            taken,
            terms,
        } = self;
        let path_is_bare = request.url().path() == terms.api.path();
        let response = exchange(client, request, taken, &terms).await?;
        let status = response.status();
        if status.is_redirection() {
            return Err(redirected(&response, &terms.peer));
        }
        if !status.is_success() {
            return Err(refused(response, &terms, path_is_bare).await);
        }
        if header(&response, &CONTENT_TYPE).starts_with("text/html") {
            let Peer(peer) = &terms.peer;
            let message = format!("{peer} answered with a web page; check the base URL");
            return Err(ProviderError::new(ProviderErrorKind::Rejected, message));
        }
        Ok(Reading {
            response,
            decoder: terms.api.decoder(terms.delivery),
            finished: false,
            received: 0,
            terms,
        })
    }
}

/// The client limits the connecting; the wait for an answer counts from the last time that the
/// server took a part of the request.
async fn exchange(
    client: Client,
    request: Request,
    taken: Arc<Notify>,
    terms: &Terms,
) -> Result<Response, ProviderError> {
    let Terms { peer, timeouts, .. } = terms;
    let mut answer = std::pin::pin!(client.execute(request));
    let mut patience = None;
    loop {
        let too_long = async {
            match patience {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = &mut answer => {
                return answer.map_err(|error| peer.unreached(&error, timeouts));
            }
            () = taken.notified() => patience = Some(Instant::now() + timeouts.first_byte),
            () = too_long => return Err(peer.too_slow(Phase::FirstByte, timeouts.first_byte)),
        }
    }
}

fn redirected(response: &Response, Peer(peer): &Peer) -> ProviderError {
    let to = header(response, &LOCATION);
    let message = format!("{peer} redirects to `{to}`; if that is right, set it as the base URL");
    let mut error = ProviderError::new(ProviderErrorKind::Rejected, message);
    error.status = Some(response.status().as_u16());
    error
}

/// Only the codec reads why.
async fn refused(mut response: Response, terms: &Terms, path_is_bare: bool) -> ProviderError {
    let status = response.status().as_u16();
    let wait = retry_after(response.headers());
    let mut body = Vec::new();
    while body.len() < ERROR_BODY {
        match timeout(terms.timeouts.idle, response.chunk()).await {
            Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    let mut error = terms.api.classify_error(status, &body);
    error.status = Some(status);
    error.retry_after = wait.or(error.retry_after);
    if status == 404 && path_is_bare {
        error.message += "; the base URL has no path, and most servers want /v1 at its end";
    }
    error
}

fn header<'a>(response: &'a Response, name: &HeaderName) -> &'a str {
    let value = response.headers().get(name);
    value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

enum Progress {
    More,
    End,
}

struct Reading {
    response: Response,
    decoder: Box<dyn Decoder>,
    /// The terminal event has come.
    finished: bool,
    received: u64,
    terms: Terms,
}

impl Reading {
    async fn read(&mut self, ready: &mut VecDeque<ModelEvent>) -> Result<Progress, ProviderError> {
        let (phase, limit) = self.limit();
        match timeout(limit, self.response.chunk()).await {
            Ok(Ok(Some(bytes))) => self.take_in(&bytes, ready).map(|()| Progress::More),
            Ok(Ok(None)) => self.end(ready).map(|()| Progress::End),
            Ok(Err(error)) => {
                let error = self.terms.peer.broke_off(&error, self.received);
                self.end_badly(error, ready)
            }
            Err(_elapsed) => self.end_badly(self.terms.peer.too_slow(phase, limit), ready),
        }
    }

    fn limit(&self) -> (Phase, Duration) {
        let Timeouts {
            first_byte, idle, ..
        } = self.terms.timeouts;
        if self.finished {
            return (Phase::Idle, idle.min(LINGER));
        }
        if self.received == 0 {
            return (Phase::FirstByte, first_byte);
        }
        (Phase::Idle, idle)
    }

    fn take_in(
        &mut self,
        bytes: &[u8],
        ready: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ProviderError> {
        self.received += bytes.len() as u64;
        let mut events = Vec::new();
        let fed = self.decoder.feed(bytes, &mut events);
        self.hand_on(events, ready);
        fed
    }

    /// A body may end as HTTP has it, and still not as its wire has it.
    fn end(&mut self, ready: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError> {
        let mut events = Vec::new();
        let ended = self.decoder.finish(&mut events);
        self.hand_on(events, ready);
        if self.finished {
            return Ok(());
        }
        ended.and(Err(self.terms.peer.ended_early(self.received)))
    }

    /// What breaks after the terminal event breaks nothing.
    fn end_badly(
        &mut self,
        error: ProviderError,
        ready: &mut VecDeque<ModelEvent>,
    ) -> Result<Progress, ProviderError> {
        let _ = self.end(ready);
        if self.finished {
            Ok(Progress::End)
        } else {
            Err(error)
        }
    }

    fn hand_on(&mut self, events: Vec<ModelEvent>, ready: &mut VecDeque<ModelEvent>) {
        let ends = |event: &ModelEvent| matches!(event, ModelEvent::Finished(_));
        self.finished |= events.iter().any(ends);
        ready.extend(events);
    }
}
