//! Short questions to a service beside the conversation: which models it has, how large its window is.
//!
//! An answer that is late, odd or missing is no answer: nothing here fails.

use std::time::Duration;

use reqwest::{Client, Method, Request, Url, header::HeaderMap};
use serde_json::Value;
use tokio::time::timeout;

use crate::network::Network;

/// A list of models is never longer than this, in bytes.
const LONGEST: usize = 8 * 1024 * 1024;

/// Someone to ask.
pub(crate) struct Service {
    client: Client,
    headers: HeaderMap,
    /// Without `/v1`.
    root: String,
    limit: Duration,
}

impl Service {
    pub fn new(
        network: &Network,
        base_url: &str,
        headers: HeaderMap,
        limit: Duration,
    ) -> Option<Self> {
        let trimmed = base_url.trim_end_matches('/');
        let root = trimmed.strip_suffix("/v1").unwrap_or(trimmed).to_owned();
        let client = network.client(&root, limit).ok()?;
        Some(Self {
            client,
            headers,
            root,
            limit,
        })
    }

    pub async fn get(&self, path: &str) -> Option<Value> {
        self.ask(self.request(Method::GET, path)?).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let mut request = self.request(Method::POST, path)?;
        *request.body_mut() = Some(body.to_string().into());
        self.ask(request).await
    }

    fn request(&self, method: Method, path: &str) -> Option<Request> {
        let url = Url::parse(&format!("{}{path}", self.root)).ok()?;
        let mut request = Request::new(method, url);
        *request.headers_mut() = self.headers.clone();
        Some(request)
    }

    async fn ask(&self, request: Request) -> Option<Value> {
        let answer = async {
            let mut response = self.client.execute(request).await.ok()?;
            if !response.status().is_success() {
                return None;
            }
            let mut body = Vec::new();
            while let Some(bytes) = response.chunk().await.ok()? {
                body.extend_from_slice(&bytes);
                if body.len() > LONGEST {
                    return None;
                }
            }
            serde_json::from_slice(&body).ok()
        };
        timeout(self.limit, answer).await.ok()?
    }
}

/// Follows keys through objects; a number is an index.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let step = |value: &'a Value, key: &&str| match key.parse::<usize>() {
        Ok(index) => value.get(index),
        Err(_) => value.get(*key),
    };
    path.iter().try_fold(value, step)
}

pub(crate) fn tokens(value: &Value) -> Option<u32> {
    let tokens = u32::try_from(value.as_u64()?).ok()?;
    (tokens > 0).then_some(tokens)
}

/// The objects of the list under `key`.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}
