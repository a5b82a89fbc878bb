//! Whether a shared environment is still as it was made: whoever works beside it can write in it.
//!
//! It guards against accidents of agents, not against one that is after the seal itself.

use std::{
    collections::BTreeMap,
    fs::{self, Metadata},
    io,
    path::Path,
};

/// In the environment: a line for each file.
const FILE: &str = "seal";

/// To be set when all is made.
pub(super) fn set(folder: &Path) -> io::Result<()> {
    let mut files = BTreeMap::new();
    collect(folder, "", &mut files)?;
    let lines = files
        .iter()
        .map(|(name, stamp)| format!("{stamp}\t{name}\n"));
    fs::write(folder.join(FILE), lines.collect::<String>())
}

/// False where a file was changed, added or removed. Bytecode that is new is removed, for an
/// interpreter writes it by itself.
pub(super) fn holds(folder: &Path) -> bool {
    compare(folder).unwrap_or(false)
}

fn compare(folder: &Path) -> io::Result<bool> {
    let text = fs::read_to_string(folder.join(FILE))?;
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let sealed: BTreeMap<&str, &str> = lines.map(|(stamp, name)| (name, stamp)).collect();
    let mut files = BTreeMap::new();
    collect(folder, "", &mut files)?;
    for (name, stamp) in &files {
        match sealed.get(name.as_str()) {
            Some(known) if known == stamp => {}
            None if name.contains("__pycache__/") => fs::remove_file(folder.join(name))?,
            Some(_) | None => return Ok(false),
        }
    }
    Ok(sealed.keys().all(|name| files.contains_key(*name)))
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = below.is_empty() && [FILE, "environment.json"].contains(&name.as_str());
        let name = match below {
            "" => name,
            below => format!("{below}/{name}"),
        };
        let about = entry.metadata()?;
        if about.is_dir() {
            collect(folder, &name, files)?;
        } else if !is_ours {
            files.insert(name, stamp(&about));
        }
    }
    Ok(())
}

/// A file that was written to has another time of change, whatever its writer says.
#[cfg(unix)]
fn stamp(about: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let (size, inode) = (about.len(), about.ino());
    format!("{size}.{inode}.{}.{}", about.ctime(), about.ctime_nsec())
}

#[cfg(not(unix))]
fn stamp(about: &Metadata) -> String {
    about.len().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sealed folder to which `change` was done.
    fn holds_after(change: impl FnOnce(&Path)) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("lib/__pycache__");
        fs::create_dir_all(&below).unwrap();
        fs::write(folder.path().join("lib/a.py"), "1").unwrap();
        fs::write(below.join("a.pyc"), "1").unwrap();
        set(folder.path()).unwrap();
        change(folder.path());
        holds(folder.path())
    }

    #[test]
    fn a_change_of_any_kind_breaks_the_seal() {
        assert!(holds_after(|_| {}));
        assert!(!holds_after(|folder| fs::write(
            folder.join("lib/b.py"),
            ""
        )
        .unwrap()));
        assert!(!holds_after(|folder| fs::remove_file(
            folder.join("lib/a.py")
        )
        .unwrap()));
        assert!(!holds_after(
            |folder| fs::remove_file(folder.join(FILE)).unwrap()
        ));
        assert!(!holds_after(|folder| {
            fs::write(folder.join("lib/__pycache__/a.pyc"), "2").unwrap();
        }));
    }

    #[test]
    #[cfg(unix)]
    fn a_change_that_hides_its_time_breaks_the_seal() {
        assert!(!holds_after(|folder| {
            let path = folder.join("lib/a.py");
            let before = fs::metadata(&path).unwrap().modified().unwrap();
            fs::write(&path, "2").unwrap();
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_modified(before).unwrap();
        }));
    }

    #[test]
    fn bytecode_that_an_interpreter_adds_is_removed_and_breaks_nothing() {
        assert!(holds_after(|folder| {
            let new = folder.join("lib/__pycache__/b.pyc");
            fs::write(&new, "").unwrap();
            assert!(holds(folder) && !new.exists());
        }));
    }
}
