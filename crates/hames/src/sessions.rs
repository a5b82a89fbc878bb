//! `hames sessions`: list, show, export and remove what is kept.
//!
//! A session that is open is never removed; one that cannot be read hides no other.

mod export;
mod list;
mod remove;
mod transcript;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

use crate::{environment::Environment, explain::page, state_dir::SessionsDir};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All sessions, the one that was used last first.
    List(ListArgs),
    /// What was said and done in a session.
    Show {
        /// The id, or a beginning that only one session has.
        id: String,
    },
    /// A session as one file: its journal, or a text to read.
    Export(ExportArgs),
    /// Remove sessions, with their children and run logs.
    Rm(RemoveArgs),
}

#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    /// Only those of this folder.
    #[arg(long)]
    here: bool,
    /// At most so many.
    #[arg(short = 'n', long, value_name = "N")]
    most: Option<usize>,
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    id: String,
    #[arg(long, value_enum, default_value = "journal")]
    format: Format,
    /// Where to, instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The session's own lines, as they stand in its file.
    Journal,
    /// To read.
    Markdown,
    /// One object that holds the session and its children.
    Json,
}

#[derive(Debug, clap::Args)]
struct RemoveArgs {
    #[arg(required = true)]
    ids: Vec<String>,
    /// Without a question.
    #[arg(short = 'y', long)]
    yes: bool,
}

/// The exit code.
pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let sessions = SessionsDir::of(environment)?;
    match &args.command {
        None => list::run(&ListArgs::default(), &sessions, environment),
        Some(Command::List(args)) => list::run(args, &sessions, environment),
        Some(Command::Show { id }) => {
            page::print(&transcript::text(&sessions.find(id)?.path)?)?;
            Ok(0)
        }
        Some(Command::Export(args)) => export::run(args, &sessions),
        Some(Command::Rm(args)) => remove::run(args, &sessions, environment),
    }
}
