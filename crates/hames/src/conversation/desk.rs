//! The desk: what may come from the one at the terminal while the model works.
//!
//! It carries words to those who wait for them; it starts and ends nothing.

use std::pin::pin;

use hames_agent::{handle::InFlight, steering::Steering};
use hames_types::{Origin, UserMessage};
use tokio::sync::mpsc;

use super::{commands::Command, say};
use crate::{approve::Awaited, exit, signals::Signals};

pub struct Desk {
    pub lines: mpsc::UnboundedReceiver<String>,
    pub questions: mpsc::UnboundedReceiver<Awaited>,
    pub signals: Signals,
    pub steering: Steering,
}

/// What came of a piece of work, and whether the one at the terminal has left meanwhile.
pub struct Attended<T> {
    pub result: T,
    pub leaves: bool,
}

impl Desk {
    /// Until `work` has ended. The first Ctrl-C interrupts it, the second ends the process.
    pub async fn attend<T>(
        &mut self,
        interrupter: &InFlight,
        work: impl Future<Output = T>,
    ) -> Attended<T> {
        let mut work = pin!(work);
        let mut asking: Vec<Awaited> = Vec::new();
        let (mut interrupted, mut leaves) = (false, false);
        loop {
            tokio::select! {
                biased;
                result = &mut work => return Attended { result, leaves },
                Some(question) = self.questions.recv() => asking.push(question),
                Some(line) = self.lines.recv() => {
                    if hand_on(&self.steering, &mut asking, line) == Wish::Leave {
                        leaves = true;
                        interrupter.interrupt();
                    }
                }
                () = self.signals.next() => {
                    if interrupted {
                        std::process::exit(exit::INTERRUPTED.into());
                    }
                    interrupted = true;
                    interrupter.interrupt();
                }
            }
        }
    }
}

#[derive(PartialEq)]
enum Wish {
    Stay,
    Leave,
}

/// To the question that waits, else to the model; commands other than to leave have to wait.
fn hand_on(steering: &Steering, asking: &mut Vec<Awaited>, line: String) -> Wish {
    // A question that was withdrawn takes no line.
    asking.retain(|question| !question.is_closed());
    if !asking.is_empty() {
        let _ = asking.remove(0).send(line);
        return Wish::Stay;
    }
    match Command::parse(&line) {
        Some(Command::Exit) => return Wish::Leave,
        Some(_) => say("commands have to wait until the answer is there; Ctrl-C interrupts it"),
        None if line.trim().is_empty() => {}
        None => {
            let queued = steering.send(UserMessage::text(Origin::Steering, line));
            say(if queued.is_continue() {
                "queued"
            } else {
                "it could not be recorded"
            });
        }
    }
    Wish::Stay
}
