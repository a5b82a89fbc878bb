//! `eval grade` and `eval regrade`: verdicts without an agent.
//!
//! The rules are `hames_eval::grading`'s.

use std::collections::BTreeSet;

use anyhow::Result;
use hames_eval::{
    experiment::Experiment,
    plan::{AgentChoice, RunPlan},
    prediction::{self, Prediction},
    regrade,
};

use super::{
    args::{GradeArgs, RegradeArgs},
    found, reporting, running,
    watching::Watch,
};
use crate::{environment::Environment, exit::usage, explain::page};

pub(super) fn grade(args: &GradeArgs, environment: &Environment) -> Result<u8> {
    let host = found::host(&args.place, environment)?;
    let file = environment.current_dir.join(&args.predictions);
    let agent = match args.predictions.to_str() {
        Some("gold") if !file.exists() => AgentChoice {
            adapter: "replay".to_owned(),
            ..AgentChoice::default()
        },
        _ => {
            let mut agent = AgentChoice {
                adapter: "predictions".to_owned(),
                ..AgentChoice::default()
            };
            agent.options.command = file.display().to_string();
            agent
        }
    };
    let mut plan = RunPlan {
        tasks: found::tasks(&args.tasks.tasks, &host, environment)?,
        filter: found::filter(&args.tasks),
        model_name: "gold".to_owned(),
        workers: args.workers,
        environment: args.grading.environment.clone(),
        grader: args.grading.grader.parse().map_err(usage)?,
        test_limit: args.grading.test_limit.as_secs_f64(),
        ..RunPlan::default()
    };
    // All that there is, and then what is predicted of it.
    let all = found::load(&plan)?;
    plan.agents = vec![agent];
    let mut notes = Vec::new();
    if let Some(made) = found::predictions(&plan)? {
        notes.extend(several_models(&made));
        if let Some(first) = made.first() {
            plan.model_name.clone_from(&first.model_name_or_path);
        }
        plan.predictions =
            Some(prediction::digest(&file).map_err(|error| usage(error.to_string()))?);
        let ids = all.instances.iter().map(|instance| instance.id.clone());
        let is_made = |id: &String| made.iter().any(|one| one.instance_id == *id);
        plan.unpredicted = ids.filter(|id| !is_made(id)).collect();
    }
    let mut loaded = found::load(&plan)?;
    loaded.notes.extend(notes);
    plan.id = args.run_id.clone().unwrap_or_else(|| run_id(&plan));
    let experiment = Experiment::new(&found::root(&args.place, environment), &plan.id);
    found::check_same(&experiment, &plan)?;
    found::keep_plan(&experiment, &plan)?;
    let watch = Watch::new(environment, &experiment);
    running::carry_out(plan, experiment, &host, &loaded, watch)
}

/// A run has one name to be scored under.
fn several_models(made: &[Prediction]) -> Option<String> {
    let models: BTreeSet<&str> = made
        .iter()
        .map(|one| one.model_name_or_path.as_str())
        .collect();
    let first = made.first().filter(|_| models.len() > 1)?;
    Some(format!(
        "these are predictions of {} models ({}), scored as one under the name {}: give each a file of \
         its own for scores of their own",
        models.len(),
        models.into_iter().collect::<Vec<_>>().join(", "),
        first.model_name_or_path
    ))
}

/// Other predictions of the same model are another run.
fn run_id(plan: &RunPlan) -> String {
    let model = hames_eval::experiment::file_name(&plan.model_name);
    let digest = plan.predictions.iter().flat_map(|digest| digest.chars());
    let mark: String = digest.take(8).collect();
    match mark.is_empty() {
        true => format!("grade-{model}"),
        false => format!("grade-{model}-{mark}"),
    }
}

pub(super) fn regrade(args: &RegradeArgs, environment: &Environment) -> Result<u8> {
    let root = found::root(&args.which.place, environment);
    let experiment = found::experiment(args.which.run.as_deref(), &root)?;
    let plan = found::plan(&experiment)?;
    let loaded = found::load(&plan)?;
    let version = args.grader.parse().map_err(usage)?;
    let changed = regrade::run(&experiment, &plan, &loaded.instances, version)?;
    let mut text = String::new();
    for change in &changed.changed {
        text += &format!(
            "{}: was {}, is {}\n",
            change.trial,
            verdict(change.was),
            verdict(change.is)
        );
    }
    text += &format!(
        "{} of {} graded trials have another verdict under {version}; {} have no log\n",
        changed.changed.len(),
        changed.graded,
        changed.without_log
    );
    page::print(&text)?;
    reporting::print(&experiment)?;
    Ok(0)
}

fn verdict(resolved: bool) -> &'static str {
    if resolved { "resolved" } else { "unresolved" }
}
