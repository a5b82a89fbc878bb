//! Eval scripts as they run on this machine: the places of containers become folders of this run.
//!
//! What a script does is not changed.

use std::{fs, io, path::Path};

use super::Scratch;
use crate::{
    environment::Candidate,
    instance::{Instance, TestRun},
};

/// The script with our placeholders and the official places filled in.
pub(super) fn settled(
    instance: &Instance,
    candidate: &Candidate<'_>,
    scratch: &Scratch,
    base: &str,
) -> String {
    let tree = scratch.tree.to_string_lossy();
    let text = candidate
        .eval_script
        .replace("{testbed}", &tree)
        .replace("{base}", base)
        .replace("{tests}", &scratch.tests.to_string_lossy());
    match &instance.tests.run {
        TestRun::Reward { .. } if text.trim().is_empty() => {
            format!("bash {}\n", scratch.tests.join("test.sh").display())
        }
        TestRun::Reward { .. } => settle(&text, scratch),
        TestRun::Script { .. } | TestRun::Command { .. } | TestRun::Official => {
            moved(&text, "/testbed", &tree)
        }
    }
}

/// The places of a Harbor task's container.
fn settle(text: &str, scratch: &Scratch) -> String {
    let mut text = text.to_owned();
    for (place, folder) in [
        ("/testbed", &scratch.tree),
        ("/app", &scratch.tree),
        ("/tests", &scratch.tests),
        ("/logs", &scratch.logs),
    ] {
        text = moved(&text, place, &folder.to_string_lossy());
    }
    text
}

/// In every file of text below a folder.
pub(super) fn settle_all(folder: &Path, scratch: &Scratch) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            settle_all(&path, scratch)?;
        } else if kind.is_file()
            && let Ok(text) = String::from_utf8(fs::read(&path)?)
        {
            fs::write(&path, settle(&text, scratch))?;
        }
    }
    Ok(())
}

/// Where `place` stands as a whole path or the beginning of one: not within another path or word.
fn moved(text: &str, place: &str, to: &str) -> String {
    let part_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(place) {
        new += before;
        let inside = new
            .ends_with(|letter| part_of_word(letter) || matches!(letter, '/' | '}' | '~'))
            || after.starts_with(part_of_word);
        new += if inside { place } else { to };
        rest = after;
    }
    new + rest
}

/// Lays what is in one folder over another.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn places_are_moved_as_whole_paths_alone() {
        let text = "cd /testbed && ls /testbed/a '/testbed' /opt/testbed /testbed2 ./testbed";
        let expected = "cd /x && ls /x/a '/x' /opt/testbed /testbed2 ./testbed";
        assert_eq!(moved(text, "/testbed", "/x"), expected);
    }
}
