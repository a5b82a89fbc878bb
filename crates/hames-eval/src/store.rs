//! The results store of an experiments root: `results.sqlite` to query, `results.jsonl` beside it.
//!
//! It holds nothing that the runs' own `result.json` files do not say: both files can be rebuilt
//! from them, and a report of one run needs neither.

mod lines;
mod rebuild;
mod rows;
mod schema;

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};

pub use rebuild::Rebuilt;
pub use schema::VERSION;

use crate::{record::InstanceResult, stage::StageError};

/// How long a writer waits for the others.
const PATIENCE: Duration = Duration::from_secs(30);

/// Safe with several workers and processes: a result is one transaction, and SQLite's rollback
/// journal keeps it whole when its writer is killed. The JSONL is written under the same lock.
#[derive(Debug)]
pub struct Store {
    connection: Mutex<Connection>,
    root: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "{path} has schema {found}, and this program knows up to {VERSION}: use the version of hames that wrote it, or move it away and rebuild it from the runs"
    )]
    Newer { path: PathBuf, found: u32 },
    #[error(
        "{0} is a database of something else: move it away, or choose another folder with --dir"
    )]
    Foreign(PathBuf),
    #[error("{0} is damaged: rebuild it from the runs")]
    Damaged(PathBuf),
    #[error("{path}: {source}")]
    Database {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("a result cannot be written down: {0}")]
    Unwritable(#[from] serde_json::Error),
}

/// What became of a result that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    New,
    /// The trial was there with other contents, as after a regrade.
    Replaced,
    /// The trial was there, word for word.
    Known,
}

/// One line for each run in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    pub run_id: String,
    pub adapter: String,
    pub model: String,
    pub dataset: String,
    pub trials: u32,
    /// That count in the denominator.
    pub counted: u32,
    /// Instances with a trial that counts.
    pub instances: u32,
    /// 0 to 100: the mean over instances of the share of their trials that resolved.
    pub resolved_pct: Option<f64>,
    pub cost_usd: Option<f64>,
    pub first_at: String,
    pub last_at: String,
}

impl Store {
    pub fn database(root: &Path) -> PathBuf {
        root.join("results.sqlite")
    }

    pub fn lines(root: &Path) -> PathBuf {
        root.join("results.jsonl")
    }

    /// Makes what is not there.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let path = Self::database(root);
        let file_error = |source| StoreError::File {
            path: root.to_owned(),
            source,
        };
        std::fs::create_dir_all(root).map_err(file_error)?;
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(&path)?;
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(connection)
        };
        let mut connection = open().map_err(|source| at(&path, source))?;
        schema::establish(&mut connection, &path)?;
        Ok(Self {
            connection: Mutex::new(connection),
            root: root.to_owned(),
        })
    }

    /// Idempotent by run, instance and trial.
    pub fn append(&self, result: &InstanceResult) -> Result<Appended, StoreError> {
        let path = Self::database(&self.root);
        let text = serde_json::to_string(result)?;
        let mut connection = self.locked();
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(|source| at(&path, source))?;
        let known = rows::text_of(&transaction, result).map_err(|source| at(&path, source))?;
        if known.as_ref() == Some(&text) {
            return Ok(Appended::Known);
        }
        rows::write(&transaction, result, &text).map_err(|source| at(&path, source))?;
        lines::append(&Self::lines(&self.root), &text)?;
        transaction.commit().map_err(|source| at(&path, source))?;
        Ok(match known {
            Some(_) => Appended::Replaced,
            None => Appended::New,
        })
    }

    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<RunRow>> {
            let connection = self.locked();
            let mut statement = connection.prepare(rows::RUNS)?;
            statement.query_map([], rows::run_row)?.collect()
        };
        read().map_err(|source| at(&Self::database(&self.root), source))
    }

    /// Of one run, by instance and trial.
    pub fn results(&self, run_id: &str) -> Result<Vec<InstanceResult>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let connection = self.locked();
            let mut statement = connection.prepare(rows::RESULTS)?;
            statement
                .query_map(params![run_id], |row| row.get(0))?
                .collect()
        };
        let texts = read().map_err(|source| at(&Self::database(&self.root), source))?;
        let parsed = texts.iter().map(|text| serde_json::from_str(text));
        Ok(parsed.collect::<Result<_, _>>()?)
    }

    /// The one value of a user's own query, as text; none where it has no row.
    pub fn value(&self, sql: &str) -> Result<Option<String>, StoreError> {
        let read = || -> rusqlite::Result<Option<String>> {
            let row = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
            let value = self.locked().query_row(sql, [], row).optional()?;
            Ok(value.map(rows::plain))
        };
        read().map_err(|source| at(&Self::database(&self.root), source))
    }

    /// A transaction that panicked was rolled back: the connection is as good as new.
    fn locked(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<StoreError> for StageError {
    fn from(error: StoreError) -> Self {
        Self::Infrastructure(error.to_string())
    }
}

fn at(path: &Path, source: rusqlite::Error) -> StoreError {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Damaged(path.to_owned())
        }
        _ => StoreError::Database {
            path: path.to_owned(),
            source,
        },
    }
}
