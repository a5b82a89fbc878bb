//! The prompt: from the command line, or from stdin where that is asked for.
//!
//! When a prompt was given, stdin is not touched: an open pipe must never block a run.

use std::io::Read;

use anyhow::{Context, Result};

use crate::{args::RunArgs, environment::Environment, exit::usage};

#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    Prompt(String),
    /// Go on with what an earlier query left.
    Pending,
}

pub fn take(args: &RunArgs, environment: &Environment, stdin: impl Read) -> Result<Asked> {
    let goes_on = args.session.continue_newest || args.session.resume.is_some();
    let prompt = match args.prompt.as_deref() {
        Some("-") => read(stdin)?,
        Some(prompt) if args.stdin => format!("{prompt}\n\n<stdin>\n{}\n</stdin>", read(stdin)?),
        Some(prompt) => prompt.to_owned(),
        None if goes_on => return Ok(Asked::Pending),
        None if environment.stdin_is_terminal => {
            return Err(usage("give a prompt, or pipe one in: hames -p \"PROMPT\""));
        }
        None => read(stdin)?,
    };
    if prompt.trim().is_empty() {
        return Err(usage("the prompt is empty"));
    }
    Ok(Asked::Prompt(prompt))
}

/// What to tell who piped something in beside a prompt: that it was not taken, and what takes it.
pub fn left_unread(args: &RunArgs, environment: &Environment) -> Option<&'static str> {
    let is_given = args.prompt.as_deref().is_some_and(|prompt| prompt != "-");
    let is_unread = is_given && !args.stdin && !environment.stdin_is_terminal;
    (is_unread && environment.stdin_holds_text)
        .then_some("stdin was not read, for there is a prompt: --stdin hands over both")
}

fn read(mut stdin: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).context("stdin")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
