//! `hames explain`: why a session ended and what it took, or one of the built-in tables.
//!
//! It reads what is there and changes nothing.

mod claims;
mod compare;
mod knows;
mod loop_lines;
pub(crate) mod page;
mod parts;
mod pipeline;
mod prices;
mod proof;
mod protocol;
mod run_log;
mod session;
mod shapes;

use std::path::Path;

use anyhow::Result;

use crate::{environment::Environment, exit::usage, state_dir::SessionsDir};

pub use claims::{Claim, claims};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A session's id or its beginning, a journal or run log by its path, or a table: loop, parts,
    /// protocol, guide, compare, knows, pipeline [default: the newest session of this folder].
    #[arg(value_name = "SESSION|TABLE")]
    pub what: Option<String>,
}

/// The exit code.
pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let text = match args.what.as_deref() {
        Some(name) => match table(name)? {
            Some(table) => table,
            None => about(name, environment)?,
        },
        None => {
            let sessions = SessionsDir::of(environment)?;
            let newest = sessions.newest_of(&environment.current_dir)?;
            session::explain(&newest.path)?
        }
    };
    page::print(&text)?;
    Ok(0)
}

/// One of the built-in tables; `None` if there is none of that name.
fn table(name: &str) -> Result<Option<String>> {
    Ok(Some(match name {
        "loop" => loop_lines::table(),
        "parts" => parts::table()?,
        "protocol" => protocol::table(),
        "guide" => shapes::table(),
        "compare" => compare::table(),
        "knows" => knows::table(),
        "pipeline" => pipeline::table(),
        _ => return Ok(None),
    }))
}

fn about(name: &str, environment: &Environment) -> Result<String> {
    let path = environment.current_dir.join(name);
    if path.is_file() {
        return about_file(&path);
    }
    let sessions = SessionsDir::of(environment)?;
    let found = sessions.find(name).map_err(|error| {
        usage(format!(
            "{error}, and the tables are loop, parts, protocol, guide, compare, knows and pipeline"
        ))
    })?;
    session::explain(&found.path)
}

fn about_file(path: &Path) -> Result<String> {
    let name = path.to_string_lossy();
    match name.ends_with(".run.jsonl") || !session::is_journal(path) {
        true => run_log::explain(path),
        false => session::explain(path),
    }
}
