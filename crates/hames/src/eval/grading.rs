//! `eval grade` and `eval regrade`: verdicts without an agent.
//!
//! The rules are `hames_eval::grading`'s.

use anyhow::Result;
use hames_eval::{
    experiment::Experiment,
    plan::{AgentChoice, RunPlan},
    prediction, regrade,
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
    let loaded = found::load(&plan)?;
    let mut instances = loaded.instances;
    if agent.adapter == "predictions" {
        let made = prediction::read(&file).map_err(|error| usage(error.to_string()))?;
        if plan.filter == hames_eval::plan::Filter::default() {
            prediction::check_ids(&made, &instances).map_err(|error| usage(error.to_string()))?;
        }
        if let Some(first) = made.first() {
            plan.model_name.clone_from(&first.model_name_or_path);
        }
        instances.retain(|instance| made.iter().any(|one| one.instance_id == instance.id));
    }
    plan.id = args.run_id.clone().unwrap_or_else(|| {
        format!(
            "grade-{}",
            hames_eval::experiment::file_name(&plan.model_name)
        )
    });
    plan.agents = vec![agent];
    let experiment = Experiment::new(&found::root(&args.place, environment), &plan.id);
    found::keep_plan(&experiment, &plan)?;
    let watch = Watch::new(environment, &experiment);
    running::carry_out(
        plan,
        experiment,
        &host,
        &instances,
        watch,
        loaded.refused.len(),
    )
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
