//! `hames guide`: four questions, one shape, and the reasons for it.
//!
//! What the answers lead to is `choose`'s to say, and where they are kept is `kept.rs`'s.

pub mod kept;
mod measure;

use std::{
    fmt::Write as _,
    io::{self, BufRead, Write},
    path::PathBuf,
};

use anyhow::Result;
use clap::ValueEnum;
use hames_agent::shapes::{
    Answers, Choice, choose,
    choose::{Base, Wrapper},
};

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
        false => Some(kept::save(answers, environment)?),
    };
    page::print(&said(&choice, kept))?;
    Ok(0)
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
