//! A disk that fails at a chosen append, in each of the ways in which disks and processes fail.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use hames_journal::{
    Disk,
    tail::{Backing, Syncer},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process dies in the middle of the write.
    KilledInside,
    /// The process dies after the write, before anyone hears of it.
    KilledBehind,
    /// Half a line arrives, and the rest never does; later writes do.
    ShortWrite,
    /// There is no room, from here on.
    NoSpace,
    /// The disk fails for good: neither the write nor the cut that follows.
    Broken,
    /// The machine loses power: what was not synced is gone.
    PowerLost,
}

impl Fault {
    pub const ALL: [Self; 6] = [
        Self::KilledInside,
        Self::KilledBehind,
        Self::ShortWrite,
        Self::NoSpace,
        Self::Broken,
        Self::PowerLost,
    ];
}

/// Counts appends over a journal and its children, and fails at one of them.
#[derive(Clone)]
pub struct Plan {
    fault: Fault,
    at: usize,
    appends: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
    synced: Arc<Mutex<Vec<(PathBuf, u64)>>>,
}

impl Plan {
    pub fn new(fault: Fault, at: usize) -> Self {
        Self {
            fault,
            at,
            appends: Arc::default(),
            dead: Arc::default(),
            synced: Arc::default(),
        }
    }

    /// Appends that were tried.
    pub fn appends(&self) -> usize {
        self.appends.load(SeqCst)
    }

    pub fn disk(&self) -> Disk {
        let plan = self.clone();
        Disk::new(move |file| {
            let plan = plan.clone();
            Box::new(Failing { plan, file })
        })
    }

    /// What the machine finds when it has power again; other faults leave files as they are.
    pub fn lose_what_was_not_synced(&self, journal: &Path) -> io::Result<()> {
        if self.fault != Fault::PowerLost || !self.dead.load(SeqCst) {
            return Ok(());
        }
        let synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        let len = synced.iter().rev().find(|(path, _)| path == journal);
        let file = OpenOptions::new().write(true).open(journal)?;
        // The header is on disk: a session that was never synced is not resumed at all.
        file.set_len(len.map_or(0, |(_, len)| *len))
    }
}

struct Failing {
    plan: Plan,
    file: File,
}

impl Failing {
    fn fail(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (half, _) = bytes.split_at(bytes.len() / 2);
        let gone = io::Error::other("the process is gone");
        match self.plan.fault {
            Fault::KilledInside | Fault::Broken => {
                self.plan.dead.store(true, SeqCst);
                self.file.write_all(half)?;
                Err(gone)
            }
            Fault::KilledBehind => {
                self.plan.dead.store(true, SeqCst);
                self.file.write_all(bytes)?;
                Err(gone)
            }
            Fault::ShortWrite => {
                self.file.write_all(half)?;
                Err(io::ErrorKind::WriteZero.into())
            }
            Fault::NoSpace => Err(io::ErrorKind::StorageFull.into()),
            Fault::PowerLost => {
                self.plan.dead.store(true, SeqCst);
                Err(gone)
            }
        }
    }

    fn path(&self) -> io::Result<PathBuf> {
        use std::os::fd::AsRawFd;
        std::fs::read_link(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

impl Backing for Failing {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.plan.dead.load(SeqCst) {
            return Err(io::Error::other("the process is gone"));
        }
        let index = self.plan.appends.fetch_add(1, SeqCst);
        let for_good = self.plan.fault == Fault::NoSpace;
        if index == self.plan.at || for_good && index > self.plan.at {
            return self.fail(bytes);
        }
        self.file.write_all(bytes)
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        if self.plan.dead.load(SeqCst) {
            return Err(io::Error::other("the process is gone"));
        }
        self.file.set_len(len)
    }

    fn syncer(&self) -> io::Result<Syncer> {
        if self.plan.dead.load(SeqCst) {
            return Err(io::Error::other("the process is gone"));
        }
        let (path, len) = (self.path()?, self.file.metadata()?.len());
        let mut synced = self
            .plan
            .synced
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        synced.push((path, len));
        Ok(Box::new(|| Ok(())))
    }
}
