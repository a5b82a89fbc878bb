//! The guide's answers as they lie in `guide.json` beside the settings, for `--shape auto`.
//!
//! It asks nothing and chooses nothing.

use std::{fs, io, path::PathBuf};

use anyhow::{Context, Result};
use hames_agent::shapes::Answers;
use serde::{Deserialize, Serialize};

use crate::{environment::Environment, exit::usage};

/// As they lie in the file.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Saved {
    steps_foreseeable: bool,
    quality_sensitive: bool,
    several_roles: bool,
    cost_sensitive: bool,
}

/// The answers that were given last; `None` when there are none.
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

fn file(environment: &Environment) -> Option<PathBuf> {
    Some(environment.config_dir()?.join("guide.json"))
}

pub fn save(answers: Answers, environment: &Environment) -> Result<PathBuf> {
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
