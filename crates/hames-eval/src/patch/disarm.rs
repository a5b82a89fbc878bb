//! A tree made readable: nested repositories out of the way, and files that were locked away opened.
//!
//! Whoever worked in it is gone; it is changed no further than that.

use std::{fs, io, path::Path};

use crate::stage::StageError;

pub(super) fn open_up(tree: &Path, scratch: &Path) -> Result<(), StageError> {
    let aside = scratch.join("nested");
    let mut moved = 0;
    walk(tree, true, &aside, &mut moved)
        .map_err(|error| StageError::io(format_args!("read {}", tree.display()), &error))
}

fn walk(folder: &Path, is_root: bool, aside: &Path, moved: &mut usize) -> io::Result<()> {
    make_readable(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if entry.file_name() == ".git" {
            // The tree's own repository is not read at all; one inside would hide its files.
            if !is_root {
                fs::create_dir_all(aside)?;
                fs::rename(&path, aside.join(moved.to_string()))?;
                *moved += 1;
            }
        } else if kind.is_dir() {
            walk(&path, false, aside, moved)?;
        } else if kind.is_file() {
            make_readable(&path)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_readable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let meta = fs::metadata(path)?;
    let mode = meta.permissions().mode();
    let wanted = if meta.is_dir() { 0o700 } else { 0o400 };
    match mode & wanted == wanted {
        true => Ok(()),
        false => fs::set_permissions(path, fs::Permissions::from_mode(mode | wanted)),
    }
}

#[cfg(not(unix))]
fn make_readable(_path: &Path) -> io::Result<()> {
    Ok(())
}
