//! The mini benchmark: twelve small tasks inside the program, laid out as a task repository.
//!
//! It is data alone; it is read by `datasets/` and run like any other benchmark.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::stage::StageError;

/// By which it is asked for instead of a path.
pub const NAME: &str = "mini";

static BENCHMARK: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/benchmark");

/// Writes it into `dir`, made if it is absent. Files of an earlier layout are written anew.
pub fn lay_out(dir: &Path) -> Result<(), StageError> {
    lay(dir).map_err(|error| StageError::io(format!("lay out {NAME} in {}", dir.display()), &error))
}

fn lay(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    BENCHMARK.extract(dir)?;
    for task in tasks() {
        for file in executables(task)? {
            fs::set_permissions(
                dir.join(task.path()).join(file),
                Permissions::from_mode(0o755),
            )?;
        }
    }
    Ok(())
}

/// A patch that looks right, applies and does not resolve the task.
pub fn wrong_patch(id: &str) -> Option<&'static str> {
    text(tasks().find(|task| name(task) == id)?, "wrong.patch")
}

/// By number.
pub fn ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = tasks().map(name).collect();
    ids.sort_by_key(|id| number(id));
    ids
}

fn tasks() -> impl Iterator<Item = &'static Dir<'static>> {
    BENCHMARK
        .get_dir("tasks")
        .into_iter()
        .flat_map(|tasks| tasks.dirs())
}

fn name(task: &Dir<'static>) -> &'static str {
    let last = task.path().file_name();
    last.and_then(|last| last.to_str()).unwrap_or_default()
}

fn number(id: &str) -> Option<u32> {
    id.rsplit_once('-')?.1.parse().ok()
}

fn text(task: &Dir<'static>, file: &str) -> Option<&'static str> {
    task.get_file(task.path().join(file))?.contents_utf8()
}

/// Modes are lost on the way into the program, so a task names its executable files.
fn executables(task: &Dir<'static>) -> io::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Task {
        source: Tree,
    }
    #[derive(Deserialize)]
    struct Tree {
        path: String,
        #[serde(default)]
        executable: Vec<String>,
    }
    let task: Task =
        serde_saphyr::from_str(text(task, "task.yaml").unwrap_or_default()).map_err(|error| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{}: {error}", name(task)),
            )
        })?;
    let below = |file: String| format!("{}/{file}", task.source.path);
    Ok(task.source.executable.into_iter().map(below).collect())
}
