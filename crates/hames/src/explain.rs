//! `hames explain`: to be built.
//!
//! It decides nothing yet.

use anyhow::Result;

use crate::environment::Environment;

#[derive(Debug, clap::Args)]
pub struct Args {}

/// The exit code.
pub fn run(_args: &Args, _environment: &Environment) -> Result<u8> {
    Err(crate::exit::usage("`hames explain` is not there yet"))
}
