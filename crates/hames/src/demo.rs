//! `hames demo`: a real repository, a real bug, real tools, and a model that fixes it.
//!
//! The model is scripted unless another is named, and it says so. Success is what the test command
//! says at the end, never what the model says.

mod bare;
mod page;
mod repository;

use std::path::Path;

use anyhow::{Context, Result};

use crate::{
    args::RunArgs, environment::Environment, exit::usage, print, prompt::Asked,
    state_dir::SessionsDir,
};
use page::Page;
use repository::Repository;

/// The task's own check did not pass.
const CHECK_FAILED: u8 = 5;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Let this model do it, instead of the scripted one.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// First show the same task as single API calls, and what is then missing.
    #[arg(long)]
    bare: bool,
    /// Leave the repository where it is.
    #[arg(long)]
    keep: bool,
}

/// The exit code: 0 only if the repository's test passes at the end.
pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let repository = Repository::make(environment)?;
    let environment = surroundings(args, environment, &repository)?;
    let page = Page::new(&environment);
    let ran = show(args, &environment, &repository, &page);
    match args.keep {
        true => page.note(&format!(
            "The repository is in {}",
            repository.folder.display()
        ))?,
        false => repository.remove(),
    }
    ran
}

fn show(
    args: &Args,
    environment: &Environment,
    repository: &Repository,
    page: &Page,
) -> Result<u8> {
    introduce(args, repository, page)?;
    let first = repository.test()?;
    page.heading(&format!("The test fails ({})", repository.task.test))?;
    page.block(&first.output)?;
    if first.passed {
        return Err(usage("the demo's test passes before anything was fixed"));
    }
    if args.bare {
        bare::show(
            &run_args(args, repository, true)?,
            environment,
            repository,
            page,
        )?;
    }
    page.heading("The agent works")?;
    page.note(&format!("> {}\n", repository.task.prompt()))?;
    let run_args = run_args(args, repository, false)?;
    let code = print::run(
        &run_args,
        Asked::Prompt(repository.task.prompt()),
        environment,
    )?;
    conclude(args, environment, repository, page, code)
}

fn introduce(args: &Args, repository: &Repository, page: &Page) -> Result<()> {
    let model = match &args.model {
        Some(model) => format!("the model is {model}"),
        None => "the model is scripted: no key, no network".to_owned(),
    };
    page.title(&format!(
        "hames demo: a real repository with a bug, real tools, a real test; {model}."
    ))?;
    page.note(&format!("  {}", repository.folder.display()))
}

/// What was changed, what the test says now, and how to go on.
fn conclude(
    args: &Args,
    environment: &Environment,
    repository: &Repository,
    page: &Page,
    code: u8,
) -> Result<u8> {
    page.heading("What was changed (git diff)")?;
    page.diff(&repository.diff()?)?;
    let last = repository.test()?;
    let says = if last.passed {
        "The test passes"
    } else {
        "The test still fails"
    };
    page.heading(&format!("{says} ({})", repository.task.test))?;
    page.block(&last.output)?;
    if !repository.test_is_untouched() {
        page.heading("The test itself was changed, so that its passing shows nothing.")?;
        return Ok(CHECK_FAILED);
    }
    if args.model.is_none() {
        page.heading("What you saw")?;
        page.note(SCRIPTED)?;
    }
    if let Some(id) = newest(environment, &repository.folder) {
        page.note(&format!(
            "\n  hames explain {id}\n      why it ended, and what each turn took\n  hames sessions show {id}\n      \
             what was said and done"
        ))?;
    }
    Ok(match (last.passed, code) {
        (true, code) => code,
        (false, 0) => CHECK_FAILED,
        (false, code) => code,
    })
}

const SCRIPTED: &str = "\
The model was SCRIPTED: its lines come from a file in this program, each chosen by what the tools
had said. All else was real: the loop, the shell, the edit, the permissions, the journal, the test.
A real model does the same with

  hames demo --model anthropic/claude-sonnet-5-5     (export ANTHROPIC_API_KEY=...)
  hames demo --model openai/gpt-6.1-terra            (export OPENAI_API_KEY=...)
  hames demo --model ollama                          (ollama serve; ollama pull qwen3)
  hames demo --model http://HOST:PORT/v1#MODEL       (llama.cpp, vLLM, LM Studio, ...)

`hames demo --bare` shows what a model's API alone does not do. `hames models` lists the rest.";

/// A scripted run meets no settings, hooks or instructions of the user's: it has to be the same
/// everywhere. Its journal stands among the others, if there is a place for them.
fn surroundings(
    args: &Args,
    environment: &Environment,
    repository: &Repository,
) -> Result<Environment> {
    let mut own = environment.clone();
    let state = environment.state_dir();
    let usable = state.filter(|state| std::fs::create_dir_all(state.join("sessions")).is_ok());
    let state = match &usable {
        Some(state) => state.parent().unwrap_or(state).to_owned(),
        None => repository.beside("state"),
    };
    set(&mut own, "XDG_STATE_HOME", &state);
    if args.model.is_none() {
        set(&mut own, "HOME", &repository.beside("home"));
        set(&mut own, "XDG_CONFIG_HOME", &repository.beside("config"));
    }
    own.current_dir = repository.folder.clone();
    Ok(own)
}

fn set(environment: &mut Environment, name: &str, path: &Path) {
    let path = path.to_string_lossy().into_owned();
    environment.variables.insert(name.to_owned(), path);
}

/// As a user would type it.
fn run_args(args: &Args, repository: &Repository, bare: bool) -> Result<RunArgs> {
    let script = match bare {
        true => repository.script("bare.json", &repository.task.bare())?,
        false => repository.script("scenario.json", repository.task.scenario)?,
    };
    let model = args
        .model
        .clone()
        .unwrap_or_else(|| format!("script:{}", script.display()));
    let line = [
        "hames",
        "-p",
        "--permission-mode",
        "full-auto",
        "--max-turns",
        "40",
        "--model",
        &model,
    ];
    RunArgs::typed(line).context("the demo's own command line")
}

fn newest(environment: &Environment, folder: &Path) -> Option<String> {
    let sessions = SessionsDir::of(environment).ok()?;
    let real = folder.canonicalize().ok()?;
    Some(sessions.newest_of(&real).ok()?.id)
}
