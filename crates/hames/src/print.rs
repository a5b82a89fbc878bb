//! `hames -p`: one prompt, one answer, one exit code.
//!
//! Nobody can be asked here: what needs a yes is refused at once.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use hames_agent::handle::InFlight;
use hames_types::{Origin, Outcome, UserMessage};

use crate::{
    args::RunArgs,
    environment::Environment,
    exit::usage,
    prompt::Asked,
    surface::{Closing, Watched, Watching, surface},
    wiring::{Wired, wire},
};

pub fn run(args: &RunArgs, asked: Asked, environment: &Environment) -> Result<u8> {
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(answer(args, asked, environment, began));
    runtime.shutdown_background();
    code
}

async fn answer(
    args: &RunArgs,
    asked: Asked,
    environment: &Environment,
    began: Instant,
) -> Result<u8> {
    let wired = wire(args, environment, None)?;
    let Wired {
        mut session,
        journal,
        from,
        folder,
        about,
        notes,
        ..
    } = wired;
    for note in notes {
        let _ = writeln!(io::stderr(), "hames: {note}");
    }
    if asked == Asked::Pending && !session.has_pending_continuation() {
        let id = &about.session;
        return Err(usage(format!(
            "nothing is pending in session {id}: give a prompt to go on"
        )));
    }
    let interrupter = session.interrupter();
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
    signals.abort();
    let took = began.elapsed();
    closed(watching.close(Closing {
        outcome,
        took,
        structured: None,
    }))
}

/// A reader that has gone has the exit code that it would have had.
fn closed(report: io::Result<crate::report::Report>) -> Result<u8> {
    match report {
        Ok(report) => Ok(report.ending.code),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(130),
        Err(error) => Err(anyhow!("the output could not be written: {error}")),
    }
}

/// The first signal asks the run to end well; the second does not ask.
async fn interrupt_on_signals(interrupter: InFlight) {
    if stop_signal().await.is_err() {
        return;
    }
    interrupter.interrupt();
    if stop_signal().await.is_ok() {
        std::process::exit(130);
    }
    tokio::time::sleep(Duration::MAX).await;
}

#[cfg(unix)]
async fn stop_signal() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn stop_signal() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
