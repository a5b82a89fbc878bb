//! The task folder of swebench 5: `task.yaml`, `tests.json`, statement, patches and `eval.sh`.
//!
//! Two keys of our own say how a task runs without an image: `source`, and `recipe`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use super::Read;
use crate::instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun};

pub(super) const FILE: &str = "task.yaml";

#[derive(Debug, Deserialize)]
struct Task {
    #[serde(default)]
    instance_id: String,
    repo: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    base_commit: String,
    #[serde(default)]
    split: String,
    #[serde(default)]
    image: String,
    #[serde(default)]
    log_parser: String,
    #[serde(default)]
    eval_type: String,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    difficulty: String,
    #[serde(default)]
    environment_setup_commit: String,
    /// Seconds; ours.
    #[serde(default)]
    test_timeout: Option<u64>,
    #[serde(default)]
    source: Option<Tree>,
    #[serde(default)]
    recipe: Recipe,
}

/// Where the tree is, if it is not in an image.
#[derive(Debug, Deserialize)]
struct Tree {
    kind: String,
    /// In the task's folder.
    #[serde(default)]
    path: PathBuf,
    #[serde(default)]
    url: Option<String>,
    /// In the image.
    #[serde(default)]
    workdir: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Tests {
    #[serde(rename = "FAIL_TO_PASS")]
    fail_to_pass: Vec<String>,
    #[serde(rename = "PASS_TO_PASS")]
    pass_to_pass: Vec<String>,
}

pub(super) fn load(folder: &Path, notes: &mut Vec<String>) -> Read {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let instance = build(folder, &name).map_err(|why| (name.clone().into_owned(), why))?;
    if instance.id != name {
        notes.push(format!(
            "{name} holds the task {}: name the folder after it",
            instance.id
        ));
    }
    Ok(instance)
}

fn build(folder: &Path, name: &str) -> Result<Instance, String> {
    let task = task(&text(folder, FILE)?).map_err(|why| format!("{FILE}: {why}"))?;
    let tests: Tests = serde_json::from_str(&text(folder, "tests.json")?)
        .map_err(|error| format!("tests.json: {error}"))?;
    if tests.fail_to_pass.is_empty() && tests.pass_to_pass.is_empty() {
        return Err(
            "tests.json: both lists are empty: any patch would count as resolved".to_owned(),
        );
    }
    let assets = folder.join("test_assets");
    let id = if task.instance_id.is_empty() {
        name.to_owned()
    } else {
        task.instance_id.clone()
    };
    let source = source(folder, &task)?;
    Ok(Instance {
        id,
        repo: task.repo,
        version: task.version,
        base_commit: task.base_commit,
        problem_statement: text(folder, "problem_statement.md")?,
        hints: match folder.join("hints.md").is_file() {
            true => text(folder, "hints.md")?,
            false => String::new(),
        },
        created_at: task.created_at,
        environment_setup_commit: task.environment_setup_commit,
        difficulty: task.difficulty,
        dataset: dataset(folder),
        split: task.split,
        answers: Answers {
            gold_patch: text(folder, "gold.patch")?,
            test_patch: text(folder, "test.patch")?,
            fail_to_pass: tests.fail_to_pass,
            pass_to_pass: tests.pass_to_pass,
            test_assets: assets.is_dir().then_some(assets),
        },
        source,
        tests: TestPlan {
            run: TestRun::Script {
                text: text(folder, "eval.sh")?,
            },
            parser: task.log_parser,
            fail_only: task.eval_type == "fail_only",
            time_limit: task.test_timeout.map(Duration::from_secs),
        },
        recipe: Recipe {
            image: task.image,
            ..task.recipe
        },
    })
}

fn task(text: &str) -> Result<Task, String> {
    #[derive(Deserialize)]
    struct Older {
        instruction: Option<serde::de::IgnoredAny>,
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let older = serde_saphyr::from_str::<Older>(text);
        match older.is_ok_and(|older| older.instruction.is_some()) {
            true => "it is a task of Terminal-Bench 1: convert it to a Harbor task, which has a task.toml"
                .to_owned(),
            false => error.to_string(),
        }
    })
}

fn source(folder: &Path, task: &Task) -> Result<Source, String> {
    let Some(tree) = &task.source else {
        return Ok(match task.image.is_empty() {
            true => Source::Git {
                url: None,
                commit: task.base_commit.clone(),
            },
            false => Source::Image {
                workdir: PathBuf::from("/testbed"),
            },
        });
    };
    match tree.kind.as_str() {
        "folder" => {
            let path = folder.join(&tree.path);
            match path.is_dir() {
                true => Ok(Source::Folder { path }),
                false => Err(format!("source: {} is no folder", path.display())),
            }
        }
        "git" => Ok(Source::Git {
            url: tree.url.clone(),
            commit: task.base_commit.clone(),
        }),
        "image" => Ok(Source::Image {
            workdir: tree
                .workdir
                .clone()
                .unwrap_or_else(|| PathBuf::from("/testbed")),
        }),
        other => Err(format!(
            "source: kind {other} is not known: give folder (with path), git (with url) or image (with workdir)"
        )),
    }
}

/// The folder above, or the one above that where it is called `tasks`.
fn dataset(folder: &Path) -> String {
    let above = folder
        .ancestors()
        .skip(1)
        .find(|path| path.file_name().is_some_and(|name| name != "tasks"));
    above
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// As it stands: line ends in a patch are part of it.
fn text(folder: &Path, file: &str) -> Result<String, String> {
    fs::read_to_string(folder.join(file)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{file} is missing: a task folder needs it"),
        _ => format!("{file}: {error}"),
    })
}
