//! The tools of a run, and how their processes are kept.
//!
//! No process sees a provider's key, and none outlives the run.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Result;
use hames_agent::registry::ToolRegistry;
use hames_tools::{OutputLimits, ProcessOptions, Processes, TimeLimits, ToolsConfig, builtin};

use crate::{
    environment::Environment, exit::usage, serving::Services, settings::Set, settled::Settled,
};

/// `env`: from the settings, for every child.
pub fn processes(services: &Services, env: &[(String, String)]) -> Arc<Processes> {
    let mut options = ProcessOptions::default();
    options.env.extend_from_slice(env);
    Processes::new(ProcessOptions {
        strip_env: services.secret_variables().into_iter().collect(),
        // This process is ours alone, so it may adopt orphans.
        subreaper: true,
        cgroup: true,
        ..options
    })
}

pub fn registry(
    settled: &Settled,
    environment: &Environment,
    processes: Arc<Processes>,
) -> Result<ToolRegistry> {
    let config = ToolsConfig {
        shell: shell(settled, environment)?,
        time: time_limits(settled),
        output: OutputLimits {
            folder: environment.outputs_dir(),
            ..OutputLimits::default()
        },
        processes,
        ..ToolsConfig::default()
    };
    Ok(ToolRegistry::new(builtin(&config))?)
}

fn time_limits(settled: &Settled) -> TimeLimits {
    let mut limits = TimeLimits::default();
    let seconds = |set: &Option<Set<f64>>| {
        let seconds = set.as_ref()?.value;
        Duration::try_from_secs_f64(seconds).ok()
    };
    let timeouts = &settled.timeouts;
    limits.default = seconds(&timeouts.bash).unwrap_or(limits.default);
    limits.most = seconds(&timeouts.bash_most).unwrap_or(limits.most);
    limits
}

/// A bare name is looked up as a shell would look it up.
fn shell(settled: &Settled, environment: &Environment) -> Result<Option<PathBuf>> {
    let Some(asked) = &settled.args.permission.shell else {
        return Ok(None);
    };
    let is_bare = asked.components().count() == 1 && asked.is_relative();
    let path = environment.var("PATH").filter(|_| is_bare);
    let mut places: Vec<PathBuf> = match path {
        Some(path) => std::env::split_paths(path)
            .map(|folder| folder.join(asked))
            .collect(),
        None => vec![asked.clone()],
    };
    places.retain(|place| place.is_file());
    let found = places.into_iter().next();
    let missing = || {
        usage(format!(
            "--shell {}: there is no such file",
            asked.display()
        ))
    };
    found.map(Some).ok_or_else(missing)
}
