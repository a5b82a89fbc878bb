//! Output of any length in bounded memory: its beginning, its end, and the whole on disk.
//!
//! The file is made only once the cap is passed, and has a cap of its own.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::printable::{is_binary, printable, unfinished};

/// What of a result is shown, and where the whole is kept.
#[derive(Debug, Clone)]
pub struct OutputLimits {
    /// Bytes shown to the model; a third of them from the beginning. Default 30 000.
    pub shown: usize,
    /// Where a longer output is kept whole; it is lost where this is `None`.
    pub folder: Option<PathBuf>,
    /// Bytes kept there for one call. Default 256 MiB.
    pub kept: u64,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self {
            shown: 30_000,
            folder: None,
            kept: 256 << 20,
        }
    }
}

pub(crate) struct Capture {
    limits: OutputLimits,
    name: String,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    whole: Whole,
}

enum Whole {
    InMemory,
    OnDisk(Kept),
    Lost,
}

/// A file that takes what still comes, up to its cap.
pub(crate) struct Kept {
    path: PathBuf,
    file: File,
    room: u64,
}

impl Capture {
    /// `name` is the file's, should there be one; what no file name may hold is replaced.
    pub fn new(limits: OutputLimits, name: &str) -> Self {
        let safe = |char: char| match char {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => char,
            _ => '_',
        };
        Self {
            limits,
            name: name.chars().map(safe).collect(),
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            whole: Whole::InMemory,
        }
    }

    pub fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        if matches!(self.whole, Whole::InMemory) && self.total > self.limits.shown as u64 {
            self.whole = self.move_to_disk();
        }
        if let Whole::OnDisk(kept) = &mut self.whole {
            kept.push(piece);
        }
        let room = (self.limits.shown / 3).saturating_sub(self.head.len());
        let (first, rest) = piece.split_at(room.min(piece.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let most = self.limits.shown - self.limits.shown / 3;
        let surplus = self.tail.len().saturating_sub(most);
        self.tail.drain(..surplus);
    }

    /// The file from now on, whatever the length so far; `None` where none can be made.
    pub fn into_kept(mut self) -> Option<Kept> {
        if matches!(self.whole, Whole::InMemory) {
            self.whole = self.move_to_disk();
        }
        match self.whole {
            Whole::OnDisk(kept) => Some(kept),
            Whole::InMemory | Whole::Lost => None,
        }
    }

    /// What the model is shown.
    pub fn shown(&mut self) -> String {
        self.tail.make_contiguous();
        let (tail, _) = self.tail.as_slices();
        let kept = (self.head.len() + tail.len()) as u64;
        let whole = [&self.head, tail].concat();
        if is_binary(&whole) {
            return format!("[{} bytes of binary output{}]", self.total, self.advice());
        }
        if kept == self.total {
            return printable(&whole);
        }
        let head = self.head.len() - unfinished(&self.head);
        let (head, _) = self.head.split_at(head);
        let continues = |byte: &u8| *byte & 0b1100_0000 == 0b1000_0000;
        let inside = tail
            .iter()
            .take(3)
            .take_while(|byte| continues(byte))
            .count();
        let (_, tail) = tail.split_at(inside);
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let (head, advice, tail) = (printable(head), self.advice(), printable(tail));
        format!("{head}\n[… {left_out} bytes left out here{advice} …]\n{tail}")
    }

    fn advice(&self) -> String {
        match &self.whole {
            Whole::OnDisk(kept) if kept.room == 0 => {
                let path = kept.path.display();
                format!("; the first {} bytes are in {path}", self.limits.kept)
            }
            Whole::OnDisk(kept) => format!("; the whole output is in {}", kept.path.display()),
            Whole::InMemory | Whole::Lost => {
                "; to see more, run it again through grep, head, tail or xxd".to_owned()
            }
        }
    }

    /// Everything so far, which is still in memory.
    fn move_to_disk(&mut self) -> Whole {
        let Some(folder) = &self.limits.folder else {
            return Whole::Lost;
        };
        match open_new(folder, &self.name) {
            Ok((path, file)) => {
                let room = self.limits.kept;
                let mut kept = Kept { path, file, room };
                self.tail.make_contiguous();
                kept.push(&self.head);
                kept.push(self.tail.as_slices().0);
                Whole::OnDisk(kept)
            }
            Err(_) => Whole::Lost,
        }
    }
}

impl Kept {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A full disk ends the keeping, never the call.
    pub fn push(&mut self, piece: &[u8]) {
        let len = usize::try_from(self.room).unwrap_or(usize::MAX);
        let (piece, _) = piece.split_at(len.min(piece.len()));
        match self.file.write_all(piece) {
            Ok(()) => self.room -= piece.len() as u64,
            Err(_) => self.room = 0,
        }
    }
}

/// A file that was not there before: an earlier call's output is never written over.
fn open_new(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    fs::create_dir_all(folder)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    for n in 1.. {
        let path = folder.join(format!("{name}-{n}.txt"));
        match options.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
