//! `hames doctor`: what a run needs, looked at one by one, each with the way to put it right.
//!
//! It changes nothing but a file that it writes and removes again, and shows no key.

mod checks;

use std::io::IsTerminal;

use anyhow::Result;

use crate::{environment::Environment, exit, explain::page};

#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Ok,
    /// Something is less than it could be.
    Warn,
    /// A run will not work.
    Fail,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    state: State,
    what: &'static str,
    found: String,
    remedy: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        let (state, found, remedy) = (State::Ok, found.into(), None);
        Self {
            state,
            what,
            found,
            remedy,
        }
    }

    fn warn(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (state, found, remedy) = (State::Warn, found.into(), Some(remedy.into()));
        Self {
            state,
            what,
            found,
            remedy,
        }
    }

    fn fail(what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let state = State::Fail;
        Self {
            state,
            ..Self::warn(what, found, remedy)
        }
    }
}

/// The exit code: 1 if something would keep a run from working.
pub fn run(_: &Args, environment: &Environment) -> Result<u8> {
    let findings = checks::all(environment);
    let color = std::io::stdout().is_terminal() && environment.wants_color();
    page::print(
        &findings
            .iter()
            .map(|finding| show(finding, color))
            .collect::<String>(),
    )?;
    let worst = findings.iter().map(|finding| finding.state).max();
    Ok(match worst {
        Some(State::Fail) => exit::FAILED,
        Some(State::Ok | State::Warn) | None => 0,
    })
}

fn show(finding: &Finding, color: bool) -> String {
    let (word, style) = match finding.state {
        State::Ok => ("ok  ", "32"),
        State::Warn => ("warn", "33"),
        State::Fail => ("fail", "31"),
    };
    let word = match color {
        true => format!("\x1b[{style}m{word}\x1b[0m"),
        false => word.to_owned(),
    };
    let mut line = format!("{word}  {:<10}  {}\n", finding.what, finding.found);
    if let Some(remedy) = &finding.remedy {
        line += &format!("                  → {remedy}\n");
    }
    line
}
