//! A copy of the tree that is brought up to date, never written anew: a file that has not changed
//! keeps its time, so that cargo builds nothing twice.

use std::{collections::BTreeSet, ffi::OsString, fs, io, path::Path};

/// Makes `to` what `from` is, build output and history left out.
pub fn bring_up_to_date(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut kept = BTreeSet::new();
    for file in fs::read_dir(from)? {
        let file = file?;
        let name = file.file_name();
        if name == "target" || name == ".git" {
            continue;
        }
        let copy = to.join(&name);
        if file.file_type()?.is_dir() {
            bring_up_to_date(&file.path(), &copy)?;
        } else {
            copy_if_changed(&file.path(), &copy)?;
        }
        kept.insert(name);
    }
    remove_others(to, &kept)
}

fn copy_if_changed(from: &Path, to: &Path) -> io::Result<()> {
    let now = fs::read(from)?;
    if fs::read(to).is_ok_and(|before| before == now) {
        return Ok(());
    }
    // A plain write: the copy is newer than whatever was built from what it replaces.
    fs::write(to, now)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

fn remove_others(folder: &Path, kept: &BTreeSet<OsString>) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let file = file?;
        if kept.contains(&file.file_name()) {
            continue;
        }
        if file.file_type()?.is_dir() {
            fs::remove_dir_all(file.path())?;
        } else {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}
