//! `eval calibrate`: gold, several times, with the base before it; and what is valid here.
//!
//! It is an ordinary run of the `replay` adapter with S3.

use anyhow::Result;
use hames_eval::{
    calibration::Calibration,
    experiment::Experiment,
    plan::{AgentChoice, RunPlan},
};

use super::{args::CalibrateArgs, found, running, watching::Watch};
use crate::{environment::Environment, exit::usage, explain::page};

pub(super) fn run(args: &CalibrateArgs, environment: &Environment) -> Result<u8> {
    let host = found::host(&args.place, environment)?;
    let plan = RunPlan {
        id: args
            .run_id
            .clone()
            .unwrap_or_else(|| "calibration".to_owned()),
        tasks: found::tasks(&args.tasks.tasks, &host, environment)?,
        filter: found::filter(&args.tasks),
        agents: vec![AgentChoice {
            adapter: "replay".to_owned(),
            ..AgentChoice::default()
        }],
        model_name: "gold".to_owned(),
        attempts: args.times,
        workers: args.workers,
        environment: args.grading.environment.clone(),
        grader: args.grading.grader.parse().map_err(usage)?,
        test_limit: args.grading.test_limit.as_secs_f64(),
        baseline: true,
        ..RunPlan::default()
    };
    let loaded = found::load(&plan)?;
    let experiment = Experiment::new(&found::root(&args.place, environment), &plan.id);
    found::keep_plan(&experiment, &plan)?;
    let watch = std::sync::Arc::new(Watch::new(environment, &experiment));
    let mut cx = running::context(plan, experiment.clone(), &host, watch.clone())?;
    let ran = running::on_runtime(&mut cx, &loaded.instances, Some(&watch))?;
    watch.finish();
    let calibration = Calibration::of(&ran.results);
    let path = match &args.output {
        Some(path) => environment.current_dir.join(path),
        None => experiment.dir.join("calibration.json"),
    };
    calibration.write(&path)?;
    page::print(&told(&calibration, &path.display().to_string()))?;
    Ok(running::code(&ran, loaded.refused.len()))
}

fn told(calibration: &Calibration, path: &str) -> String {
    let mut text = String::new();
    for (id, found) in calibration
        .instances
        .iter()
        .filter(|(_, found)| !found.valid)
    {
        let (what, remedy) = match found.is_unknown() {
            true => ("not known", "; mend that and calibrate again"),
            false => ("not valid here", ""),
        };
        let why = found.why_not.as_deref().unwrap_or_default();
        text += &format!("{what}: {id}: {why}{remedy}\n");
    }
    let all = calibration.instances.len();
    text + &format!(
        "{} of {all} instances are valid on this machine: {path}\n",
        calibration.valid
    )
}
