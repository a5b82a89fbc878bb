//! Folders and names in the cache: what a folder holds as one number, and names that say whose they are.
//!
//! Nothing is written here.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{digest, stage::StageError};

/// The readable part of a name in the cache.
pub(crate) fn slug(name: &str) -> String {
    let plain = |letter: char| {
        let kept = letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        if kept { letter } else { '_' }
    };
    let slug: String = name
        .replace('/', "__")
        .chars()
        .map(plain)
        .take(60)
        .collect();
    slug.trim_start_matches('.').to_owned()
}

/// Of all files below a folder: names, contents, whether they can be run. Repositories in it are
/// left out.
pub(super) fn contents(folder: &Path) -> Result<String, StageError> {
    if !folder.is_dir() {
        let what = format!(
            "there is no folder {}: correct the source of the task",
            folder.display()
        );
        return Err(StageError::BadInput(what));
    }
    let mut hash = Sha256::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let at = folder.join(&below);
        let read = read(&at, &below, &mut hash, &mut open);
        read.map_err(|error| StageError::io(format_args!("read {}", at.display()), &error))?;
    }
    Ok(digest::shortened(hash))
}

fn read(folder: &Path, below: &Path, hash: &mut Sha256, open: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut names: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<_>>()?;
    names.sort();
    for name in names.into_iter().filter(|name| name != ".git") {
        let (path, below) = (folder.join(&name), below.join(&name));
        let about = fs::symlink_metadata(&path)?;
        let bytes = if about.is_dir() {
            open.push(below);
            continue;
        } else if about.is_symlink() {
            fs::read_link(&path)?.into_os_string().into_encoded_bytes()
        } else {
            fs::read(&path)?
        };
        let name = below.as_os_str().as_encoded_bytes();
        let kind = [u8::from(about.is_symlink()), u8::from(can_run(&about))];
        hash.update(name.len().to_le_bytes());
        hash.update(name);
        hash.update(kind);
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    }
    Ok(())
}

#[cfg(unix)]
fn can_run(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn can_run(_about: &fs::Metadata) -> bool {
    false
}
