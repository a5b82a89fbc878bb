//! A reply on its way: streamed or whole, late, cut, hanging or refused.
//!
//! It adds nothing to what the scenario says.

use std::{
    collections::VecDeque,
    io,
    time::{Duration, UNIX_EPOCH},
};

use hames_types::{ModelEvent, ProviderErrorKind, Usage};
use hames_wire::{
    request::ServedRequest,
    scenario::{Failure, Reply, Step},
    served::{Encoder, Served},
};

use super::http::Connection;

const JSON: (&str, &str) = ("content-type", "application/json");

/// False when the connection must not be used again.
pub async fn send(
    connection: &mut Connection,
    wire: &dyn Served,
    request: &ServedRequest,
    reply: Reply,
    status: &mut (dyn FnMut(u16) + Send),
) -> io::Result<bool> {
    let usage = usage_of(&reply);
    let mut steps = VecDeque::from(reply.steps);
    loop {
        match steps.front() {
            Some(Step::Wait(time)) => tokio::time::sleep(*time).await,
            Some(Step::Cut) | None => return Ok(false),
            Some(Step::Hang) => {
                connection.gone().await;
                return Ok(false);
            }
            Some(Step::Fail(failure)) => return fail(connection, wire, failure, status).await,
            Some(Step::KeepAlive | Step::Event(_)) => break,
        }
        steps.pop_front();
    }
    if request.stream {
        status(200);
        let encoder = wire.encoder(request, usage);
        stream(connection, encoder, steps).await
    } else {
        whole(connection, wire, request, steps, status).await
    }
}

fn usage_of(reply: &Reply) -> Usage {
    let usage = |event: &ModelEvent| match event {
        ModelEvent::Usage(usage) => Some(*usage),
        ModelEvent::TextDelta { .. }
        | ModelEvent::ReasoningDelta { .. }
        | ModelEvent::CallStarted { .. }
        | ModelEvent::CallInputDelta { .. }
        | ModelEvent::BlockEcho { .. }
        | ModelEvent::Finished(_) => None,
    };
    reply.events().find_map(usage).unwrap_or_default()
}

async fn stream(
    connection: &mut Connection,
    mut encoder: Box<dyn Encoder>,
    steps: VecDeque<Step>,
) -> io::Result<bool> {
    connection.begin(encoder.content_type()).await?;
    for piece in encoder.begin() {
        connection.chunk(&piece).await?;
    }
    for step in steps {
        let pieces = match step {
            Step::Wait(time) => {
                tokio::time::sleep(time).await;
                continue;
            }
            Step::KeepAlive => vec![encoder.keep_alive()],
            Step::Event(event) => encoder.event(&event),
            Step::Fail(failure) if failure.closes => return cut(connection).await,
            Step::Fail(failure) => encoder.fail(&failure.refusal),
            Step::Cut => return cut(connection).await,
            Step::Hang => {
                connection.gone().await;
                return Ok(false);
            }
        };
        for piece in pieces {
            connection.chunk(&piece).await?;
        }
    }
    connection.end().await?;
    Ok(true)
}

/// In the middle of a chunk that announced more.
async fn cut(connection: &mut Connection) -> io::Result<bool> {
    connection.write(b"40\r\ndata: {").await?;
    Ok(false)
}

async fn whole(
    connection: &mut Connection,
    wire: &dyn Served,
    request: &ServedRequest,
    steps: VecDeque<Step>,
    status: &mut (dyn FnMut(u16) + Send),
) -> io::Result<bool> {
    let mut events = Vec::new();
    for step in steps {
        match step {
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::KeepAlive => {}
            Step::Event(event) => events.push(event),
            Step::Fail(failure) => return fail(connection, wire, &failure, status).await,
            Step::Cut | Step::Hang => {
                status(200);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4096\r\n\r\n{\"id\":";
                connection.write(head.as_bytes()).await?;
                if step == Step::Hang {
                    connection.gone().await;
                }
                return Ok(false);
            }
        }
    }
    let (code, body) = match wire.encode_whole(request, &events) {
        Ok(body) => (200, body),
        Err(refusal) => (refusal.status, wire.encode_error(&refusal).body),
    };
    status(code);
    connection.respond(code, &[JSON], &body).await?;
    Ok(true)
}

/// Before anything was said.
async fn fail(
    connection: &mut Connection,
    wire: &dyn Served,
    failure: &Failure,
    status: &mut (dyn FnMut(u16) + Send),
) -> io::Result<bool> {
    if failure.closes {
        return Ok(false);
    }
    let mut response = wire.encode_error(&failure.refusal);
    if failure.refusal.kind == ProviderErrorKind::Malformed {
        response.body = b"{\"choices\": [{".to_vec();
    }
    let body = failure
        .body
        .clone()
        .map_or(response.body, String::into_bytes);
    let mut headers = vec![JSON];
    let date = failure
        .as_date
        .then(|| failure.refusal.retry_after.map(date))
        .flatten();
    match &date {
        Some(date) => headers.push(("retry-after", date)),
        None => {
            let own = response.headers.iter();
            headers.extend(own.map(|(name, value)| (*name, value.as_str())));
        }
    }
    status(response.status);
    connection.respond(response.status, &headers, &body).await?;
    Ok(true)
}

/// That far from now, to the second, as HTTP writes it.
fn date(wait: Duration) -> String {
    let now = Duration::from_millis(hames_journal::record::now());
    let until = now.as_secs() + wait.as_millis().div_ceil(1000) as u64;
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(until))
}
