//! `--dry-run`: the stages of a plan, each with the command that would be run for the first task.
//!
//! It starts nothing and writes nothing.

use std::{fmt::Write as _, path::PathBuf};

use crate::{
    adapter::{Place, Plan},
    adapters, grading,
    host::Host,
    instance::{Instance, Source},
    plan::RunPlan,
    report::figures::plural,
    stage::{Stage, StageError},
    stage_table::Row,
    stages::s1_build,
};

pub fn text(
    plan: &RunPlan,
    instances: &[Instance],
    host: &Host,
    table: &[Row],
) -> Result<String, StageError> {
    let Some(first) = instances.first() else {
        return Ok("no task\n".to_owned());
    };
    let mut text = format!(
        "Run {}: {}, {} each, {} at a time, graded by {} on the {} back-end.\nFor {}:\n",
        plan.id,
        plural(instances.len(), "task"),
        plural(plan.attempts as usize, "trial"),
        plan.workers,
        plan.grader,
        plan.environment,
        first.id
    );
    let stages = table
        .iter()
        .filter(|row| row.stage != Stage::Baseline || plan.baseline);
    for row in stages {
        let command = command(row.stage, plan, first, host)?;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {:<12} {}\n  {:<12} $ {command}",
            row.stage.name(),
            row.does,
            ""
        );
    }
    Ok(text)
}

fn command(
    stage: Stage,
    plan: &RunPlan,
    instance: &Instance,
    host: &Host,
) -> Result<String, StageError> {
    Ok(match stage {
        Stage::Build => "(in this process)".to_owned(),
        Stage::Prepare => match &instance.source {
            Source::Git { url, commit } => {
                let url = url
                    .clone()
                    .unwrap_or_else(|| format!("https://github.com/{}", instance.repo));
                format!("git clone --mirror {url}; git fetch {commit}")
            }
            Source::Sdist {
                project, version, ..
            } => format!("pip download --no-deps --no-binary :all: {project}=={version}"),
            Source::Folder { path } => {
                format!("git init; git add -A -f  # from {}", path.display())
            }
            Source::Image { workdir } => format!("docker cp IMAGE:{} .", workdir.display()),
        },
        Stage::Baseline | Stage::Score => {
            let script = grading::eval_script(instance, plan.grader)?;
            let tests = script
                .text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .count();
            format!("bash eval.sh  # {tests} lines, read by {}", script.parser)
        }
        Stage::Solve => agent(plan, instance, host)?,
        Stage::Patch => "git diff --binary BASE".to_owned(),
        Stage::Record => "(in this process)".to_owned(),
    })
}

fn agent(plan: &RunPlan, instance: &Instance, host: &Host) -> Result<String, StageError> {
    let task = s1_build::render(instance, plan.telling);
    let at = |name: &str| PathBuf::from(name);
    let place = Place {
        tree: at("TREE"),
        home: at("HOME"),
        temp: at("TMP"),
        env: Vec::new(),
    };
    let mut lines = Vec::new();
    for agent in &plan.agents {
        let adapter = adapters::find(&agent.adapter)?;
        let task = crate::instance::Task {
            gold_patch: adapter.plays_gold().then(String::new),
            ..task.clone()
        };
        let planned = match adapter.plan(&task, &place, host, &agent.options) {
            // A run would be refused for it; what it would do can be said all the same.
            Err(missing @ StageError::Missing { .. }) => {
                lines.push(format!("{} ({missing})", adapter.name()));
                continue;
            }
            planned => planned?,
        };
        lines.push(match planned {
            Plan::Patch(_) => format!("{} (in this process)", adapter.name()),
            Plan::Subprocess(line) => {
                let args = line.args.iter().map(|arg| match arg == &task.prompt {
                    true => "PROMPT".to_owned(),
                    false => arg.clone(),
                });
                let args: Vec<String> = args.collect();
                format!("{} {}", line.program.display(), args.join(" "))
            }
        });
    }
    Ok(lines.join("\n                 or $ "))
}
