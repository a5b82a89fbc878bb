//! A Harbor (Terminal-Bench) task folder: `task.toml`, `instruction.md`, `environment/`, `tests/`.
//!
//! Its own tests give a reward; no lists of tests and no log parser are in it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use super::Refused;
use crate::instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun};

pub(super) const FILE: &str = "task.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Task {
    version: String,
    schema_version: String,
    task: Named,
    metadata: Metadata,
    verifier: Verifier,
    environment: Environment,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    difficulty: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Verifier {
    timeout_sec: Option<f64>,
    env: std::collections::BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Environment {
    docker_image: String,
    workdir: Option<PathBuf>,
}

pub(super) fn load(folder: &Path) -> Result<Instance, Refused> {
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    build(folder, &name).map_err(|why| (name, why))
}

fn build(folder: &Path, name: &str) -> Result<Instance, String> {
    let read = |file: &str| {
        fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))
    };
    let task: Task =
        toml::from_str(&read(FILE)?).map_err(|error| format!("{FILE}: {}", error.message()))?;
    let tests = folder.join("tests");
    if !tests.join("test.sh").is_file() {
        return Err("tests/test.sh is missing: nothing says whether the task is done".to_owned());
    }
    let id = if task.task.name.is_empty() {
        name.to_owned()
    } else {
        task.task.name.replace('/', "__")
    };
    let limit = task
        .verifier
        .timeout_sec
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    Ok(Instance {
        id,
        repo: name.to_owned(),
        version: if task.version.is_empty() {
            task.schema_version
        } else {
            task.version
        },
        base_commit: String::new(),
        problem_statement: read("instruction.md")?,
        hints: String::new(),
        created_at: String::new(),
        environment_setup_commit: String::new(),
        difficulty: task.metadata.difficulty,
        dataset: "harbor".to_owned(),
        split: String::new(),
        answers: Answers {
            // Played by a shell, not applied: `replay` runs it in the tree.
            gold_patch: fs::read_to_string(folder.join("solution/solve.sh")).unwrap_or_default(),
            ..Answers::default()
        },
        source: source(folder, &task.environment),
        tests: TestPlan {
            run: TestRun::Reward { tests },
            parser: "reward".to_owned(),
            fail_only: false,
            time_limit: limit.map(Duration::from_secs_f64),
        },
        recipe: Recipe {
            image: task.environment.docker_image,
            env: task.verifier.env,
            ..Recipe::default()
        },
    })
}

/// Without an image to take it from, the tree is what the image would be built from.
fn source(folder: &Path, environment: &Environment) -> Source {
    let built = folder.join("environment");
    match environment.docker_image.is_empty() && built.is_dir() {
        true => Source::Folder { path: built },
        false => Source::Image {
            workdir: environment
                .workdir
                .clone()
                .unwrap_or_else(|| PathBuf::from("/app")),
        },
    }
}
