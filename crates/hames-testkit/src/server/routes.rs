//! Which path is whose, and what a client must bring.
//!
//! What is not the scenario's is answered here: lists of models, windows, strangers.

use std::io;

use hames_types::{ApiKind, ProviderErrorKind};
use hames_wire::{
    request::{Refusal, ServedRequest},
    served::{Served, served},
};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::{
    Shared, answer,
    http::{Connection, Request},
};

const JSON: (&str, &str) = ("content-type", "application/json");

/// A window that is said where the scenario sets none.
const WINDOW: u64 = 131_072;

/// One connection, request after request.
pub async fn serve(socket: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut connection = Connection::new(socket);
    while let Some(request) = connection.request().await? {
        let place = shared.see(&request);
        let goes_on = match served_at(&request.path) {
            Some(wire) => chat(&mut connection, shared, wire, &request, place).await?,
            None => other(&mut connection, shared, &request, place).await?,
        };
        let closes = request
            .header("connection")
            .is_some_and(|value| value == "close");
        if closes || !goes_on {
            break;
        }
    }
    Ok(())
}

pub fn served_at(path: &str) -> Option<&'static dyn Served> {
    let kinds = [
        ApiKind::OpenaiChat,
        ApiKind::AnthropicMessages,
        ApiKind::OllamaChat,
    ];
    let mut wires = kinds.into_iter().filter_map(served);
    wires.find(|wire| wire.paths().contains(&path))
}

/// False when the connection must not be used again.
async fn chat(
    connection: &mut Connection,
    shared: &Shared,
    wire: &'static dyn Served,
    request: &Request,
    place: usize,
) -> io::Result<bool> {
    let decoded = match decode(shared, wire, request) {
        Ok(decoded) => decoded,
        Err(refusal) => return refuse(connection, shared, wire, &refusal, place).await,
    };
    shared.note(place, |seen| seen.decoded = Some(decoded.clone()));
    let reply = shared.playing().answer(&decoded);
    match reply {
        Ok(reply) => {
            let mut status = |status| shared.note(place, |seen| seen.status = Some(status));
            answer::send(connection, wire, &decoded, reply, &mut status).await
        }
        Err(refusal) => refuse(connection, shared, wire, &refusal, place).await,
    }
}

fn decode(shared: &Shared, wire: &dyn Served, request: &Request) -> Result<ServedRequest, Refusal> {
    authorize(shared, wire.kind(), request)?;
    if request.method != "POST" {
        return Err(Refusal {
            status: 405,
            ..Refusal::bad("Method Not Allowed")
        });
    }
    let is_json = |value: &str| value.starts_with("application/json");
    if !request.header("content-type").is_some_and(is_json) {
        return Err(Refusal {
            status: 415,
            ..Refusal::bad("content-type must be application/json")
        });
    }
    if wire.kind() == ApiKind::AnthropicMessages && request.header("anthropic-version").is_none() {
        return Err(Refusal::bad("anthropic-version: header is required"));
    }
    wire.decode_request(&request.body, shared.options.template)
}

fn authorize(shared: &Shared, kind: ApiKind, request: &Request) -> Result<(), Refusal> {
    let Some(key) = &shared.options.key else {
        return Ok(());
    };
    let bearer = request
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    let given = match kind {
        ApiKind::AnthropicMessages => request.header("x-api-key").or(bearer),
        ApiKind::OpenaiChat
        | ApiKind::OpenaiResponses
        | ApiKind::OllamaChat
        | ApiKind::GeminiGenerate => bearer,
    };
    if given == Some(key) {
        return Ok(());
    }
    let kind = ProviderErrorKind::Auth;
    Err(Refusal {
        status: 401,
        kind,
        ..Refusal::bad("invalid api key")
    })
}

async fn refuse(
    connection: &mut Connection,
    shared: &Shared,
    wire: &dyn Served,
    refusal: &Refusal,
    place: usize,
) -> io::Result<bool> {
    let response = wire.encode_error(refusal);
    shared.note(place, |seen| {
        seen.status = Some(response.status);
        // One that does not fit is a request that the scenario wants to see shortened.
        let is_scripted = refusal.kind == ProviderErrorKind::ContextOverflow;
        seen.refused = (!is_scripted).then(|| refusal.message.clone());
    });
    connection
        .respond(response.status, &[JSON], &response.body)
        .await?;
    Ok(true)
}

async fn other(
    connection: &mut Connection,
    shared: &Shared,
    request: &Request,
    place: usize,
) -> io::Result<bool> {
    let window = shared.window.unwrap_or(WINDOW);
    let (status, body) = match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD", "/") => (200, json!("scripted")),
        ("GET", "/v1/models" | "/models") => (200, models(window)),
        ("GET", "/api/version") => (200, json!({"version": "0.14.0"})),
        ("GET", "/api/tags" | "/api/ps") => (200, tags(window)),
        ("POST", "/api/show") => (200, show(window)),
        (_, path) => {
            let message = format!("no such path: {path}");
            (
                404,
                json!({"error": {"message": message, "type": "invalid_request_error"}}),
            )
        }
    };
    shared.note(place, |seen| seen.status = Some(status));
    connection
        .respond(status, &[JSON], body.to_string().as_bytes())
        .await?;
    Ok(true)
}

fn models(window: u64) -> Value {
    let model = json!({"id": "scripted", "object": "model", "created": 0, "owned_by": "hames", "max_model_len": window});
    json!({"object": "list", "data": [model]})
}

fn tags(window: u64) -> Value {
    let model = json!({
        "name": "scripted:latest", "model": "scripted:latest", "size": 1, "digest": "0",
        "context_length": window, "details": {"family": "scripted"},
    });
    json!({"models": [model]})
}

fn show(window: u64) -> Value {
    let info = json!({"general.architecture": "scripted", "scripted.context_length": window});
    json!({"model_info": info, "capabilities": ["completion", "tools", "thinking"], "details": {"family": "scripted"}})
}
