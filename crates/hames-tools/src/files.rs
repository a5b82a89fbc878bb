//! Files read and replaced whole, and what each agent has seen of them.
//!
//! It never writes into a file that is there: the new one takes its place, or nothing happens.

mod disk;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hames_types::{JournalId, ToolError};
use sha2::{Digest, Sha256};

pub(crate) use disk::replace;

/// Files beyond it are not read into memory.
pub(crate) const LARGEST: u64 = 20 << 20;

type Hash = [u8; 32];

/// What the agents of a session know of files. An agent knows nothing of what another has read.
#[derive(Default)]
pub(crate) struct Files {
    seen: Mutex<HashMap<(JournalId, PathBuf), Hash>>,
    locks: Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>,
}

/// What an agent knows of a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knowledge {
    Nothing,
    /// It was something else then.
    Stale,
    Current,
}

impl Files {
    /// Runs `change` while nobody else of this session changes the file.
    pub fn alone<T>(&self, path: &Path, change: impl FnOnce() -> T) -> T {
        let lock = locked(&self.locks)
            .entry(path.to_owned())
            .or_default()
            .clone();
        let changed = {
            let _alone = locked(&lock);
            change()
        };
        drop(lock);
        locked(&self.locks).retain(|_, lock| Arc::strong_count(lock) > 1);
        changed
    }

    pub fn saw(&self, agent: &JournalId, path: &Path, bytes: &[u8]) {
        let hash = Sha256::digest(bytes).into();
        locked(&self.seen).insert((agent.clone(), path.to_owned()), hash);
    }

    pub fn knowledge(&self, agent: &JournalId, path: &Path, bytes: &[u8]) -> Knowledge {
        let key = (agent.clone(), path.to_owned());
        let known = locked(&self.seen).get(&key).copied();
        let now: Hash = Sha256::digest(bytes).into();
        match known {
            None => Knowledge::Nothing,
            Some(then) if then == now => Knowledge::Current,
            Some(_) => Knowledge::Stale,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The whole of a regular file; `None` where there is none.
pub(crate) fn read_whole(path: &Path, shown: &str) -> Result<Option<Vec<u8>>, ToolError> {
    let failed = |error: io::Error| match disk::is_a_link(&error) {
        true => ToolError::failed(format!("{shown} became a link meanwhile; ask again")),
        false => ToolError::failed(format!("{shown}: {error}")),
    };
    let file = match disk::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        let reason =
            format!("{shown} is a folder; use glob with path {shown} and pattern * to list it");
        return Err(ToolError::invalid(reason));
    }
    if !metadata.is_file() {
        let reason = format!("{shown} is neither a file nor a folder; use bash to look at it");
        return Err(ToolError::invalid(reason));
    }
    if metadata.len() > LARGEST {
        return Err(too_large(shown, metadata.len()));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    io::Read::read_to_end(&mut io::Read::take(file, LARGEST + 1), &mut bytes).map_err(failed)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(too_large(shown, bytes.len() as u64)),
        false => Ok(Some(bytes)),
    }
}

fn too_large(shown: &str, len: u64) -> ToolError {
    ToolError::invalid(format!(
        "{shown} has {len} bytes, too many to read whole; search it with grep, \
         or look at a part with bash: sed -n '1,200p' {shown}"
    ))
}

/// Off the loop's thread: a disk may hang.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolError::failed("interrupted before it began")),
        },
    }
}
