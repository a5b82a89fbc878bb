//! Removing a tree that somebody locked: read-only folders, as Go's module cache has them, or worse.
//!
//! Links are removed and never followed.

use std::{fs, io, path::Path};

/// Its folders are opened first where they are in the way; that takes their owner, or root.
pub fn remove_tree(tree: &Path) -> io::Result<()> {
    match fs::remove_dir_all(tree) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(tree)?;
            fs::remove_dir_all(tree)
        }
        ended => ended,
    }
}

/// Lets the owner into every folder of the tree.
#[cfg(unix)]
pub fn unlock(tree: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    const OWNER: u32 = 0o700;
    let mut open = vec![tree.to_owned()];
    while let Some(folder) = open.pop() {
        let mode = fs::symlink_metadata(&folder)?.permissions().mode();
        if mode & OWNER != OWNER {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode | OWNER))?;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub fn unlock(_: &Path) -> io::Result<()> {
    Ok(())
}
