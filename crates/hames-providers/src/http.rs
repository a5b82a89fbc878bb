//! A model service over HTTP: one endpoint, one client, any number of calls.
//!
//! It knows no model, no policy and no journal; the wire's codec writes and reads the bytes.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hames_types::{
    ApiKind, BoxStream, Encoded, Head, Message, ModelEvent, Provider, ProviderError,
    ProviderErrorKind, Request,
};
use hames_wire::{Api, Delivery};
use reqwest::{Body, Client, Method, Url, header::HeaderMap};
use tokio::sync::Notify;

use crate::{
    answer::{self, Call, Terms},
    auth::{BadHeader, Header, Key, Value, header_map},
    body::Pieces,
    curl::curl,
    failure::Peer,
    network::{Network, Timeouts},
};

/// Where a service is and what it wants to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub api: ApiKind,
    pub base_url: String,
    pub headers: Vec<Header>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the base URL `{url}` is not one; write it as http://HOST:PORT/v1")]
    BaseUrl { url: String },
    #[error(
        "the wire {api:?} is not built yet; use an OpenAI-, Anthropic- or Ollama-style service"
    )]
    NoCodec { api: ApiKind },
    #[error(transparent)]
    Header(#[from] BadHeader),
}

/// A [`Provider`] over HTTP. The client is built when it is first used, and keeps connections alive.
pub struct HttpProvider {
    api: &'static dyn Api,
    url: Url,
    base_url: String,
    shown: Vec<Header>,
    sent: HeaderMap,
    secrets: Arc<[Key]>,
    network: Network,
    timeouts: Timeouts,
    delivery: Delivery,
    client: OnceLock<Client>,
}

impl HttpProvider {
    pub(crate) fn new(
        endpoint: Endpoint,
        network: Network,
        timeouts: Timeouts,
        delivery: Delivery,
    ) -> Result<Self, ConnectError> {
        let no_codec = || ConnectError::NoCodec { api: endpoint.api };
        let api = hames_wire::api::api(endpoint.api).ok_or_else(no_codec)?;
        Self::with_api(api, endpoint, network, timeouts, delivery)
    }

    pub(crate) fn with_api(
        api: &'static dyn Api,
        endpoint: Endpoint,
        network: Network,
        timeouts: Timeouts,
        delivery: Delivery,
    ) -> Result<Self, ConnectError> {
        let url = request_url(&endpoint.base_url, api.path())?;
        let mut shown = vec![
            Header::plain("Content-Type", "application/json"),
            Header::plain("Accept", accepted(endpoint.api, delivery)),
        ];
        shown.extend(endpoint.headers);
        Ok(Self {
            api,
            url,
            base_url: endpoint.base_url,
            sent: header_map(&shown)?,
            secrets: shown.iter().filter_map(secret).collect(),
            shown,
            network,
            timeouts,
            delivery,
            client: OnceLock::new(),
        })
    }

    /// The request that `send` would send, as a curl command that repeats it (P-02). The key is
    /// the shell variable that holds it.
    pub fn curl(&self, request: &Request<'_>) -> String {
        let body = self.api.body(request, self.delivery).concat();
        curl(self.url.as_str(), &self.shown, &body)
    }

    fn call(&self, request: &Request<'_>) -> Result<Call, ProviderError> {
        let taken = Arc::new(Notify::new());
        let pieces = self.api.body(request, self.delivery);
        let mut http = reqwest::Request::new(Method::POST, self.url.clone());
        *http.headers_mut() = self.sent.clone();
        *http.body_mut() = Some(Body::wrap(Pieces::new(pieces, taken.clone())));
        Ok(Call {
            client: self.client()?,
            request: http,
            taken,
            terms: Terms {
                api: self.api,
                delivery: self.delivery,
                timeouts: self.timeouts,
                peer: Peer::of(&self.url),
                secrets: self.secrets.clone(),
            },
        })
    }

    fn client(&self) -> Result<Client, ProviderError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let built = self.network.client(&self.base_url, self.timeouts.connect);
        let built = built
            .map_err(|error| ProviderError::new(ProviderErrorKind::Rejected, error.to_string()))?;
        Ok(self.client.get_or_init(|| built).clone())
    }
}

impl Provider for HttpProvider {
    fn api(&self) -> ApiKind {
        self.api.kind()
    }

    fn encode_head(&self, head: &Head) -> Bytes {
        self.api.encode_head(head)
    }

    fn encode_message(&self, head: &Head, message: &Message) -> Encoded {
        self.api.encode_message(head, message)
    }

    fn send(&self, request: &Request<'_>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        match self.call(request) {
            Ok(call) => answer::stream(call),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider")
            .field("url", &self.url.as_str())
            .field("headers", &self.shown)
            .field("network", &self.network)
            .field("timeouts", &self.timeouts)
            .field("delivery", &self.delivery)
            .finish_non_exhaustive()
    }
}

fn secret(header: &Header) -> Option<Key> {
    match &header.value {
        Value::Plain(_) => None,
        Value::Secret { key, .. } => Some(key.clone()),
    }
}

fn accepted(api: ApiKind, delivery: Delivery) -> &'static str {
    match (delivery, api) {
        (Delivery::Whole, _) => "application/json",
        (Delivery::Stream, ApiKind::OllamaChat) => "application/x-ndjson",
        (Delivery::Stream, _) => "text/event-stream",
    }
}

/// Forgives what users paste: a slash at the end, the version that the path begins with, or the
/// whole address of the endpoint.
fn request_url(base: &str, path: &str) -> Result<Url, ConnectError> {
    let trimmed = base.trim().trim_end_matches('/');
    let base_of_it = trimmed.strip_suffix(path).unwrap_or(trimmed);
    let version = path.get(1..).and_then(|path| path.split('/').next());
    let version = version.filter(|first| first.starts_with('v'));
    let unversioned = version.and_then(|version| {
        let rest = base_of_it.strip_suffix(version)?;
        rest.strip_suffix('/')
    });
    let joined = format!("{}{path}", unversioned.unwrap_or(base_of_it));
    let not_one = || ConnectError::BaseUrl { url: base.into() };
    let url = Url::parse(&joined).map_err(|_| not_one())?;
    let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
    if is_http { Ok(url) } else { Err(not_one()) }
}
