//! What was changed in a tree, as one patch against its base: read from the files, never from the
//! repository that whoever worked there could change.
//!
//! What the patch is worth, and who made it, is not asked here.

mod disarm;
mod index;
mod noise;
mod path;

use std::{collections::BTreeSet, fs, path::Path, path::PathBuf};

use serde::{Deserialize, Serialize};

use self::{
    index::{Change, Index, Tracked},
    path::{in_words, on_disk},
};
use crate::{environment::Around, record::PatchFacts, stage::StageError};

pub use noise::{Noise, noise_of};

/// A new file above this is left out and said. 10 MiB.
const LARGEST: u64 = 10 << 20;
/// The same for a file of the base, and for all new ones together. 100 MiB.
const LARGEST_OF_BASE: u64 = 100 << 20;
const LARGEST_TOGETHER: u64 = 100 << 20;

/// The tree, and what it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    pub tree: &'a Path,
    /// The commit that the tree was at when it was handed over.
    pub base: &'a str,
    /// Repositories that may hold the base's objects; the first that does is used.
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
///
/// What counts is the files as they lie there: whether they were committed, staged, or on which
/// branch, makes no difference. What the tree's own rules ignore is left out, and said.
pub async fn extract(against: &Against<'_>, around: &Around<'_>) -> Result<Extracted, StageError> {
    let is_there = fs::symlink_metadata(against.tree).is_ok_and(|meta| meta.is_dir());
    if !is_there {
        return Ok(without_tree());
    }
    let extracted = take(against, around).await;
    // What could not be removed is in nobody's way.
    let _ = fs::remove_dir_all(against.scratch);
    extracted
}

/// Whoever removes the tree has done no work in it.
fn without_tree() -> Extracted {
    let facts = PatchFacts {
        filtered: vec![". (the whole tree is gone)".to_owned()],
        from: "none".to_owned(),
        ..PatchFacts::default()
    };
    Extracted {
        patch: String::new(),
        facts,
    }
}

async fn take(against: &Against<'_>, around: &Around<'_>) -> Result<Extracted, StageError> {
    let opened = disarm::open_up(against.tree, against.scratch)?;
    let index = Index::of_base(against, around).await?;
    let mut filtered = leave_out_what_has_grown(&index, against.tree).await?;
    index.add_tracked().await?;
    let new = index.untracked().await?;
    let (new, left_out) = choose(against.tree, &new);
    index.add(&new).await?;
    filtered.extend(left_out);
    filtered.extend(undo_what_is_no_work(&index, against.tree).await?);
    let told = |path: &Vec<u8>| format!("{} (ignored)", in_words(path));
    filtered.extend(index.ignored().await?.iter().map(told));
    filtered.extend(opened);
    let patch = index.diff().await?;
    let (added, removed) = index.counts().await?;
    let applies_to_base = match patch.is_empty() {
        true => None,
        false => Some(index.gives_itself(&patch).await?),
    };
    let changes = index.changes().await?;
    filtered.extend(not_taken(&new, &changes));
    filtered.sort();
    filtered.dedup();
    let facts = PatchFacts {
        bytes: patch.len(),
        files: changes
            .iter()
            .map(|change| in_words(&change.path))
            .collect(),
        added,
        removed,
        filtered,
        applies_to_base,
        from: if patch.is_empty() { "none" } else { "tree" }.to_owned(),
    };
    Ok(Extracted { patch, facts })
}

/// The new files that are work, and what is said of the others. Only what is new can be noise: a
/// file of the base that was changed is work.
fn choose<'p>(tree: &Path, new: &'p [Vec<u8>]) -> (Vec<&'p [u8]>, Vec<String>) {
    let (mut kept, mut left_out, mut together) = (Vec::new(), Vec::new(), 0);
    for path in new {
        let name = in_words(path);
        let size = size(tree, path);
        if let Some(told) = noise::told(&name) {
            left_out.push(told);
        } else if size > LARGEST {
            left_out.push(told_large(tree, path));
        } else if together + size > LARGEST_TOGETHER {
            left_out.push(format!("{name} (too much with all the others)"));
        } else {
            together += size;
            kept.push(path.as_slice());
        }
    }
    (kept, left_out)
}

/// Of the base's files, those that have grown beyond measure: they are not even read, as that can
/// take longer than all else.
async fn leave_out_what_has_grown(
    index: &Index<'_>,
    tree: &Path,
) -> Result<Vec<String>, StageError> {
    let tracked = index.tracked().await?;
    let is_large = |file: &&Tracked| size(tree, &file.path) > LARGEST_OF_BASE;
    let large: Vec<&Tracked> = tracked.iter().filter(is_large).collect();
    let before = index.sizes(&large).await?;
    let pairs = large.iter().zip(before);
    let grown: Vec<&Tracked> = pairs
        .filter(|(file, before)| size(tree, &file.path) > *before)
        .map(|(file, _)| *file)
        .collect();
    index.leave(&grown).await?;
    let told = grown.iter().map(|file| told_large(tree, &file.path));
    Ok(told.collect())
}

/// New files that git has passed over, such as a link where it takes only a file.
fn not_taken(new: &[&[u8]], changes: &[Change]) -> Vec<String> {
    let taken: BTreeSet<&[u8]> = changes.iter().map(|change| &*change.path).collect();
    let lost = new.iter().filter(|path| !taken.contains(*path));
    lost.map(|path| format!("{} (git does not take it)", in_words(path)))
        .collect()
}

/// Of the base's files: those that nobody has touched, and those that have grown beyond measure.
async fn undo_what_is_no_work(index: &Index<'_>, tree: &Path) -> Result<Vec<String>, StageError> {
    let changes = index.changes().await?;
    let mut undone = index.untouched(&changes).await?;
    let grown = |change: &&Change| !change.is_new() && size(tree, &change.path) > LARGEST_OF_BASE;
    let grown: Vec<&Change> = changes.iter().filter(grown).collect();
    undone.extend(&grown);
    index.undo(&undone).await?;
    let told = grown.iter().map(|change| told_large(tree, &change.path));
    Ok(told.collect())
}

fn told_large(tree: &Path, path: &[u8]) -> String {
    format!("{} ({} MiB)", in_words(path), size(tree, path) >> 20)
}

/// In bytes; of a link, its own.
fn size(tree: &Path, path: &[u8]) -> u64 {
    fs::symlink_metadata(on_disk(tree, path)).map_or(0, |meta| meta.len())
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
    let index = Index::of_base(against, around).await?;
    let applies = index.takes(&patch).await?;
    let _ = fs::remove_dir_all(against.scratch);
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
