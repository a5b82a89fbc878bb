//! Where a path that a model has written really leads.
//!
//! Whether it may go there is policy's to say, and policy is told the truth: links are resolved.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use hames_types::ToolError;

/// A path as it was asked for, and what it was found to be when the call was judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    asked: String,
    /// Absolute, and without links as far as it exists.
    pub path: PathBuf,
}

impl Place {
    /// Relative paths begin in the workspace.
    pub fn find(workspace: &Path, asked: &str) -> Result<Self, ToolError> {
        let path = resolve(workspace, asked)?;
        let asked = asked.to_owned();
        Ok(Self { asked, path })
    }

    /// Refuses to go on where the way has changed since the call was judged.
    pub fn check_unmoved(&self, workspace: &Path) -> Result<(), ToolError> {
        if resolve(workspace, &self.asked)? == self.path {
            return Ok(());
        }
        let path = self.path.display();
        Err(ToolError::failed(format!(
            "{} led to {path} when this call was permitted, and leads elsewhere now; \
             nothing was done, ask again",
            self.asked
        )))
    }

    /// As short as it can be said.
    pub fn shown(&self, workspace: &Path) -> String {
        shown(&self.path, workspace)
    }
}

/// Relative to the workspace where it lies in it.
pub(crate) fn shown(path: &Path, workspace: &Path) -> String {
    let canonical = workspace.canonicalize();
    let workspace = canonical.as_deref().unwrap_or(workspace);
    let within = path.strip_prefix(workspace).ok();
    let within = within.filter(|path| !path.as_os_str().is_empty());
    hames_types::WorkPath::new(within.unwrap_or(path))
        .as_str()
        .to_owned()
}

fn resolve(workspace: &Path, asked: &str) -> Result<PathBuf, ToolError> {
    check_text(asked)?;
    let full = workspace.join(asked);
    let failed = |error: io::Error| ToolError::failed(format!("{asked}: {error}"));
    let mut missing = Vec::new();
    let mut there = full.as_path();
    loop {
        match there.canonicalize() {
            Ok(found) => return Ok(append(found, missing)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Err(error) => {
                if there.symlink_metadata().is_ok() {
                    let link = there.display();
                    let reason = format!("{link} is a link to something that does not exist");
                    return Err(ToolError::failed(reason));
                }
                let (Some(parent), Some(last)) = (there.parent(), there.components().next_back())
                else {
                    return Err(failed(error));
                };
                let Component::Normal(name) = last else {
                    let reason = format!("{asked} goes up from a folder that does not exist");
                    return Err(ToolError::invalid(reason));
                };
                missing.push(name.to_owned());
                there = parent;
            }
        }
    }
}

fn append(mut found: PathBuf, missing: Vec<std::ffi::OsString>) -> PathBuf {
    found.extend(missing.into_iter().rev());
    found
}

fn check_text(asked: &str) -> Result<(), ToolError> {
    if asked.is_empty() {
        return Err(ToolError::invalid("path is empty; . is the workspace"));
    }
    if asked.contains('\0') {
        return Err(ToolError::invalid("path holds a NUL character"));
    }
    if asked == "~" || asked.starts_with("~/") {
        let reason = "~ is not expanded here; give the path in full, or relative to the workspace";
        return Err(ToolError::invalid(reason));
    }
    Ok(())
}
