//! What lies at a path: rows, one task, or a folder whose entries are such.
//!
//! It knows formats by their file names alone; what is in a file is for its reader.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Found, harbor, rows, swe_bench, task_folder};
use crate::stage::StageError;

pub(super) fn read(path: &Path) -> Result<Found, StageError> {
    let mut found = Found::default();
    if path.is_file() {
        found.rows(path).map_err(|why| bad(path, &why))?;
    } else if !found.task(path) {
        found.folder(path, Depth::Top)?;
    }
    Ok(found)
}

/// How far below the path that was named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Top,
    Below,
}

impl Found {
    fn folder(&mut self, folder: &Path, depth: Depth) -> Result<(), StageError> {
        // The layout of a whole task repository.
        let tasks = folder.join("tasks");
        let root = if tasks.is_dir() { &tasks } else { folder };
        for entry in sorted(root)? {
            if entry.is_dir() {
                if !self.task(&entry) && depth == Depth::Top {
                    self.folder(&entry, Depth::Below)?;
                }
            } else if is_rows(&entry) {
                self.rows_beside_others(&entry);
            }
        }
        Ok(())
    }

    /// Whether the folder is one task.
    fn task(&mut self, folder: &Path) -> bool {
        let read = if folder.join(task_folder::FILE).is_file() {
            task_folder::load(folder, &mut self.notes)
        } else if folder.join(harbor::FILE).is_file() {
            harbor::load(folder, &mut self.notes)
        } else {
            return false;
        };
        self.tasks.push((read, folder.to_owned()));
        true
    }

    /// One file of many that cannot be read is refused like a task.
    fn rows_beside_others(&mut self, path: &Path) {
        match rows::read(path) {
            Ok(read) if rows::are_predictions(&read) => {
                let note = format!(
                    "{} holds predictions, not tasks: it is left out",
                    path.display()
                );
                self.notes.push(note);
            }
            Ok(read) => self.take(read, path),
            Err(why) => {
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                self.tasks.push((Err((name, why)), path.to_owned()));
            }
        }
    }

    fn rows(&mut self, path: &Path) -> Result<(), String> {
        let read = rows::read(path)?;
        if rows::are_predictions(&read) {
            return Err("it holds predictions: name the tasks that they are for".to_owned());
        }
        self.take(read, path);
        Ok(())
    }

    fn take(&mut self, read: rows::Rows, path: &Path) {
        let set = swe_bench::Set::of(path);
        for (place, row) in read {
            let read = match row {
                Ok(row) => swe_bench::instance(row, &set, place),
                Err(why) => Err((place, why)),
            };
            self.tasks.push((read, path.to_owned()));
        }
    }
}

fn is_rows(path: &Path) -> bool {
    let kind = path.extension().and_then(|kind| kind.to_str());
    matches!(kind, Some("json" | "jsonl" | "ndjson" | "parquet"))
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, StageError> {
    let listed = fs::read_dir(folder).map_err(|error| bad(folder, &error.to_string()))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn bad(path: &Path, why: &str) -> StageError {
    StageError::BadInput(format!("{}: {why}", path.display()))
}
