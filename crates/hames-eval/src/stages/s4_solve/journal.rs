//! Attempts, written down before they begin: what a killed run has left running is found by it, and
//! what it had made is not lost.
//!
//! A line that was cut by a kill says nothing, and is passed over.

use std::{
    fs::{self, File},
    io::{Read, Write},
    path::Path,
    time::Duration,
};

use hames_tools::Mark;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{clock, record::AdapterAttempt, stage::StageError, worker_log::WorkerLog};

/// For those who were left behind.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Began {
        adapter: String,
        subprocess: bool,
        mark: String,
        at: String,
    },
    Ended {
        attempt: Box<AdapterAttempt>,
    },
    /// S4 has ended: what stands above is part of no later one.
    Settled {
        at: String,
    },
}

pub(super) struct AttemptJournal {
    file: File,
    /// Nobody has worked on this trial before.
    is_new: bool,
    /// Of an S4 that never ended.
    made: Vec<AdapterAttempt>,
    open: Option<Open>,
}

/// One that was under way.
struct Open {
    adapter: String,
    subprocess: bool,
    mark: String,
}

impl AttemptJournal {
    pub fn open(path: &Path) -> Result<Self, StageError> {
        let at = |error| StageError::io(path.display(), &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(at)?;
        }
        let mut options = File::options();
        options.create(true).append(true).read(true);
        let mut file = options.open(path).map_err(at)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(at)?;
        // What is written next begins a line of its own.
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").map_err(at)?;
        }
        let mut journal = Self {
            file,
            is_new: bytes.is_empty(),
            made: Vec::new(),
            open: None,
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(serde_json::from_str);
        lines.flatten().for_each(|line| journal.fold(line));
        Ok(journal)
    }

    fn fold(&mut self, line: Line) {
        match line {
            Line::Began {
                adapter,
                subprocess,
                mark,
                ..
            } => {
                self.open = Some(Open {
                    adapter,
                    subprocess,
                    mark,
                });
            }
            Line::Ended { attempt } => {
                self.made.push(*attempt);
                self.open = None;
            }
            Line::Settled { .. } => {
                self.made.clear();
                self.open = None;
            }
        }
    }

    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The attempts of a run that was killed. What the last of them has left running is ended.
    pub async fn take_up(
        &mut self,
        log: &mut WorkerLog,
    ) -> Result<Vec<AdapterAttempt>, StageError> {
        let mut made = std::mem::take(&mut self.made);
        if let Some(open) = self.open.take() {
            let lost = lost(open, log).await;
            self.ended(&lost)?;
            made.push(lost);
        }
        Ok(made)
    }

    /// On disk before anything is started.
    pub fn began(
        &mut self,
        adapter: &str,
        subprocess: bool,
        mark: &Mark,
    ) -> Result<(), StageError> {
        self.write(&Line::Began {
            adapter: adapter.to_owned(),
            subprocess,
            mark: mark.as_str().to_owned(),
            at: clock::now(),
        })
    }

    pub fn ended(&mut self, attempt: &AdapterAttempt) -> Result<(), StageError> {
        self.write(&Line::Ended {
            attempt: Box::new(attempt.clone()),
        })
    }

    pub fn settle(&mut self) -> Result<(), StageError> {
        self.write(&Line::Settled { at: clock::now() })
    }

    fn write(&mut self, line: &Line) -> Result<(), StageError> {
        let text = serde_json::to_string(line)
            .map_err(|error| StageError::Infrastructure(error.to_string()))?;
        let written = self.file.write_all(format!("{text}\n").as_bytes());
        written
            .and_then(|()| self.file.sync_data())
            .map_err(|error| StageError::io("write down an attempt", &error))
    }
}

async fn lost(open: Open, log: &mut WorkerLog) -> AdapterAttempt {
    let ended = match Mark::parse(&open.mark) {
        Some(mark) => mark.end(GRACE).await,
        None => 0,
    };
    log.say(
        "leftovers",
        json!({"adapter": open.adapter, "processes_ended": ended}),
    );
    AdapterAttempt {
        adapter: open.adapter,
        subprocess: open.subprocess,
        killed: true,
        outcome: "lost".to_owned(),
        error: Some(
            "the run ended while this attempt was under way: its work was thrown away".to_owned(),
        ),
        survivors_killed: ended,
        ..AdapterAttempt::default()
    }
}
