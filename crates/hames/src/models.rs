//! `hames models`: to be wired to the catalog.
//!
//! It decides nothing yet.

use anyhow::Result;

use crate::environment::Environment;

#[derive(Debug, clap::Args)]
pub struct Args {}

/// The exit code.
pub fn run(_args: &Args, _environment: &Environment) -> Result<u8> {
    Err(crate::exit::usage("`hames models` is not there yet"))
}
