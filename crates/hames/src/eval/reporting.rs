//! `eval report` and `eval status`.
//!
//! What they say is `hames_eval::report`'s; this finds the run and prints.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use hames_eval::{
    experiment::{Experiment, file_name},
    report::{self, Comparison, Options, Run},
};

use super::{
    args::{Face, ReportArgs, Which},
    found, watching,
};
use crate::{environment::Environment, explain::page};

pub(super) fn report(args: &ReportArgs, environment: &Environment) -> Result<u8> {
    let root = found::root(&args.which.place, environment);
    let experiment = found::experiment(args.which.run.as_deref(), &root)?;
    let run = load(&experiment)?;
    let options = Options::default();
    let text = match &args.compare {
        None => face(&run, args.format, &options)?,
        Some(name) => {
            let other = load(&found::experiment(Some(name), &root)?)?;
            compared(
                &report::compare(&run, &other, &options),
                args.format,
                &options,
            )?
        }
    };
    let path = match (&args.output, args.format) {
        (Some(path), _) => Some(environment.current_dir.join(path)),
        // Its links are relative to the run's folder, where a comparison is no run's own page.
        (None, Face::Html) => Some(experiment.dir.join(match &args.compare {
            None => "report.html".to_owned(),
            Some(other) => format!("report-{}.html", file_name(other)),
        })),
        (None, Face::Terminal | Face::Markdown | Face::Json) => None,
    };
    match path {
        Some(path) => write(&path, &text)?,
        None => page::print(&text)?,
    }
    Ok(0)
}

fn face(run: &Run, face: Face, options: &Options) -> Result<String> {
    Ok(match face {
        Face::Terminal => report::terminal(run, options),
        Face::Markdown => report::markdown(run, options),
        Face::Html => report::html(run, options),
        Face::Json => serde_json::to_string_pretty(&report::json(run, options))? + "\n",
    })
}

fn compared(comparison: &Comparison, face: Face, options: &Options) -> Result<String> {
    Ok(match face {
        Face::Terminal => comparison.terminal(options),
        Face::Markdown => comparison.markdown(),
        Face::Html => comparison.html(),
        Face::Json => serde_json::to_string_pretty(comparison)? + "\n",
    })
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())?;
    page::print(&format!("{}\n", path.display()))
}

pub(super) fn status(args: &Which, environment: &Environment) -> Result<u8> {
    let root = found::root(&args.place, environment);
    let experiment = found::experiment(args.run.as_deref(), &root)?;
    let progress = watching::told(&experiment.dir)?;
    let mut text = progress.unwrap_or_else(|| format!("{}: no trial has begun\n", experiment.id));
    text += "\n";
    text += &report::terminal(&load(&experiment)?, &Options::default());
    page::print(&text)?;
    Ok(0)
}

/// What stands at the end of a run.
pub(super) fn print(experiment: &Experiment) -> Result<()> {
    page::print(&report::terminal(&load(experiment)?, &Options::default()))
}

fn load(experiment: &Experiment) -> Result<Run> {
    Ok(Run::load(&experiment.dir)?)
}
