//! The store made anew from the `result.json` files of the runs.
//!
//! It touches no run. A database that cannot be read is kept beside, under another name.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rusqlite::TransactionBehavior;

use super::{Store, StoreError, at, rows};
use crate::{experiment::write_atomically, record::InstanceResult};

/// What a rebuild found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rebuilt {
    pub results: usize,
    /// Files that are no results, and why.
    pub unreadable: Vec<String>,
    /// Where the old database was put, if it could not be read.
    pub put_aside: Option<PathBuf>,
}

impl Store {
    /// Everything in both files is replaced, in one step as others see it.
    pub fn rebuild(root: &Path) -> Result<(Self, Rebuilt), StoreError> {
        let mut report = Rebuilt::default();
        let store = match Self::open(root) {
            Err(StoreError::Damaged(path)) => {
                report.put_aside = Some(put_aside(&path)?);
                Self::open(root)?
            }
            opened => opened?,
        };
        store.refill(&mut report)?;
        Ok((store, report))
    }

    fn refill(&self, report: &mut Rebuilt) -> Result<(), StoreError> {
        let path = Self::database(&self.root);
        let mut connection = self.locked();
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(|source| at(&path, source))?;
        transaction
            .execute("DELETE FROM runs", [])
            .map_err(|source| at(&path, source))?;
        let mut lines = String::new();
        for file in result_files(&self.root) {
            let Some(result) = read(&file, report) else {
                continue;
            };
            let text = serde_json::to_string(&result)?;
            rows::write(&transaction, &result, &text).map_err(|source| at(&path, source))?;
            lines.push_str(&text);
            lines.push('\n');
            report.results += 1;
        }
        let jsonl = Self::lines(&self.root);
        let written = write_atomically(&jsonl, lines.as_bytes());
        written.map_err(|source| StoreError::File {
            path: jsonl,
            source,
        })?;
        transaction.commit().map_err(|source| at(&path, source))
    }
}

fn put_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let names = (1_u32..).map(|n| path.with_extension(format!("sqlite.damaged-{n}")));
    let free = names.into_iter().find(|name| !name.exists());
    let free = free.unwrap_or_else(|| path.with_extension("sqlite.damaged"));
    let moved = fs::rename(path, &free);
    moved.map_err(|source| StoreError::File {
        path: path.to_owned(),
        source,
    })?;
    Ok(free)
}

/// `<root>/<run>/<trial>/result.json`, in the order of their names.
fn result_files(root: &Path) -> BTreeSet<PathBuf> {
    let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = inside(root.to_owned()).map(|entry| entry.path());
    let trials = runs.flat_map(inside).map(|entry| entry.path());
    let files = trials.map(|trial| trial.join("result.json"));
    files.filter(|file| file.is_file()).collect()
}

fn read(file: &Path, report: &mut Rebuilt) -> Option<InstanceResult> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    let parsed =
        text.and_then(|text| InstanceResult::parse(&text).map_err(|error| error.to_string()));
    match parsed {
        Ok(mut result) => {
            if result.run_id.is_empty() {
                let run = file.ancestors().nth(2).and_then(Path::file_name);
                result.run_id = run.unwrap_or_default().to_string_lossy().into_owned();
            }
            Some(result)
        }
        Err(error) => {
            report
                .unreadable
                .push(format!("{}: {error}", file.display()));
            None
        }
    }
}
