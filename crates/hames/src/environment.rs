//! The environment: variables, home, the current folder and which streams are terminals.
//!
//! It is read once, here; everything else is handed what it needs.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Those whose value is text.
    pub variables: BTreeMap<String, String>,
    pub current_dir: PathBuf,
    pub stdin_is_terminal: bool,
    /// There is something in it to be read; what comes later is not known.
    pub stdin_holds_text: bool,
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
}

impl Environment {
    pub fn read() -> io::Result<Self> {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Ok(Self {
            variables: env::vars_os().filter_map(text).collect(),
            current_dir: env::current_dir()?,
            stdin_is_terminal: io::stdin().is_terminal(),
            stdin_holds_text: stdin_holds_text(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
        })
    }

    /// `None` for a variable that is unset or empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?.as_str();
        (!value.is_empty()).then_some(value)
    }

    pub fn home(&self) -> Option<&Path> {
        self.var("HOME")
            .or_else(|| self.var("USERPROFILE"))
            .map(Path::new)
    }

    /// `$XDG_CONFIG_HOME/hames`, by default `~/.config/hames`.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    /// `$XDG_STATE_HOME/hames`, by default `~/.local/state/hames`.
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// Where tools keep what is too long to show, by session.
    pub fn outputs_dir(&self) -> Option<PathBuf> {
        Some(self.state_dir()?.join("outputs"))
    }

    /// `$XDG_CACHE_HOME/hames`, by default `~/.cache/hames`.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.xdg("XDG_CACHE_HOME", ".cache")
    }

    /// <https://no-color.org>: set to anything but nothing, it means no colour.
    pub fn wants_color(&self) -> bool {
        self.var("NO_COLOR").is_none() && self.var("TERM") != Some("dumb")
    }

    /// A relative path there is to be ignored, by the XDG base directory specification.
    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let named = self.var(variable).map(PathBuf::from);
        let named = named.filter(|path| path.is_absolute());
        let folder = named.or_else(|| Some(self.home()?.join(below_home)))?;
        Some(folder.join("hames"))
    }
}

#[cfg(unix)]
fn stdin_holds_text() -> bool {
    rustix::io::ioctl_fionread(io::stdin()).is_ok_and(|bytes| bytes > 0)
}

#[cfg(not(unix))]
fn stdin_holds_text() -> bool {
    false
}
