//! Trust: which workspaces' hooks and allow rules count, and what was allowed in them before.
//!
//! It asks through whoever called, remembers in one file of the state folder, and reads no settings.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::settings::Gated;

/// `trust.json` in the state folder.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("{file}: {error}")]
    Io { file: PathBuf, error: io::Error },
    #[error("{file}: it cannot be read ({error}); repair it, or remove it to be asked again")]
    Broken {
        file: PathBuf,
        error: serde_json::Error,
    },
}

/// What is known of one workspace. Fields of a newer version are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    pub trusted: bool,
    /// Rules that were allowed for good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Contents {
    workspaces: BTreeMap<String, Known>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Who can be asked whether a workspace is trusted.
pub enum Asking<'a> {
    /// `--trust-workspace`: yes, for this run.
    Flag,
    /// `None` is no answer: not now, and asked again the next time.
    Terminal(&'a mut dyn FnMut(&str) -> Option<bool>),
    Nobody,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    pub trusted: bool,
    /// One line for the user, where something does not count.
    pub note: Option<String>,
}

impl TrustStore {
    pub fn new(state: &Path) -> Self {
        Self {
            file: state.join("trust.json"),
        }
    }

    pub fn known(&self, workspace: &Path) -> Result<Known, TrustError> {
        let mut contents = self.read()?;
        Ok(contents
            .workspaces
            .remove(&key(workspace))
            .unwrap_or_default())
    }

    pub fn trust(&self, workspace: &Path) -> Result<(), TrustError> {
        self.change(workspace, |known| known.trusted = true)
    }

    /// Keeps a yes for good. These rules are the user's own, so they need no trust.
    pub fn allow(&self, workspace: &Path, rules: &[String]) -> Result<(), TrustError> {
        self.change(workspace, |known| {
            for rule in rules {
                if !known.allow.contains(rule) {
                    known.allow.push(rule.clone());
                }
            }
        })
    }

    /// Another run may write at the same time: read, change and replace under one lock.
    fn change(&self, workspace: &Path, change: impl FnOnce(&mut Known)) -> Result<(), TrustError> {
        let _lock = self.lock().map_err(|error| self.io(error))?;
        let mut contents = self.read()?;
        change(contents.workspaces.entry(key(workspace)).or_default());
        self.write(&contents).map_err(|error| self.io(error))
    }

    fn lock(&self) -> io::Result<File> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = File::options();
        let path = self.file.with_extension("lock");
        let lock = options
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        lock.lock()?;
        Ok(lock)
    }

    fn read(&self) -> Result<Contents, TrustError> {
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Contents::default()),
            Err(error) => return Err(self.io(error)),
        };
        serde_json::from_str(&text).map_err(|error| TrustError::Broken {
            file: self.file.clone(),
            error,
        })
    }

    /// Whole or not at all: beside it, then in its place.
    fn write(&self, contents: &Contents) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(contents)?;
        text.push('\n');
        let beside = self.file.with_extension("new");
        let mut file = File::create(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(beside, &self.file)
    }

    fn io(&self, error: io::Error) -> TrustError {
        let file = self.file.clone();
        TrustError::Io { file, error }
    }
}

/// Whether the workspace's own word counts: asked only where it has something to say that does.
pub fn decide(
    store: &TrustStore,
    workspace: &Path,
    gated: &[Gated],
    asking: Asking<'_>,
) -> Result<Trust, TrustError> {
    let trusted = Trust {
        trusted: true,
        note: None,
    };
    if gated.is_empty() || store.known(workspace)?.trusted {
        return Ok(trusted);
    }
    match asking {
        Asking::Flag => Ok(trusted),
        Asking::Terminal(ask) => match ask(&question(workspace, gated)) {
            Some(true) => {
                store.trust(workspace)?;
                Ok(trusted)
            }
            Some(false) | None => Ok(untrusted(gated)),
        },
        Asking::Nobody => Ok(untrusted(gated)),
    }
}

fn untrusted(gated: &[Gated]) -> Trust {
    let note = format!(
        "this workspace is not trusted, so {} of it do not count; --trust-workspace lets them",
        counted(gated)
    );
    Trust {
        trusted: false,
        note: Some(note),
    }
}

/// `2 hooks and 1 allow rule`, in the order of their first.
fn counted(gated: &[Gated]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for one in gated {
        if !kinds.contains(&one.what) {
            kinds.push(one.what);
        }
    }
    let count = |kind: &&str| {
        let count = gated.iter().filter(|one| one.what == *kind).count();
        let name = kind.trim_start_matches("an ").trim_start_matches("a ");
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {name}{plural}")
    };
    let counts: Vec<String> = kinds.iter().map(count).collect();
    match counts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// Names each thing: a person says yes to what they have read.
fn question(workspace: &Path, gated: &[Gated]) -> String {
    let mut text = format!("{} brings settings of its own:\n", workspace.display());
    for Gated {
        what,
        text: own,
        file,
    } in gated
    {
        text.push_str(&format!("  {what}: {} ({file})\n", one_line(own)));
    }
    text.push_str("Trust this workspace, now and later?");
    text
}

/// Control characters would let a file draw its own question.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// The folder itself, whatever it was called.
fn key(workspace: &Path) -> String {
    let real = fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
    real.to_string_lossy().into_owned()
}
