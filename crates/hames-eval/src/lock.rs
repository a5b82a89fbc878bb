//! Locks between processes: a file that its holder keeps locked, with who that is written in it.
//!
//! The operating system lets go of it when its holder dies, however that happens; a process id alone
//! is believed by nobody.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use crate::stage::StageError;

/// How often a lock that is waited for is tried.
const POLL: Duration = Duration::from_millis(50);

/// Held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// `what` is what the lock is about, as an error names it.
    ///
    /// # Errors
    /// [`StageError::Locked`] where a live process holds it, this one included. One that is dead
    /// holds nothing.
    pub fn take(path: &Path, what: &str) -> Result<Self, StageError> {
        let at = |error| StageError::io(format_args!("lock {}", path.display()), &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(at)?;
        }
        let mut options = OpenOptions::new();
        // What is in it is the holder's, and nobody knows yet who that is.
        options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(path).map_err(at)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let what = what.to_owned();
                let pid = holder(&mut file);
                return Err(StageError::Locked { what, pid });
            }
            Err(TryLockError::Error(error)) => return Err(at(error)),
        }
        let mut lock = Self {
            file,
            path: path.to_owned(),
        };
        lock.sign().map_err(at)?;
        Ok(lock)
    }

    /// For what is shared: waits until whoever holds it is done.
    ///
    /// # Errors
    /// It is still held after `limit`, or the run was interrupted.
    pub async fn wait(
        path: &Path,
        what: &str,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Self, StageError> {
        let poll = async {
            loop {
                match Self::take(path, what) {
                    Err(StageError::Locked { .. }) => tokio::time::sleep(POLL).await,
                    taken => return taken,
                }
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(StageError::Interrupted),
            taken = poll => taken,
            () = tokio::time::sleep(limit) => Self::take(path, what),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn sign(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "{}", std::process::id())
    }
}

impl Drop for Lock {
    /// The file stays: were it removed, two could hold a lock of the same name.
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
