//! `hames -p`: one prompt, one answer, one exit code.
//!
//! Nobody can be asked here: what needs a yes is refused at once.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    time::Instant,
};

use anyhow::{Result, anyhow};
use hames_types::{Origin, Outcome, UserMessage};

use crate::{
    args::RunArgs,
    environment::Environment,
    exit::usage,
    prompt::Asked,
    report::Report,
    signals::interrupt_on_signals,
    surface::surface,
    watching::{Closing, Watched, Watching},
    wiring::{Parts, Wired, prepare},
};

pub fn run(args: &RunArgs, asked: Asked, environment: &Environment) -> Result<u8> {
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(async {
        let parts = prepare(args, environment, None).await?;
        for note in &parts.notes {
            let _ = writeln!(io::stderr(), "hames: {note}");
        }
        if args.output.print_curl {
            return print_curl(&parts, asked);
        }
        answer(&parts, args, asked, environment, began).await
    });
    runtime.shutdown_background();
    code
}

fn print_curl(parts: &Parts, asked: Asked) -> Result<u8> {
    let Asked::Prompt(prompt) = asked else {
        return Err(usage("--print-curl needs a prompt"));
    };
    writeln!(io::stdout(), "{}", parts.curl(&prompt)?)?;
    Ok(0)
}

async fn answer(
    parts: &Parts,
    args: &RunArgs,
    asked: Asked,
    environment: &Environment,
    began: Instant,
) -> Result<u8> {
    let Wired {
        mut session,
        journal,
        from,
        folder,
        about,
        ..
    } = parts.open(environment, None)?;
    if asked == Asked::Pending && !session.has_pending_continuation() {
        let id = &about.session;
        return Err(usage(format!(
            "nothing is pending in session {id}: give a prompt to go on"
        )));
    }
    let interrupter = session.interrupter();
    let log = run_log(args, &folder, &about.session);
    let surface = surface(
        args.output.output_format,
        args.output.verbose,
        &about,
        environment,
    );
    let watched = Watched {
        journal,
        from,
        folder,
        about,
        log,
    };
    let unread = interrupter.clone();
    let watching = Watching::start(watched, surface, move || unread.interrupt())?;
    let signals = tokio::spawn(interrupt_on_signals(interrupter));
    let outcome = match asked {
        Asked::Prompt(prompt) => {
            session
                .submit(UserMessage::text(Origin::Human, prompt))
                .await
        }
        Asked::Pending => session
            .continue_pending()
            .await
            .unwrap_or(Outcome::Completed),
    };
    let answer = session.transcript().final_text();
    let schema = parts
        .schema
        .as_deref()
        .filter(|_| outcome == Outcome::Completed);
    let structured = schema.and_then(|schema| schema.fits(&answer).ok());
    let took = began.elapsed();
    let closing = Closing {
        outcome,
        took,
        structured,
    };
    let report = watching.close(closing).await;
    // Until now: a reader that is stuck must not make the process deaf.
    signals.abort();
    closed(report)
}

/// A reader that has gone away has interrupted the run.
fn closed(report: io::Result<Report>) -> Result<u8> {
    match report {
        Ok(report) => Ok(report.ending.code),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(130),
        Err(error) => Err(anyhow!("the output could not be written: {error}")),
    }
}

/// Beside the session, or where it was asked for. Its failure changes nothing, and is said.
pub fn run_log(args: &RunArgs, folder: &Path, session: &str) -> Option<File> {
    let beside = || folder.join(format!("{session}.run.jsonl"));
    let path = args.session.log.clone().unwrap_or_else(beside);
    match File::options().create(true).append(true).open(&path) {
        Ok(file) => Some(file),
        Err(error) => {
            let _ = writeln!(
                io::stderr(),
                "hames: no run log: {}: {error}",
                path.display()
            );
            None
        }
    }
}
