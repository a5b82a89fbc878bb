//! A scripted model over HTTP: `serve [--port N] [--key KEY] [--strict-template] [--until-eof] FILE`.
//!
//! Prints its URL, then a line of JSON for each request that was answered or refused. With
//! `--until-eof` it ends with its input, once all is said; it never ends by itself.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use hames_testkit::server::{Options, Seen, Server};
use hames_wire::{scenario::Scenario, served::Template};
use serde_json::json;

const USAGE: &str = "usage: serve [--port N] [--key KEY] [--strict-template] [--until-eof] FILE";

struct Arguments {
    options: Options,
    until_eof: bool,
    file: String,
}

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
    let arguments = arguments(std::env::args().skip(1)).ok_or_else(|| io::Error::other(USAGE))?;
    let text = std::fs::read_to_string(&arguments.file)?;
    let scenario = Scenario::parse(&text).map_err(io::Error::other)?;
    let server = Server::start_with(scenario, arguments.options).await?;
    say(&server.url())?;
    let over = Arc::new(AtomicBool::new(false));
    if arguments.until_eof {
        set_at_eof(over.clone());
    }
    let mut said = 0;
    loop {
        let last = over.load(SeqCst);
        let requests = server.requests();
        // In order, so that a line stands for good; one that hangs is said when the next has come.
        while let Some(seen) = requests.get(said) {
            if seen.status.is_none() && requests.len() == said + 1 && !last {
                break;
            }
            say(&line(seen))?;
            said += 1;
        }
        if last {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn set_at_eof(over: Arc<AtomicBool>) {
    thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        over.store(true, SeqCst);
    });
}

fn arguments(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
    let (mut options, mut until_eof, mut file) = (Options::default(), false, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--port" => options.port = words.next()?.parse().ok()?,
            "--key" => options.key = Some(words.next()?),
            "--strict-template" => options.template = Template::Strict,
            "--until-eof" => until_eof = true,
            _ if word.starts_with('-') || file.is_some() => return None,
            _ => file = Some(word),
        }
    }
    Some(Arguments {
        options,
        until_eof,
        file: file?,
    })
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
