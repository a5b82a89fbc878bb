//! A checkout in which history ends at the base: nothing later, and nothing that leads to where it came from.
//!
//! It is a repository of its own: it shares no object with the mirror.

use std::{fs, path::Path};

use super::{git::git_text, mirror::Mirrored};
use crate::{environment::Around, stage::StageError};

/// How much of what came before the base is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// All, as in the official images.
    Whole,
    /// The base and its parents: enough for `git show` and for checking files out.
    Shallow,
}

/// Makes `tree`, which is absent or empty.
///
/// # Errors
/// The folder holds something, or the machine does not let us.
pub async fn clone(
    base: &Mirrored,
    tree: &Path,
    depth: Depth,
    cx: &Around<'_>,
) -> Result<(), StageError> {
    let at = |error| StageError::io(format_args!("make {}", tree.display()), &error);
    fs::create_dir_all(tree).map_err(at)?;
    if fs::read_dir(tree).map_err(at)?.next().is_some() {
        let what = format!("{} is not empty: choose another folder", tree.display());
        return Err(StageError::BadInput(what));
    }
    let init = ["init", "--quiet", "--template=", "--initial-branch=main"];
    git_text(&init, tree, cx).await?;
    let from = base.repository.to_string_lossy();
    let mut fetch = vec![
        // It is made again where a power cut spoils it.
        "-c",
        "core.fsync=none",
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
    ];
    match depth {
        Depth::Whole => {}
        Depth::Shallow => fetch.push("--depth=2"),
    }
    fetch.extend([&*from, &base.commit]);
    git_text(&fetch, tree, cx).await?;
    // A branch that is made with its reflog off has none.
    let quiet = "core.logAllRefUpdates=false";
    let branch = ["-c", quiet, "update-ref", "refs/heads/main", &base.commit];
    git_text(&branch, tree, cx).await?;
    git_text(&["-c", quiet, "reset", "--quiet", "--hard"], tree, cx).await?;
    for left in ["FETCH_HEAD", "ORIG_HEAD"] {
        let _ = fs::remove_file(tree.join(".git").join(left));
    }
    Ok(())
}
