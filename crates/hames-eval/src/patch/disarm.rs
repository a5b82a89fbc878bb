//! A tree made readable: nested repositories and what lies too deep out of the way, files that were
//! locked away opened, and what is no file removed.
//!
//! Whoever worked in it is gone; it is changed no further than that.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::stage::StageError;

/// What is in it no more, in words: pipes, sockets and devices, and folders that no path reaches.
pub(super) fn open_up(tree: &Path, scratch: &Path) -> Result<Vec<String>, StageError> {
    let mut walk = Walk {
        tree,
        aside: scratch.join("nested"),
        moved: 0,
        told: Vec::new(),
    };
    let walked = walk.folder(tree);
    walked.map_err(|error| StageError::io(format_args!("read {}", tree.display()), &error))?;
    Ok(walk.told)
}

struct Walk<'a> {
    tree: &'a Path,
    aside: PathBuf,
    moved: usize,
    told: Vec<String>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        make_readable(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if is_repository(&entry.file_name()) {
                // The tree's own is not read at all.
                if path != self.tree.join(".git") {
                    self.move_aside(&path)?;
                }
            } else if kind.is_dir() {
                self.below(&path)?;
            } else if kind.is_file() {
                make_readable(&path)?;
            } else if !kind.is_symlink() {
                self.tell(&path, " (no file)");
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// What is in it can lie so deep that no path leads there. The deepest folder that can still be
    /// named goes, with all that it holds: no patch could name it either.
    fn below(&mut self, folder: &Path) -> io::Result<()> {
        match self.folder(folder) {
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                self.move_aside(folder)?;
                self.tell(folder, "/ (too deep)");
                Ok(())
            }
            done => done,
        }
    }

    fn tell(&mut self, path: &Path, what: &str) {
        let inside = path.strip_prefix(self.tree).unwrap_or(path);
        self.told.push(format!("{}{what}", inside.display()));
    }

    /// One that is nested would hide its files.
    fn move_aside(&mut self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.aside)?;
        let place = loop {
            let place = self.aside.join(self.moved.to_string());
            self.moved += 1;
            if fs::symlink_metadata(&place).is_err() {
                break place;
            }
        };
        fs::rename(path, place)
    }
}

/// Git takes no file of this name, however it is written.
fn is_repository(name: &std::ffi::OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
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
