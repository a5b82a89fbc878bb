//! `results.jsonl`: the store's results as lines, the last one of a trial being the one that holds.
//!
//! A line that a kill cut short is never joined to the next: it is ended if it is whole, else cut
//! off, which loses nothing, since its result was not yet taken into the store.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use super::StoreError;

/// Held by one writer at a time: the caller has the database's write lock.
pub fn append(path: &Path, line: &str) -> Result<(), StoreError> {
    append_line(path, line).map_err(|source| StoreError::File {
        path: path.to_owned(),
        source,
    })
}

fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .write(true)
        .truncate(false)
        .open(path)?;
    mend(&mut file)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}

/// Looks at the end only: a long file costs no more than a short one.
fn mend(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut torn = Vec::new();
    let mut at = length;
    let start = loop {
        let from = at.saturating_sub(4096);
        let mut piece = vec![0; usize::try_from(at - from).unwrap_or(4096)];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut piece)?;
        let newline = piece.iter().rposition(|byte| *byte == b'\n');
        let kept = newline.map_or(0, |newline| newline + 1);
        torn.splice(0..0, piece.iter().skip(kept).copied());
        if newline.is_some() || from == 0 {
            break length - torn.len() as u64;
        }
        at = from;
    };
    if torn.is_empty() {
        return Ok(());
    }
    if serde_json::from_slice::<serde::de::IgnoredAny>(&torn).is_ok() {
        file.seek(SeekFrom::End(0))?;
        return file.write_all(b"\n");
    }
    file.set_len(start)
}
