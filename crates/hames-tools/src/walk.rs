//! A walk over a folder's files: in order, within a time limit, past what ignore files name.
//!
//! It follows no links, and never looks into `.git`.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use globset::{GlobBuilder, GlobMatcher};
use hames_types::ToolError;
use ignore::WalkBuilder;
use tokio_util::sync::CancellationToken;

/// What a search may cost.
#[derive(Debug, Clone)]
pub struct SearchLimits {
    /// Default 20 s; what was found until then is told.
    pub time: Duration,
    /// Files listed by one `glob`. Default 200.
    pub files: usize,
    /// Matching lines shown by one `grep`, where the model names no number. Default 100.
    pub lines: usize,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(20),
            files: 200,
            lines: 100,
        }
    }
}

/// When to give up.
#[derive(Clone)]
pub(crate) struct Patience {
    until: Option<Instant>,
    limit: Duration,
    cancel: CancellationToken,
}

impl Patience {
    pub fn new(limit: Duration, cancel: CancellationToken) -> Self {
        let until = Instant::now().checked_add(limit);
        Self {
            until,
            limit,
            cancel,
        }
    }

    /// Why the search ends here, if it does.
    pub fn ends(&self) -> Option<String> {
        if self.cancel.is_cancelled() {
            return Some("interrupted".to_owned());
        }
        let late = self.until.is_some_and(|until| Instant::now() >= until);
        late.then(|| format!("stopped after {} s", self.limit.as_secs_f64()))
    }
}

/// A file found, or the reason why the walk ended early.
pub(crate) type Found = Result<PathBuf, String>;

/// The files below `root`, those of a folder in the order of their names; `root` itself if it is one.
pub(crate) fn files(root: &Path, patience: Patience) -> impl Iterator<Item = Found> {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(|one, other| one.cmp(other))
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    let mut walk = builder.build();
    let mut ended = false;
    std::iter::from_fn(move || {
        while !ended {
            if let Some(reason) = patience.ends() {
                ended = true;
                return Some(Err(reason));
            }
            // A folder that may not be read is passed by, as by every such program.
            let Ok(entry) = walk.next()? else { continue };
            if entry.file_type().is_some_and(|kind| !kind.is_dir()) {
                return Some(Ok(entry.into_path()));
            }
        }
        None
    })
}

/// A pattern without a slash fits in any folder.
pub(crate) fn pattern(text: &str) -> Result<GlobMatcher, ToolError> {
    let text = text.strip_prefix("./").unwrap_or(text);
    if text.is_empty() {
        return Err(ToolError::invalid(
            "the glob pattern is empty; ** is every file",
        ));
    }
    if text.starts_with('/') || text.split('/').any(|part| part == "..") {
        let reason = "a glob pattern begins at path; give the folder as path";
        return Err(ToolError::invalid(reason));
    }
    let anywhere = format!("**/{text}");
    let full = if text.contains('/') { text } else { &anywhere };
    let glob = GlobBuilder::new(full).literal_separator(true).build();
    let glob = glob.map_err(|error| ToolError::invalid(format!("the glob pattern: {error}")))?;
    Ok(glob.compile_matcher())
}

pub(crate) fn check_there(path: &Path, shown: &str) -> Result<(), ToolError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(()),
        Err(error) => Err(ToolError::failed(format!(
            "{shown}: {error}; . is the workspace"
        ))),
    }
}
