//! Signals: the first asks a run to end well, the second does not ask.
//!
//! The journal is whole at any moment, so that even the second loses nothing that was said.

use std::{io, process};

use hames_agent::handle::InFlight;

use crate::exit;

/// Listens from this call on, not from the first time that the future is polled: a signal in a run's
/// first moments has to be heard, too. The future runs until it is dropped.
pub fn interrupt_on_signals(interrupter: InFlight) -> impl Future<Output = ()> + Send + 'static {
    let signals = Signals::listen();
    async move {
        let Ok(mut signals) = signals else {
            return;
        };
        signals.next().await;
        interrupter.interrupt();
        signals.next().await;
        process::exit(exit::INTERRUPTED.into());
    }
}

#[cfg(unix)]
pub struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// SIGINT or SIGTERM.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
