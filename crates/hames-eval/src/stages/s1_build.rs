//! S1: a task record becomes what the agent is told.
//!
//! Nothing of the answers goes in: the type it is rendered from has none.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    experiment::{TrialDir, write_atomically},
    instance::{Instance, Task},
    stage::StageError,
};

const PROMPT: &str = include_str!("task_prompt.md");

/// Characters of hints that are passed on, where they are.
const MOST_HINTS: usize = 2_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telling {
    /// Whether the hints that came with the issue are told. Scores with and without do not compare.
    pub hints: bool,
}

pub fn run(
    instance: &Instance,
    telling: Telling,
    dir: &TrialDir,
) -> Result<(Task, Vec<PathBuf>), StageError> {
    if instance.problem_statement.trim().is_empty() {
        return Err(StageError::BadInput(format!(
            "{}: problem_statement is empty, so there is nothing to solve",
            instance.id
        )));
    }
    let task = render(instance, telling);
    let written = dir.task();
    let text = serde_json::to_vec_pretty(&task)
        .map_err(|error| StageError::Infrastructure(error.to_string()))?;
    write_atomically(&written, &text).map_err(|error| StageError::io(written.display(), &error))?;
    Ok((task, vec![written]))
}

pub fn render(instance: &Instance, telling: Telling) -> Task {
    let hints = match telling.hints && !instance.hints.trim().is_empty() {
        true => {
            let told: String = instance.hints.chars().take(MOST_HINTS).collect();
            format!("\n<hints>\n{told}\n</hints>\n")
        }
        false => String::new(),
    };
    let version = match instance.version.is_empty() {
        true => "unknown",
        false => &instance.version,
    };
    // What is put in last cannot be taken for a mark that was there before.
    let frame = PROMPT
        .replace("{repo}", &instance.repo)
        .replace("{version}", version);
    let prompt = match frame.split_once("{problem_statement}") {
        Some((before, after)) => {
            let after = after.replacen("{hints}", &hints, 1);
            [before, instance.problem_statement.trim(), &after].concat()
        }
        None => frame,
    };
    Task {
        instance_id: instance.id.clone(),
        repo: instance.repo.clone(),
        version: instance.version.clone(),
        problem_statement: instance.problem_statement.clone(),
        prompt,
        gold_patch: None,
    }
}
