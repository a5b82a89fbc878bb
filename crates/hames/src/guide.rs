//! `hames guide`: four questions, one shape, and the reasons for it.
//!
//! The answers are kept in `guide.json` beside the settings; what they lead to is `choose`'s to say.

mod measure;

use std::{
    fmt::Write as _,
    fs,
    io::{self, BufRead, Write},
    path::PathBuf,
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use hames_agent::shapes::{
    Answers, Choice, choose,
    choose::{Base, Wrapper},
};
use serde::{Deserialize, Serialize};

use crate::{environment::Environment, exit::usage, explain::page};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Can the steps be foreseen at a glance?
    #[arg(long, value_enum, value_name = "yes|no")]
    steps_foreseeable: Option<Answer>,
    /// Does the result's quality matter more than usual (code, documents, data)?
    #[arg(long, value_enum, value_name = "yes|no")]
    quality_sensitive: Option<Answer>,
    /// Does it take several roles (plan, do, review)?
    #[arg(long, value_enum, value_name = "yes|no")]
    several_roles: Option<Answer>,
    /// Does cost count?
    #[arg(long, value_enum, value_name = "yes|no")]
    cost_sensitive: Option<Answer>,
    /// Keep no answers: `--shape auto` goes on with those it has.
    #[arg(long)]
    dry_run: bool,
    /// Instead: run the four shapes on each scripted task of a folder and print what they took.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["steps_foreseeable", "quality_sensitive", "several_roles", "cost_sensitive"])]
    measure: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    #[value(alias = "y", alias = "true")]
    Yes,
    #[value(alias = "n", alias = "false")]
    No,
}

/// As they lie in the file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Saved {
    steps_foreseeable: bool,
    quality_sensitive: bool,
    several_roles: bool,
    cost_sensitive: bool,
}

const QUESTIONS: [(&str, &str); 4] = [
    (
        "steps-foreseeable",
        "Can the steps be foreseen at a glance?",
    ),
    (
        "quality-sensitive",
        "Is the result sensitive to quality (code, documents, data)?",
    ),
    (
        "several-roles",
        "Does it take several roles (planner, executor, reviewer)?",
    ),
    ("cost-sensitive", "Does cost count?"),
];

/// The exit code.
pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    if let Some(folder) = &args.measure {
        return measure::run(&environment.current_dir.join(folder));
    }
    let given = [
        args.steps_foreseeable,
        args.quality_sensitive,
        args.several_roles,
        args.cost_sensitive,
    ];
    let answers = answers(given, environment)?;
    let choice = choose(answers);
    let kept = match args.dry_run {
        true => None,
        false => Some(save(answers, environment)?),
    };
    page::print(&said(&choice, kept))?;
    Ok(0)
}

/// The answers that were given last; `None` when there are none. `--shape auto` uses them.
pub fn saved(environment: &Environment) -> Result<Option<Answers>> {
    let Some(file) = file(environment) else {
        return Ok(None);
    };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{}", file.display())),
    };
    let saved: Saved = serde_json::from_str(&text).map_err(|error| {
        usage(format!(
            "{}: {error}; `hames guide` writes it again",
            file.display()
        ))
    })?;
    Ok(Some(Answers {
        steps_foreseeable: saved.steps_foreseeable,
        quality_sensitive: saved.quality_sensitive,
        several_roles: saved.several_roles,
        cost_sensitive: saved.cost_sensitive,
    }))
}

/// `plan_execute + reflection`: the base, then what wraps it, from the inside out.
pub fn name(choice: &Choice) -> String {
    let mut name = match choice.base {
        Base::React => "react",
        Base::PlanExecute => "plan_execute",
    }
    .to_owned();
    for wrapper in &choice.wrappers {
        name += match wrapper {
            Wrapper::MultiAgent => " + multi_agent",
            Wrapper::Reflection => " + reflection",
        };
    }
    name
}

fn answers(given: [Option<Answer>; 4], environment: &Environment) -> Result<Answers> {
    let missing: Vec<_> = QUESTIONS
        .iter()
        .zip(given)
        .filter(|(_, answer)| answer.is_none())
        .map(|((flag, _), _)| format!("--{flag} yes|no"))
        .collect();
    let can_ask = environment.stdin_is_terminal && environment.stderr_is_terminal;
    if !missing.is_empty() && !can_ask {
        return Err(usage(format!(
            "there is no terminal to ask on: add {}",
            missing.join(" ")
        )));
    }
    let mut all = [false; 4];
    for ((answer, (_, question)), given) in all.iter_mut().zip(QUESTIONS).zip(given) {
        *answer = match given {
            Some(given) => given == Answer::Yes,
            None => ask(question)?,
        };
    }
    let [
        steps_foreseeable,
        quality_sensitive,
        several_roles,
        cost_sensitive,
    ] = all;
    Ok(Answers {
        steps_foreseeable,
        quality_sensitive,
        several_roles,
        cost_sensitive,
    })
}

fn ask(question: &str) -> Result<bool> {
    let mut err = io::stderr();
    loop {
        write!(err, "{question} [y/n] ")?;
        err.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Err(usage("the question was not answered"));
        }
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

fn file(environment: &Environment) -> Option<PathBuf> {
    Some(environment.config_dir()?.join("guide.json"))
}

fn save(answers: Answers, environment: &Environment) -> Result<PathBuf> {
    let file = file(environment).ok_or_else(|| {
        usage("set HOME or XDG_CONFIG_HOME: the answers need a place, or add --dry-run")
    })?;
    let saved = Saved {
        steps_foreseeable: answers.steps_foreseeable,
        quality_sensitive: answers.quality_sensitive,
        several_roles: answers.several_roles,
        cost_sensitive: answers.cost_sensitive,
    };
    let shown = || format!("{}", file.display());
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(shown)?;
    }
    let text = serde_json::to_string_pretty(&saved)? + "\n";
    fs::write(&file, text).with_context(shown)?;
    Ok(file)
}

fn said(choice: &Choice, kept: Option<PathBuf>) -> String {
    let mut text = format!("shape      {}\n", name(choice));
    for reason in &choice.reasons {
        let _ = writeln!(text, "because    {reason}");
    }
    for conflict in &choice.conflicts {
        let _ = writeln!(text, "conflict   {conflict}");
    }
    let by_name = match (choice.base, choice.wrappers.as_slice()) {
        (Base::React, []) => Some("react"),
        (Base::PlanExecute, []) => Some("plan_execute"),
        (Base::React, [Wrapper::MultiAgent]) => Some("multi_agent"),
        (Base::React, [Wrapper::Reflection]) => Some("reflection"),
        _ => None,
    };
    match (by_name, kept) {
        (named, Some(file)) => {
            let _ = writeln!(text, "use it     hames -p \"PROMPT\" --shape auto");
            if let Some(name) = named {
                let _ = writeln!(text, "or         hames -p \"PROMPT\" --shape {name}");
            }
            let _ = writeln!(text, "kept in    {}", file.display());
        }
        (Some(name), None) => {
            let _ = writeln!(text, "use it     hames -p \"PROMPT\" --shape {name}");
        }
        (None, None) => {
            let _ = writeln!(
                text,
                "use it     answer without --dry-run, then hames -p \"PROMPT\" --shape auto"
            );
        }
    }
    for wanted in &choice.conflicts {
        if wanted.starts_with("quality") {
            let _ = writeln!(text, "insist     hames -p \"PROMPT\" --shape reflection");
        } else {
            let _ = writeln!(text, "insist     hames -p \"PROMPT\" --shape multi_agent");
        }
    }
    text
}
