//! A Harbor (Terminal-Bench) task folder: `task.toml`, `instruction.md`, `environment/`, `tests/`.
//!
//! Its own tests give a reward; no lists of tests and no log parser are in it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use super::Read;
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
    steps: Vec<serde::de::IgnoredAny>,
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
    env: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Environment {
    docker_image: String,
    workdir: Option<PathBuf>,
}

pub(super) fn load(folder: &Path, notes: &mut Vec<String>) -> Read {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    build(folder, &name, notes).map_err(|why| (name.into_owned(), why))
}

fn build(folder: &Path, name: &str, notes: &mut Vec<String>) -> Result<Instance, String> {
    let read = |file: &str| {
        fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))
    };
    let task: Task =
        toml::from_str(&read(FILE)?).map_err(|error| format!("{FILE}: {}", error.message()))?;
    check(&task)?;
    let tests = folder.join("tests");
    if !tests.join("test.sh").is_file() {
        return Err("tests/test.sh is missing: nothing says whether the task is done".to_owned());
    }
    let id = if task.task.name.is_empty() {
        name.to_owned()
    } else {
        task.task.name.replace('/', "__")
    };
    let source = source(folder, &task.environment);
    notes.extend(left_undone(&task, &source).map(|what| format!("{id}: {what}")));
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
        source,
        tests: TestPlan {
            run: TestRun::Reward { tests },
            parser: "reward".to_owned(),
            fail_only: false,
            time_limit: limit.map(Duration::from_secs_f64),
        },
        recipe: Recipe {
            image: task.environment.docker_image,
            ..Recipe::default()
        },
    })
}

fn check(task: &Task) -> Result<(), String> {
    let schema = match task.schema_version.as_str() {
        "" => &task.version,
        given => given,
    };
    if !schema.is_empty() && schema != "1" && !schema.starts_with("1.") {
        return Err(format!(
            "{FILE}: schema_version {schema} is not known: 1.x is"
        ));
    }
    if !task.steps.is_empty() {
        let why = format!("{FILE}: it has steps: make each step a task of its own");
        return Err(why);
    }
    Ok(())
}

/// What Harbor would have done and is not done here.
fn left_undone(task: &Task, source: &Source) -> impl Iterator<Item = &'static str> {
    let unbuilt = matches!(source, Source::Folder { .. });
    let image = "no docker_image is named: the tree is environment/ as it lies there, and its \
                 Dockerfile is not built";
    // An environment is the agent's, too.
    let variables = "the variables of [verifier.env] are not passed on";
    let unset = !task.verifier.env.is_empty();
    [(unbuilt, image), (unset, variables)]
        .into_iter()
        .filter_map(|(is_so, what)| is_so.then_some(what))
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
