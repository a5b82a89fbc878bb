//! What the command line and the settings files come to together.
//!
//! The command line wins; what an untrusted workspace says does not count, and that is said.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Result;
use clap::ValueEnum;
use hames_agent::permission::{
    modes::{Mode, Policy},
    rules::{Rule, split_list},
};

use hames_tools::aliases;

use crate::{
    args::{self, RunArgs, Turns},
    environment::Environment,
    exit::usage,
    settings::{Asked, Folders, HookSetting, Set, Settings, Values, Whereabouts},
    trust::{Asking, TrustStore, decide},
};

/// A question for the one at the terminal: yes, no, or not now.
pub type AskTrust<'a> = &'a mut dyn FnMut(&str) -> Option<bool>;

pub struct Settled {
    /// The command line's, with what it left open filled in.
    pub args: RunArgs,
    /// A model named in the settings, where the command line names none.
    pub model: Option<String>,
    pub mode: Mode,
    pub policy: Policy,
    /// Folders beside the workspace that somebody has named.
    pub named_dirs: Vec<String>,
    pub hooks: Vec<HookSetting>,
    /// For every child process.
    pub env: Vec<(String, String)>,
    pub timeouts: crate::settings::Timeouts,
    /// Where a yes for good is kept.
    pub trust: Option<TrustStore>,
    pub notes: Vec<String>,
}

pub fn settle(
    args: &RunArgs,
    environment: &Environment,
    workspace: &Path,
    ask: Option<AskTrust<'_>>,
) -> Result<Settled> {
    let (config, state) = (environment.config_dir(), environment.state_dir());
    let folders = Folders {
        config: config.as_deref(),
        home: environment.home(),
        workspace,
    };
    let settings = Settings::load(folders).map_err(|error| usage(error.to_string()))?;
    let mut notes = settings.warnings.clone();
    let store = state.as_deref().map(TrustStore::new);
    let asking = match ask {
        _ if args.permission.trust_workspace => Asking::Flag,
        Some(ask) => Asking::Terminal(ask),
        None => Asking::Nobody,
    };
    let (mut trusted, mut remembered) = (args.permission.trust_workspace, Vec::new());
    if let Some(store) = &store {
        let trust = decide(store, workspace, &settings.gated(), asking)?;
        (trusted, remembered) = (trust.trusted, store.known(workspace)?.allow);
        notes.extend(trust.note);
    }
    let allow = split(&args.permission.allowed_tools);
    let deny = split(&args.permission.disallowed_tools);
    let add_dirs = added(args, environment)?;
    let asked = Asked {
        mode: args.permission.mode(),
        allow: &allow,
        deny: &deny,
        add_dirs: &add_dirs,
    };
    let own: Vec<&Path> = [&config, &state]
        .into_iter()
        .flatten()
        .map(|path| &**path)
        .collect();
    let places = Whereabouts {
        workspace,
        home: environment.home(),
        own: &own,
    };
    let policy = settings.policy(trusted, asked, &remembered, &places);
    let mut policy = policy.map_err(|error| usage(error.to_string()))?;
    notes.extend(policy.rules.deny.iter().filter_map(guards_nothing));
    notes.extend(policy.rules.ask.iter().filter_map(guards_nothing));
    let named_dirs = policy.places.added.clone();
    // The model is told where the whole of a long output lies, so it may read it.
    policy.places.added.extend(outputs(environment));
    let values = settings.values(trusted);
    Ok(Settled {
        args: filled(args, &values)?,
        model: values.model.map(|set| set.value),
        mode: policy.mode,
        policy,
        named_dirs,
        hooks: settings.hooks(trusted),
        env: settings.env(trusted).into_iter().collect(),
        timeouts: values.timeouts,
        trust: store,
        notes,
    })
}

/// A misspelt rule that was meant to hold something back must not be taken in silence.
fn guards_nothing(rule: &Rule) -> Option<String> {
    let text = rule.as_str();
    let name = text.split('(').next().unwrap_or(text).trim();
    let elsewhere = name.starts_with("mcp__") || name.contains('*');
    if elsewhere || aliases::our_tool(name).is_some() {
        return None;
    }
    let meant = aliases::suggest(name).map(|tool| format!("; did you mean `{tool}`?"));
    Some(format!(
        "the rule `{text}` holds nothing back: there is no tool named {name}{}",
        meant.unwrap_or_default()
    ))
}

/// As tools will resolve it, whether or not it is there yet.
fn outputs(environment: &Environment) -> Option<String> {
    let state = environment.state_dir()?;
    let real = state.canonicalize().unwrap_or(state);
    Some(real.join("outputs").to_string_lossy().into_owned())
}

fn split(lists: &[String]) -> Vec<String> {
    lists.iter().flat_map(|list| split_list(list)).collect()
}

/// Named on the command line, so from the folder in which it was typed.
fn added(args: &RunArgs, environment: &Environment) -> Result<Vec<PathBuf>> {
    let folders = args.permission.add_dir.iter();
    let folders = folders.map(|path| folder("--add-dir", &environment.current_dir.join(path)));
    folders.collect()
}

/// A folder that is there, by its real path.
pub fn folder(flag: &str, path: &Path) -> Result<PathBuf> {
    match path.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(usage(format!(
            "{flag} {}: it is not a folder",
            path.display()
        ))),
        Err(error) => Err(usage(format!("{flag} {}: {error}", path.display()))),
    }
}

/// What the command line leaves open is as the settings say.
fn filled(args: &RunArgs, values: &Values) -> Result<RunArgs> {
    let mut args = args.clone();
    let (model, limits) = (&mut args.model, &mut args.limits);
    fill(&mut model.fallback_model, &values.fallback_model);
    fill(&mut model.effort, &values.effort);
    fill(&mut model.system_prompt, &values.system_prompt);
    fill(
        &mut model.append_system_prompt,
        &values.append_system_prompt,
    );
    if let (None, Some(set)) = (&model.shape, &values.shape) {
        model.shape =
            Some(args::shape_name(&set.value).map_err(|error| refused("shape", set, &error))?);
    }
    for (role, set) in &values.model_for {
        if !model.model_for.iter().any(|(named, _)| named == role) {
            model.model_for.push((role.clone(), set.value.clone()));
        }
    }
    fill(&mut limits.max_cost, &values.max_cost);
    fill(&mut limits.max_total_tokens, &values.max_total_tokens);
    if let (None, Some(set)) = (limits.max_turns, &values.max_turns) {
        limits.max_turns = Some(set.value.map_or(Turns::None, Turns::AtMost));
    }
    if let (None, Some(set)) = (limits.max_wall, &values.max_wall) {
        let wall = Duration::try_from_secs_f64(set.value);
        limits.max_wall = Some(wall.map_err(|error| refused("max_wall", set, &error.to_string()))?);
    }
    narrow(
        &mut limits.max_output_tokens,
        &values.max_output_tokens,
        "max_output_tokens",
    )?;
    narrow(
        &mut limits.tool_concurrency,
        &values.tool_concurrency,
        "tool_concurrency",
    )?;
    narrow(&mut limits.compact_at, &values.compact_at, "compact_at")?;
    if let (None, Some(set)) = (args.session.durability, &values.durability) {
        let durability = args::Durability::from_str(&set.value, true);
        args.session.durability =
            Some(durability.map_err(|error| refused("durability", set, &error))?);
    }
    if let (None, Some(set)) = (&args.permission.shell, &values.shell) {
        args.permission.shell = Some(PathBuf::from(&set.value));
    }
    Ok(args)
}

fn fill<T: Clone>(open: &mut Option<T>, set: &Option<Set<T>>) {
    if open.is_none() {
        *open = set.as_ref().map(|set| set.value.clone());
    }
}

fn narrow<T: TryFrom<u64>>(open: &mut Option<T>, set: &Option<Set<u64>>, key: &str) -> Result<()> {
    let (None, Some(set)) = (&open, set) else {
        return Ok(());
    };
    let value = T::try_from(set.value).ok().filter(|_| set.value > 0);
    *open = Some(value.ok_or_else(|| refused(key, set, "the number is out of range"))?);
    Ok(())
}

fn refused<T>(key: &str, set: &Set<T>, why: &str) -> anyhow::Error {
    usage(format!("{}: {key}: {why}", set.origin))
}
