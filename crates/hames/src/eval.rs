//! `hames eval`: tasks in, an agent run on each, an official verdict and a report out.
//!
//! What is read from the command line and the environment is handed to `hames-eval`, which reads
//! neither.

mod args;
mod calibrating;
mod found;
mod grading;
mod listing;
mod reporting;
mod running;
mod selftest;
mod watching;

use anyhow::Result;

pub use args::Args;
use args::Command;

use crate::environment::Environment;

/// The exit code: 0 if everything was judged, whatever the verdicts; 1 if something could not be.
pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    match &args.command {
        Command::Run(args) => running::run(args, environment),
        Command::Status(args) => reporting::status(args, environment),
        Command::Resume(args) => running::resume(args, environment),
        Command::Report(args) => reporting::report(args, environment),
        Command::Regrade(args) => grading::regrade(args, environment),
        Command::Grade(args) => grading::grade(args, environment),
        Command::Selftest(args) => selftest::run(args, environment),
        Command::List(args) => listing::run(args, environment),
        Command::Calibrate(args) => calibrating::run(args, environment),
    }
}
