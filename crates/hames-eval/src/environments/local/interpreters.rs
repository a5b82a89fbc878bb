//! Which Python a recipe's tests run with: pyenv's, uv's, or one on the path.
//!
//! None is installed here: a missing one is an error that says how.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{digest, environment::Around, host::Host, stage::StageError, tool::Tool};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Interpreter {
    /// The program itself, behind what shims and links lead to it.
    #[serde(rename = "executable")]
    pub path: PathBuf,
    /// As `3.9.18`.
    pub version: String,
    pub implementation: String,
    /// The operating system, as the interpreter names it.
    pub platform: String,
}

impl fmt::Display for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            version,
            implementation,
            platform: _,
        } = self;
        write!(f, "{implementation} {version} ({})", path.display())
    }
}

impl Interpreter {
    /// As `3.9`.
    pub fn minor(&self) -> &str {
        minor(&self.version)
    }

    /// Below a virtual environment.
    pub fn site_packages(&self) -> PathBuf {
        PathBuf::from(format!("lib/python{}/site-packages", self.minor()))
    }
}

/// Asked of each candidate: shims tell nothing by their place.
const QUESTION: &str = "import json, os, platform, sys; print(json.dumps({\
    'executable': os.path.realpath(sys.executable), 'version': platform.python_version(), \
    'implementation': platform.python_implementation(), 'platform': platform.platform()}))";

/// Whether there is anything to be tried.
pub(super) fn check(wanted: &str, cx: &Around<'_>) -> Result<(), StageError> {
    if candidates(wanted, cx.host).is_empty() {
        return Err(missing(wanted));
    }
    Ok(())
}

/// The first candidate that is what was wanted.
pub(super) async fn find(wanted: &str, cx: &Around<'_>) -> Result<Interpreter, StageError> {
    for path in candidates(wanted, cx.host) {
        if let Some(found) = ask(&path, cx).await?
            && fits(wanted, &found.version)
        {
            return Ok(found);
        }
    }
    Err(missing(wanted))
}

async fn ask(path: &Path, cx: &Around<'_>) -> Result<Option<Interpreter>, StageError> {
    let env = cx.host.plain_env();
    let tool = Tool {
        program: path,
        args: &["-I", "-c", QUESTION],
        cwd: Path::new("/"),
        env: &env,
        stdin: None,
        limit: Duration::from_secs(60),
    };
    match tool.run(cx).await {
        Ok(answer) => Ok(serde_json::from_slice(&answer.out).ok()),
        Err(StageError::Interrupted) => Err(StageError::Interrupted),
        Err(_) => Ok(None),
    }
}

fn missing(wanted: &str) -> StageError {
    if wanted.is_empty() {
        return StageError::Missing {
            what: "Python 3".to_owned(),
            hint: "install it, and see that `python3` is on PATH".to_owned(),
        };
    }
    StageError::Missing {
        what: format!("Python {wanted}"),
        hint: format!("install it with `pyenv install {wanted}` or `uv python install {wanted}`"),
    }
}

/// `3.9` fits any 3.9, and `3.9.18` itself alone.
fn fits(wanted: &str, version: &str) -> bool {
    let rest = version.strip_prefix(wanted);
    rest.is_some_and(|rest| wanted.is_empty() || rest.is_empty() || rest.starts_with('.'))
}

fn minor(version: &str) -> &str {
    let second = version.match_indices('.').nth(1);
    second
        .and_then(|(at, _)| version.get(..at))
        .unwrap_or(version)
}

/// Places to look at, the likeliest first.
fn candidates(wanted: &str, host: &Host) -> Vec<PathBuf> {
    if wanted.is_empty() {
        return ["python3", "python"]
            .iter()
            .filter_map(|name| host.find(name))
            .collect();
    }
    let name = format!("python{}", minor(wanted));
    let mut kept: Vec<(Vec<u32>, PathBuf)> = Vec::new();
    for folder in collections(host) {
        for (version, place) in kept_in(&folder) {
            if fits(wanted, &version) {
                kept.push((numbers(&version), place.join("bin").join(&name)));
            }
        }
    }
    kept.sort_by(|one, other| other.0.cmp(&one.0));
    let kept = kept.into_iter().map(|(_, path)| path);
    kept.chain(host.find(&name))
        .filter(|path| path.is_file())
        .collect()
}

/// Folders with one interpreter in each folder of them: pyenv's, and uv's.
fn collections(host: &Host) -> Vec<PathBuf> {
    let folder = |name: &str| host.variables.get(name).map(PathBuf::from);
    let home = |below: &str| folder("HOME").map(|home| home.join(below));
    let pyenv = folder("PYENV_ROOT").or_else(|| home(".pyenv"));
    let data = folder("XDG_DATA_HOME").or_else(|| home(".local/share"));
    let uv = folder("UV_PYTHON_INSTALL_DIR").or_else(|| data.map(|data| data.join("uv/python")));
    let pyenv = pyenv.map(|pyenv| pyenv.join("versions"));
    pyenv.into_iter().chain(uv).collect()
}

/// `3.9.18` (pyenv), `cpython-3.9.18-linux-x86_64-gnu` (uv).
fn kept_in(collection: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(collection).into_iter().flatten().flatten();
    let version = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let version = match name.strip_prefix("cpython-") {
            Some(rest) => rest.split('-').next()?.to_owned(),
            None => name,
        };
        let is_version = version.starts_with(|first: char| first.is_ascii_digit());
        is_version.then(|| (version, entry.path()))
    };
    entries.filter_map(version).collect()
}

fn numbers(version: &str) -> Vec<u32> {
    version
        .split('.')
        .map(|part| part.parse().unwrap_or(0))
        .collect()
}

/// The folder that puts it first as `python` on a path.
pub(super) fn bin(python: &Path, cx: &Around<'_>) -> Result<PathBuf, StageError> {
    let own = python.parent().unwrap_or(Path::new("/"));
    if own.join("python").is_file() {
        return Ok(own.to_owned());
    }
    let name = digest::short(&[&python.to_string_lossy()]);
    let folder = cx.host.cache.join("interpreters").join(name).join("bin");
    for name in ["python", "python3"] {
        link(python, &folder.join(name)).map_err(|error| {
            StageError::io(format_args!("write in {}", folder.display()), &error)
        })?;
    }
    Ok(folder)
}

/// Leaves one alone that is there.
pub(super) fn link(to: &Path, at: &Path) -> io::Result<()> {
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder)?;
    }
    match symlink(to, at) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
fn symlink(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn symlink(_to: &Path, _at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
