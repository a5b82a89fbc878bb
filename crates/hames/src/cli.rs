//! From the command line to an exit code.
//!
//! It picks what runs; how that works is each module's own.

mod rules;

use std::{ffi::OsString, io::Write};

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::{
    args::{Format, RunArgs},
    conversation, demo, doctor,
    environment::Environment,
    eval, exit, explain, guide, models, print, prompt, sessions,
};

/// A coding agent in one binary: a model, its tools, and the loop between them.
#[derive(Debug, Parser)]
#[command(
    name = "hames",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 completed, 1 failed, 2 usage, 3 a limit was reached, \
                  4 a call needed a yes and nobody could be asked, 5 a check failed, 130 interrupted."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List, show, export and remove sessions.
    Sessions(sessions::Args),
    /// Say why a session ended and what it cost, or print one of the built-in tables.
    Explain(explain::Args),
    /// Choose a loop shape by four questions.
    Guide(guide::Args),
    /// List vendors and models, their windows and prices.
    Models(models::Args),
    /// Check what a run needs: a model, folders, tools.
    Doctor(doctor::Args),
    /// Run coding agents on tasks, and grade them as the official grader does.
    Eval(Box<eval::Args>),
    /// Print a completion script for a shell.
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Fix a small broken repository with a scripted model, or with yours.
    Demo(demo::Args),
}

/// Runs the program; what went wrong is on stderr by then.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(rules::joined(args)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and the version are errors to clap; nobody reads stderr for them.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(exit::USAGE);
        }
    };
    let ran = Environment::read().map_err(anyhow::Error::from);
    match ran.and_then(|environment| run(cli, &environment)) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "hames: {error:#}");
            exit::code_of(&error)
        }
    }
}

fn run(cli: Cli, environment: &Environment) -> Result<u8> {
    match cli.command {
        None => work(&cli.run, environment),
        Some(Command::Sessions(args)) => sessions::run(&args, environment),
        Some(Command::Explain(args)) => explain::run(&args, environment),
        Some(Command::Guide(args)) => guide::run(&args, environment),
        Some(Command::Models(args)) => models::run(&args, environment),
        Some(Command::Doctor(args)) => doctor::run(&args, environment),
        Some(Command::Demo(args)) => demo::run(&args, environment),
        Some(Command::Eval(args)) => eval::run(&args, environment),
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Cli::command(), "hames", &mut std::io::stdout());
            Ok(0)
        }
    }
}

fn answer(args: &RunArgs, environment: &Environment) -> Result<u8> {
    let asked = prompt::take(args, environment, std::io::stdin())?;
    if let Some(note) = prompt::left_unread(args, environment) {
        let _ = writeln!(std::io::stderr(), "hames: {note}");
    }
    print::run(args, asked, environment)
}

/// One answer with `-p`, or where there is no terminal to talk on; else a conversation.
fn work(args: &RunArgs, environment: &Environment) -> Result<u8> {
    let talks = environment.stdin_is_terminal
        && environment.stdout_is_terminal
        && environment.stderr_is_terminal;
    let answers_once = args.print
        || args.output.print_curl
        || args.output.output_format != Format::Text
        || args.output.json_schema.is_some();
    if answers_once {
        return answer(args, environment);
    }
    if !talks {
        let goes_on = args.session.continue_newest || args.session.resume.is_some();
        if args.prompt.is_none() && !goes_on {
            return Err(exit::usage(
                "there is no terminal to talk on: give a prompt with -p, or `-p -` to read it from stdin",
            ));
        }
        return answer(args, environment);
    }
    conversation::run(args, environment)
}

#[cfg(test)]
mod tests;
