//! What was changed in a tree, as one patch against its base: read from the files, never from the
//! repository that whoever worked there could change.
//!
//! What the patch is worth, and who made it, is not asked here.

mod disarm;
mod index;
mod noise;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::index::{Change, Index};
use crate::{environment::Around, record::PatchFacts, stage::StageError};

pub use noise::{Noise, noise_of};

/// A new file above this is left out and said. 10 MiB.
const LARGEST: u64 = 10 << 20;

/// The tree, and what it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    pub tree: &'a Path,
    /// The commit that the tree was at when it was handed over.
    pub base: &'a str,
    /// Bare repositories that hold the base's objects; the first that has them is used.
    pub objects: &'a [PathBuf],
    /// A folder of our own, outside the tree; made, and removed afterwards.
    pub scratch: &'a Path,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Extracted {
    /// With `git apply` on the base it gives the tree again. Text: what is not UTF-8 goes in as
    /// binary.
    pub patch: String,
    pub facts: PatchFacts,
}

/// Takes the work from a tree that nobody works in any more. Nested repositories and unreadable
/// files in it are opened up first.
pub async fn extract(against: &Against<'_>, around: &Around<'_>) -> Result<Extracted, StageError> {
    disarm::open_up(against.tree, against.scratch)?;
    let mut index = Index::of_base(against, around).await?;
    index.add_tree().await?;
    let changes = index.changes().await?;
    let (mut kept, mut filtered) = (Vec::new(), index.ignored().await?);
    for change in changes {
        match left_out(&change, against.tree) {
            Some(why) => {
                filtered.push(format!("{} ({why})", change.path));
                index.undo(&change);
            }
            None => kept.push(change.path),
        }
    }
    index.write_undone().await?;
    let patch = index.diff().await?;
    let (added, removed) = index.counts().await?;
    let applies_to_base = match patch.is_empty() {
        true => None,
        false => Some(index.gives_itself(&patch).await?),
    };
    let facts = PatchFacts {
        bytes: patch.len(),
        files: kept,
        added,
        removed,
        filtered,
        applies_to_base,
        from: if patch.is_empty() { "none" } else { "tree" }.to_owned(),
    };
    Ok(Extracted { patch, facts })
}

/// For a diff that was printed rather than made: what can be said of it.
pub async fn printed(
    patch: &str,
    against: &Against<'_>,
    around: &Around<'_>,
) -> Result<Extracted, StageError> {
    let mut patch = patch.to_owned();
    if !patch.ends_with('\n') {
        patch.push('\n');
    }
    let mut index = Index::of_base(against, around).await?;
    let applies = index.takes(&patch).await?;
    let changed = patch.lines().filter_map(|line| {
        line.strip_prefix("+++ b/")
            .or_else(|| line.strip_prefix("--- a/"))
    });
    let mut files: Vec<String> = changed
        .map(|path| path.split('\t').next().unwrap_or_default().to_owned())
        .collect();
    files.sort();
    files.dedup();
    let count = |sign: char, header: &str| {
        patch
            .lines()
            .filter(|line| line.starts_with(sign) && !line.starts_with(header))
            .count()
    };
    let facts = PatchFacts {
        bytes: patch.len(),
        files,
        added: count('+', "+++ "),
        removed: count('-', "--- "),
        filtered: Vec::new(),
        applies_to_base: Some(applies),
        from: "printed".to_owned(),
    };
    Ok(Extracted { patch, facts })
}

/// Only what is new can be noise: a file of the base that was changed is work.
fn left_out(change: &Change, tree: &Path) -> Option<String> {
    if !change.is_new {
        return None;
    }
    if let Some(noise) = noise_of(&change.path) {
        return Some(noise.why.to_owned());
    }
    let size = std::fs::symlink_metadata(tree.join(&change.path)).map_or(0, |meta| meta.len());
    (size > LARGEST).then(|| format!("{} MiB", size >> 20))
}
