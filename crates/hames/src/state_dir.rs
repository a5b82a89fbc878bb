//! The sessions folder: where journals lie, what they are called, and which one is meant.
//!
//! It reads names, dates and first lines; what a journal says is for others.

use std::{
    fs, io,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result};
use hames_journal::{FileStore, Header, OpenError};

use crate::{
    environment::Environment,
    exit::usage,
    session_id::{self, SessionId},
};

#[derive(Debug, Clone)]
pub struct SessionsDir {
    folder: PathBuf,
}

/// A session as its name, its first line and its file's date tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub id: String,
    pub path: PathBuf,
    pub cwd: String,
    pub changed: SystemTime,
    pub bytes: u64,
}

impl SessionsDir {
    /// The folder is made when the first session is.
    pub fn of(environment: &Environment) -> Result<Self> {
        let state = environment.state_dir();
        let state =
            state.ok_or_else(|| usage("set HOME or XDG_STATE_HOME: sessions need a place"))?;
        Ok(Self {
            folder: state.join("sessions"),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    pub fn create(&self, cwd: &Path) -> Result<FileStore> {
        make_private(&self.folder).with_context(|| format!("{}", self.folder.display()))?;
        let path = self.path(&SessionId::new().to_string());
        Ok(FileStore::create(&path, &cwd.to_string_lossy())?)
    }

    /// Goes on with a session; one that is open elsewhere is a usage error that names the holder.
    pub fn open(&self, path: &Path) -> Result<FileStore> {
        FileStore::open(path).map_err(|error| match error {
            OpenError::Locked { .. } | OpenError::Newer { .. } | OpenError::NoHeader => {
                usage(format!("{}: {error}", path.display()))
            }
            OpenError::Io(error) => {
                anyhow::Error::from(error).context(format!("{}", path.display()))
            }
        })
    }

    /// All sessions, the one that was written to last first. Children and run logs are no sessions.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let files = match fs::read_dir(&self.folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut sessions: Vec<_> = files
            .flatten()
            .filter_map(|file| listed(&file.path()))
            .collect();
        sessions.sort_by(|one, other| (other.changed, &other.id).cmp(&(one.changed, &one.id)));
        Ok(sessions)
    }

    pub fn newest_of(&self, cwd: &Path) -> Result<Listed> {
        let here = cwd.to_string_lossy();
        let mut sessions = self.list()?.into_iter();
        let newest = sessions.find(|session| session.cwd == here);
        newest.ok_or_else(|| usage(format!("there is no session of {here} to continue")))
    }

    /// By the whole id, or by a beginning that only one session has.
    pub fn find(&self, id: &str) -> Result<Listed> {
        let mut sessions = self.list()?;
        if let Some(exact) = sessions.iter().position(|session| session.id == id) {
            return Ok(sessions.swap_remove(exact));
        }
        let mut found = sessions
            .into_iter()
            .filter(|session| session.id.starts_with(id));
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (Some(one), Some(other)) => Err(usage(format!(
                "more than one session begins with {id}: {}, {}",
                one.id, other.id
            ))),
            (None, _) => Err(usage(format!(
                "there is no session {id}; `hames sessions` lists them"
            ))),
        }
    }
}

fn listed(path: &Path) -> Option<Listed> {
    let id = path.file_stem()?.to_str()?;
    if path.extension()? != "jsonl" || !session_id::is_session(id) {
        return None;
    }
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    // One unreadable file must not hide the others: it is listed without its folder.
    let cwd = read_header(path).map_or_else(String::new, |header| header.cwd);
    Some(Listed {
        id: id.to_owned(),
        path: path.to_owned(),
        cwd,
        changed: about.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        bytes: about.len(),
    })
}

fn read_header(path: &Path) -> Option<Header> {
    let mut line = String::new();
    BufReader::new(fs::File::open(path).ok()?)
        .read_line(&mut line)
        .ok()?;
    serde_json::from_str(&line).ok()
}

/// What is said in a session is its user's alone.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
