//! The system prompt: rendered once an epoch, from fragments that each say one thing.
//!
//! What changes within a day does not belong here: it would break the cached prefix.

use std::{fmt::Write, path::Path};

use hames_agent::permission::modes::Mode;

use crate::instructions::Instruction;

pub struct Known<'a> {
    pub workspace: &'a Path,
    pub also: &'a [String],
    pub mode: Mode,
    pub day: &'a str,
    pub instructions: &'a [Instruction],
    /// Takes the place of all that is built in.
    pub instead: Option<&'a str>,
    pub append: Option<&'a str>,
    /// The text of the schema that the final answer must fit.
    pub schema: Option<&'a str>,
}

const WHO: &str = "You are Hames, an agent that works on code and files with the tools you are \
    given. Look before you change something, make the smallest change that does the task, and run \
    what shows that it works. Say what you found and did in a few plain sentences; if something \
    failed, say so.";

pub fn render(known: &Known<'_>) -> String {
    let mut text = match known.instead {
        Some(instead) => instead.to_owned(),
        None => built_in(known),
    };
    for Instruction { path, text: said } in known.instructions {
        let _ = write!(
            text,
            "\n\n# Instructions from {}\n\n{}",
            path.display(),
            said.trim()
        );
    }
    if let Some(append) = known.append {
        let _ = write!(text, "\n\n{append}");
    }
    if let Some(schema) = known.schema {
        let _ = write!(
            text,
            "\n\nYour final answer must be one JSON value and nothing else, and fit this JSON \
             Schema:\n{schema}"
        );
    }
    text
}

fn built_in(known: &Known<'_>) -> String {
    let mut text = WHO.to_owned();
    let _ = write!(text, "\n\nWorkspace: {}", known.workspace.display());
    for also in known.also {
        let _ = write!(text, "\nAlso: {also}");
    }
    let platform = std::env::consts::OS;
    let _ = write!(text, "\nPlatform: {platform}\nDay: {}", known.day);
    let _ = write!(text, "\nPermissions: {}", permissions(known.mode));
    text
}

fn permissions(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "looking is free; changes and commands may be refused",
        Mode::Plan => "only look and plan; every change is refused",
        Mode::AcceptEdits => {
            "looking and editing in the workspace are free; commands may be refused"
        }
        Mode::FullAuto => "everything is allowed",
    }
}
