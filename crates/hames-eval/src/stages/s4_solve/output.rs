//! What an agent prints: on disk as it comes, and read back, both within bounds.
//!
//! What it means is the adapter's to say.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use hames_tools::Stream;

use crate::{experiment::TrialDir, stage::StageError};

/// Of each stream, on disk. An agent that prints for ever fills no disk. 256 MiB.
const MOST_KEPT: u64 = 256 << 20;
/// Of each stream, in memory, for the adapter to read: the first part of it from the beginning,
/// the others from the end.
const MOST_READ: u64 = 64 << 20;
const FIRST_PART: u64 = 16 << 20;

pub(super) struct Kept {
    out: Keep,
    err: Keep,
}

struct Keep {
    path: PathBuf,
    file: BufWriter<File>,
    room: u64,
    lost: u64,
    failed: Option<io::Error>,
}

/// What was read back.
pub(super) struct Output {
    pub text: String,
    /// All that there are on disk.
    pub bytes: u64,
    /// What was left out of the text.
    pub note: Option<String>,
}

impl Kept {
    pub fn create(trial: &TrialDir) -> Result<Self, StageError> {
        Ok(Self {
            out: Keep::create(trial.agent_stdout())?,
            err: Keep::create(trial.agent_stderr())?,
        })
    }

    /// An agent is not stopped because its words cannot be kept; it is told afterwards.
    pub fn put(&mut self, stream: Stream, piece: &[u8]) {
        match stream {
            Stream::Out => self.out.put(piece),
            Stream::Err => self.err.put(piece),
        }
    }

    /// What was not kept, in words.
    pub fn close(self) -> Result<Vec<String>, StageError> {
        let notes = [self.out.close()?, self.err.close()?];
        Ok(notes.into_iter().flatten().collect())
    }
}

impl Keep {
    fn create(path: PathBuf) -> Result<Self, StageError> {
        let file = File::create(&path).map_err(|error| StageError::io(path.display(), &error))?;
        Ok(Self {
            path,
            file: BufWriter::new(file),
            room: MOST_KEPT,
            lost: 0,
            failed: None,
        })
    }

    fn put(&mut self, piece: &[u8]) {
        let length = piece.len() as u64;
        if length > self.room {
            self.room = 0;
            self.lost += length;
            return;
        }
        self.room -= length;
        if let Err(error) = self.file.write_all(piece) {
            self.failed.get_or_insert(error);
        }
    }

    fn close(mut self) -> Result<Option<String>, StageError> {
        let flushed = self.file.flush();
        if let Some(error) = self.failed.or(flushed.err()) {
            let at = format_args!("keep what the agent printed in {}", self.path.display());
            return Err(StageError::io(at, &error));
        }
        let lost = self.lost;
        Ok((lost > 0).then(|| format!("{}: {lost} bytes more were printed", name(&self.path))))
    }
}

/// For those who print nothing.
pub(super) fn clear(trial: &TrialDir) -> Result<(), StageError> {
    Kept::create(trial)?.close().map(drop)
}

/// Whole, or its beginning and its end, cut between lines.
pub(super) fn read(path: &Path) -> Result<Output, StageError> {
    let at = |error| StageError::io(path.display(), &error);
    let bytes = fs::metadata(path).map_err(at)?.len();
    let mut file = File::open(path).map_err(at)?;
    if bytes <= MOST_READ {
        let mut all = Vec::new();
        file.read_to_end(&mut all).map_err(at)?;
        return Ok(Output {
            text: text(all),
            bytes,
            note: None,
        });
    }
    let mut first = Vec::new();
    (&mut file)
        .take(FIRST_PART)
        .read_to_end(&mut first)
        .map_err(at)?;
    let whole = first.iter().rposition(|byte| *byte == b'\n');
    first.truncate(whole.map_or(first.len(), |end| end + 1));
    file.seek(SeekFrom::Start(bytes - (MOST_READ - FIRST_PART)))
        .map_err(at)?;
    let mut last = Vec::new();
    file.read_to_end(&mut last).map_err(at)?;
    let begin = last.iter().position(|byte| *byte == b'\n');
    last.drain(..begin.map_or(0, |end| end + 1));
    let left_out = bytes - (first.len() + last.len()) as u64;
    first.append(&mut last);
    Ok(Output {
        text: text(first),
        bytes,
        note: Some(format!(
            "{}: {left_out} bytes of its middle were not read",
            name(path)
        )),
    })
}

/// Its first lines.
pub(super) fn beginning(path: &Path) -> Result<String, StageError> {
    const MOST: u64 = 4096;
    let at = |error| StageError::io(path.display(), &error);
    let mut first = Vec::new();
    let file = File::open(path).map_err(at)?;
    file.take(MOST).read_to_end(&mut first).map_err(at)?;
    Ok(text(first))
}

/// No second copy where it is UTF-8.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
