//! `s4_worker.log`: what was done around an agent, line by line as it happens.
//!
//! What the agent itself printed is kept in files of its own.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{clock, stage::StageError};

/// One JSON object a line: time, phase, and what there is to say of it.
pub struct WorkerLog {
    file: File,
    began: Instant,
}

impl WorkerLog {
    /// Goes on with a log that is there.
    pub fn open(path: &Path) -> Result<Self, StageError> {
        let at = |error| StageError::io(path.display(), &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(at)?;
        }
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(at)?;
        Ok(Self {
            file,
            began: Instant::now(),
        })
    }

    /// A line that cannot be written is lost, and nothing else.
    pub fn say(&mut self, phase: &str, said: Value) {
        let mut line = json!({
            "at": clock::now(),
            "seconds": (self.began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            "phase": phase,
        });
        if let (Some(line), Value::Object(said)) = (line.as_object_mut(), said) {
            line.extend(said);
        }
        let _ = writeln!(self.file, "{line}");
    }
}
