//! What a command line and the environment name: tasks, folders, runs, the host.
//!
//! It runs nothing, and makes no folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result};
use hames_eval::{
    calibration::Calibration,
    datasets::{self, Loaded},
    experiment::Experiment,
    host::Host,
    mini,
    plan::{Filter, RunPlan},
    prediction::{self, Prediction},
};

use super::args::{Place, Tasks};
use crate::{environment::Environment, exit::usage};

/// The name under which the built-in benchmark is asked for.
const MINI: &str = "mini";

pub(super) fn host(place: &Place, environment: &Environment) -> Result<Host> {
    let cache = match &place.cache {
        Some(cache) => environment.current_dir.join(cache),
        None => environment
            .cache_dir()
            .ok_or_else(|| {
                usage("there is no home folder: say where checkouts may lie with --cache DIR")
            })?
            .join("eval"),
    };
    Ok(Host {
        variables: environment.variables.clone(),
        cache,
        hames: std::env::current_exe().context("where this program is")?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

pub(super) fn root(place: &Place, environment: &Environment) -> PathBuf {
    environment.current_dir.join(&place.dir)
}

pub(super) fn filter(tasks: &Tasks) -> Filter {
    Filter {
        ids: tasks.ids.clone(),
        repos: tasks.repos.clone(),
        split: tasks.split.clone(),
        limit: tasks.limit,
    }
}

/// Where the tasks are; the built-in ones are laid out in the cache first.
pub(super) fn tasks(tasks: &Path, host: &Host, environment: &Environment) -> Result<PathBuf> {
    let path = environment.current_dir.join(tasks);
    if tasks == Path::new(MINI) && !path.exists() {
        let laid = host.cache.join("mini");
        mini::lay_out(&laid)?;
        return Ok(laid);
    }
    Ok(path)
}

/// What is to be graded, where no agent is run.
pub(super) fn predictions(plan: &RunPlan) -> Result<Option<Vec<Prediction>>> {
    let mut agents = plan.agents.iter();
    let agent = agents.find(|agent| agent.adapter == "predictions");
    let file = agent.map(|agent| Path::new(&agent.options.command));
    file.map(prediction::read)
        .transpose()
        .map_err(|error| usage(error.to_string()))
}

/// The tasks of a plan: those that its calibration and its predictions leave.
pub(super) fn load(plan: &RunPlan) -> Result<Loaded> {
    let mut loaded =
        datasets::load(&plan.tasks, &plan.filter).map_err(|error| usage(error.to_string()))?;
    if let Some(file) = &plan.calibration {
        let calibration = Calibration::read(file).map_err(|error| usage(error.to_string()))?;
        let (valid, left_out) = calibration.split(std::mem::take(&mut loaded.instances));
        loaded.instances = valid;
        loaded.notes.extend(left_out);
    }
    if let Some(made) = predictions(plan)? {
        if plan.filter == Filter::default() {
            prediction::check_ids(&made, &loaded.instances)
                .map_err(|error| usage(error.to_string()))?;
        }
        let is_made = |id: &str| made.iter().any(|one| one.instance_id == id);
        loaded.instances.retain(|instance| is_made(&instance.id));
    }
    if loaded.instances.is_empty() {
        let why = loaded.refused.iter().map(|(_, why)| format!("\n  {why}"));
        let why: String = why.collect();
        return Err(usage(format!(
            "{}: no task is left to run{why}",
            plan.tasks.display()
        )));
    }
    Ok(loaded)
}

/// A run by its name, or the newest there is.
pub(super) fn experiment(name: Option<&str>, root: &Path) -> Result<Experiment> {
    if let Some(name) = name {
        let experiment = Experiment::new(root, name);
        if experiment.run_file().is_file() {
            return Ok(experiment);
        }
        let there = names(root).join(", ");
        let there = if there.is_empty() {
            "none".to_owned()
        } else {
            there
        };
        return Err(usage(format!(
            "there is no run {name} in {}: there is {there}",
            root.display()
        )));
    }
    let newest = names(root)
        .into_iter()
        .max_by_key(|name| begun(&Experiment::new(root, name)));
    let newest = newest.ok_or_else(|| {
        usage(format!(
            "there is no run in {}: start one with `hames eval run`",
            root.display()
        ))
    })?;
    Ok(Experiment::new(root, &newest))
}

/// The runs of a folder, sorted.
pub(super) fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let runs = entries.filter(|entry| entry.path().join("run.json").is_file());
    let mut names: Vec<String> = runs
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn begun(experiment: &Experiment) -> Option<SystemTime> {
    fs::metadata(experiment.run_file())
        .and_then(|meta| meta.modified())
        .ok()
}

pub(super) fn plan(experiment: &Experiment) -> Result<RunPlan> {
    let path = experiment.run_file();
    let text = fs::read(&path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text).map_err(|error| {
        usage(format!(
            "{}: {error}; start the run anew under another name",
            path.display()
        ))
    })
}

/// A run that has begun is not turned into another one: the work in it would be lost.
pub(super) fn check_same(experiment: &Experiment, plan: &RunPlan) -> Result<()> {
    let Ok(text) = fs::read(experiment.run_file()) else {
        return Ok(());
    };
    let Ok(kept) = serde_json::from_slice::<RunPlan>(&text) else {
        return Ok(());
    };
    let differs = plan.differs_from(&kept);
    if differs.is_empty() || !has_begun(experiment) {
        return Ok(());
    }
    Err(usage(format!(
        "run {} was begun with something else ({}): give this one a --run-id of its own (`eval run --force` runs everything anew)",
        experiment.id,
        differs.join(", ")
    )))
}

fn has_begun(experiment: &Experiment) -> bool {
    let entries = fs::read_dir(&experiment.dir)
        .into_iter()
        .flatten()
        .flatten();
    let mut trials = entries.filter(|entry| entry.path().join("manifest.json").is_file());
    trials.next().is_some()
}

/// Written before anything runs, so that `resume` has it.
pub(super) fn keep_plan(experiment: &Experiment, plan: &RunPlan) -> Result<()> {
    let text = serde_json::to_vec_pretty(plan)?;
    let kept = hames_eval::experiment::write_atomically(&experiment.run_file(), &text);
    kept.map_err(|error: io::Error| anyhow::anyhow!("{}: {error}", experiment.run_file().display()))
}
