//! Tasks read from whatever they come in: rows, task folders, or a folder of any of them.
//!
//! One bad task is refused by name, and the others go on; what was asked for and is not there is an
//! error.

mod filter;
mod harbor;
mod swe_bench;
mod task_folder;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{instance::Instance, plan::Filter, stage::StageError};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    pub instances: Vec<Instance>,
    /// Tasks that cannot be used: name, and what is wrong with them.
    pub refused: Vec<(String, String)>,
    /// Things to know that are nobody's mistake.
    pub notes: Vec<String>,
}

/// What cannot be used, and why.
type Refused = (String, String);

/// A file of rows, a task folder, or a folder of them (one level of folders deep).
pub fn load(path: &Path, filter: &Filter) -> Result<Loaded, StageError> {
    if !path.exists() {
        return Err(StageError::BadInput(format!(
            "{}: there is no such file or folder: name rows (JSON, JSONL), a task folder, or `mini`",
            path.display()
        )));
    }
    let read = read(path)?;
    if read.is_empty() {
        return Err(StageError::BadInput(format!(
            "{}: no tasks in it: rows are JSON or JSONL, a task folder has a task.yaml or a task.toml",
            path.display()
        )));
    }
    let mut loaded = Loaded::default();
    let mut seen = BTreeSet::new();
    for one in read {
        match one {
            Ok(instance) if !seen.insert(instance.id.clone()) => {
                let why = format!("{} is there twice: keep one", instance.id);
                loaded.refused.push((instance.id, why));
            }
            Ok(instance) => loaded.instances.push(instance),
            Err((id, why)) => loaded.refused.push((id.clone(), format!("{id}: {why}"))),
        }
    }
    filter::apply(filter, loaded)
}

fn read(path: &Path) -> Result<Vec<Result<Instance, Refused>>, StageError> {
    if path.is_file() {
        return rows(path);
    }
    if let Some(task) = task(path) {
        return Ok(vec![task]);
    }
    // The layout of a whole task repository.
    let tasks = path.join("tasks");
    let root = if tasks.is_dir() {
        tasks
    } else {
        path.to_owned()
    };
    let mut all = Vec::new();
    for entry in sorted(&root)? {
        if entry.is_dir() {
            all.extend(task(&entry));
        } else if is_rows(&entry) {
            all.extend(rows(&entry)?);
        }
    }
    Ok(all)
}

/// A folder that is one task.
fn task(folder: &Path) -> Option<Result<Instance, Refused>> {
    if folder.join(task_folder::FILE).is_file() {
        return Some(task_folder::load(folder));
    }
    folder
        .join(harbor::FILE)
        .is_file()
        .then(|| harbor::load(folder))
}

fn is_rows(path: &Path) -> bool {
    let kind = path.extension().and_then(|kind| kind.to_str());
    matches!(kind, Some("json" | "jsonl" | "parquet"))
}

fn rows(path: &Path) -> Result<Vec<Result<Instance, Refused>>, StageError> {
    if path.extension().is_some_and(|kind| kind == "parquet") {
        return Err(StageError::BadInput(format!(
            "{}: Parquet is not read here: write the rows out as JSONL, for instance with \
             `python -c \"import pandas,sys; pandas.read_parquet(sys.argv[1]).to_json(sys.argv[2], orient='records', lines=True)\" \
             IN.parquet OUT.jsonl`",
            path.display()
        )));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| StageError::BadInput(format!("{}: {error}", path.display())))?;
    let name = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    swe_bench::parse(&text, name)
        .map_err(|why| StageError::BadInput(format!("{}: {why}", path.display())))
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, StageError> {
    let listed = fs::read_dir(folder)
        .map_err(|error| StageError::BadInput(format!("{}: {error}", folder.display())))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}
