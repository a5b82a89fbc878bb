//! A scripted model over HTTP: `serve [--port N] [--key KEY] [--strict-template] FILE`.
//!
//! Prints its URL, then a line of JSON for each request that was answered or refused.

use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use hames_testkit::server::{Options, Seen, Server};
use hames_wire::{scenario::Scenario, served::Template};
use serde_json::json;

const USAGE: &str = "usage: serve [--port N] [--key KEY] [--strict-template] FILE";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "serve: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> io::Result<()> {
    let (options, file) =
        arguments(std::env::args().skip(1)).ok_or_else(|| io::Error::other(USAGE))?;
    let text = std::fs::read_to_string(&file)?;
    let scenario = Scenario::parse(&text).map_err(io::Error::other)?;
    let server = Server::start_with(scenario, options).await?;
    say(&server.url())?;
    let mut said = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let requests = server.requests();
        // In order, so that a line stands for good; one that hangs is said when the next is done.
        while let Some(seen) = requests.get(said) {
            let done = seen.status.is_some() || requests.len() > said + 1;
            if !done {
                break;
            }
            say(&line(seen))?;
            said += 1;
        }
    }
}

fn arguments(mut words: impl Iterator<Item = String>) -> Option<(Options, String)> {
    let (mut options, mut file) = (Options::default(), None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--port" => options.port = words.next()?.parse().ok()?,
            "--key" => options.key = Some(words.next()?),
            "--strict-template" => options.template = Template::Strict,
            _ if word.starts_with('-') || file.is_some() => return None,
            _ => file = Some(word),
        }
    }
    Some((options, file?))
}

fn line(seen: &Seen) -> String {
    let messages = seen.decoded.as_ref().map(|request| request.messages.len());
    let (method, path) = (&seen.method, &seen.path);
    let (status, refused) = (&seen.status, &seen.refused);
    json!({"method": method, "path": path, "status": status, "messages": messages, "refused": refused})
        .to_string()
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}
