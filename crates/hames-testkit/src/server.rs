//! A model service on loopback that plays a scenario, as strict as the ones it stands for.
//!
//! It speaks OpenAI's, Anthropic's and Ollama's chat, refuses what they refuse, and remembers all
//! that it was sent. It decides nothing: what is said stands in the scenario.

mod answer;
mod http;
mod routes;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use hames_types::ApiKind;
use hames_wire::{request::ServedRequest, scenario::Playing, served::Template};
use tokio::{net::TcpListener, task::JoinHandle};

pub use hames_wire::scenario::Scenario;

/// Stops, with all its connections, when it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// 0: any that is free.
    pub port: u16,
    /// What clients must send; anything will do where it is `None`.
    pub key: Option<String>,
    pub template: Template,
}

/// One request, as it came, and what became of it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// What it says, where it says something.
    pub decoded: Option<ServedRequest>,
    /// The status that it was answered with; `None` until then, and for connections just closed.
    pub status: Option<u16>,
    /// Why the request itself was not taken; a scripted error is no refusal.
    pub refused: Option<String>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub fn api(&self) -> Option<ApiKind> {
        self.decoded.as_ref().map(|request| request.api)
    }
}

impl Server {
    pub async fn start(scenario: Scenario) -> io::Result<Self> {
        Self::start_with(scenario, Options::default()).await
    }

    pub async fn start_with(scenario: Scenario, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            window: scenario.window,
            playing: Mutex::new(Playing::new(scenario)),
            seen: Mutex::default(),
            options,
        });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Ok(Self {
            address,
            shared,
            accepting,
        })
    }

    /// Without a path: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.seen().clone()
    }

    /// The requests that asked for an answer.
    pub fn chats(&self) -> Vec<Seen> {
        let is_chat = |seen: &Seen| routes::served_at(&seen.path).is_some();
        self.requests().into_iter().filter(is_chat).collect()
    }

    /// Why requests were not taken; scripted errors are not among them.
    pub fn refusals(&self) -> Vec<String> {
        let seen = self.requests().into_iter();
        seen.filter_map(|seen| seen.refused).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

struct Shared {
    playing: Mutex<Playing>,
    seen: Mutex<Vec<Seen>>,
    window: Option<u64>,
    options: Options,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn playing(&self) -> MutexGuard<'_, Playing> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its place among those seen.
    fn see(&self, request: &http::Request) -> usize {
        let mut seen = self.seen();
        seen.push(Seen {
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            decoded: None,
            status: None,
            refused: None,
        });
        seen.len() - 1
    }

    fn note(&self, place: usize, note: impl FnOnce(&mut Seen)) {
        if let Some(seen) = self.seen().get_mut(place) {
            note(seen);
        }
    }
}

/// Dropping this future drops the connections with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((socket, _)) = accepted {
                let shared = shared.clone();
                // What ends a connection is the client's business.
                connections.spawn(async move { drop(routes::serve(socket, &shared).await) });
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
