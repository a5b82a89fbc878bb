//! A small environment for one checkout, over the shared one: its own scripts and what its tree installed.
//!
//! Whoever works in the tree installs into this one; the shared one stays as it is.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::interpreters::{Interpreter, link};
use crate::{environment::Around, instance::Recipe};

/// Read after all others, so that what is installed here comes before what is shared.
const SHARED: &str = "zzz_shared.pth";

/// An empty one at `at`, over the environment in `shared`.
pub(super) fn lay(shared: &Path, python: &Interpreter, at: &Path) -> io::Result<()> {
    let site = at.join(python.site_packages());
    fs::create_dir_all(&site)?;
    fs::create_dir_all(at.join("bin"))?;
    link(Path::new("lib"), &at.join("lib64"))?;
    fs::copy(shared.join("pyvenv.cfg"), at.join("pyvenv.cfg"))?;
    let below = shared.join(python.site_packages());
    // The path itself, so that an installer that isolates its builds knows it for one to be left
    // out; then its own `.pth` files.
    let path = below.to_string_lossy();
    let lines = format!("{path}\nimport site; site.addsitedir({path:?})\n");
    fs::write(site.join(SHARED), lines)?;
    for entry in fs::read_dir(shared.join("bin"))? {
        let from = entry?.path();
        let Some(name) = from.file_name() else {
            continue;
        };
        let to = at.join("bin").join(name);
        if let Ok(target) = fs::read_link(&from) {
            link(&target, &to)?;
        } else if String::from_utf8(fs::read(&from)?).is_ok() {
            fs::copy(&from, &to)?;
        } else {
            link(&from, &to)?;
        }
    }
    replace_in_scripts(&at.join("bin"), shared, at)
}

/// A copy of one in which each mention of its place, and of its tree's, is of the new ones.
pub(super) fn copy(from: &Path, to: &Path, places: &[(&Path, &Path)]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let (from, to) = (entry.path(), to.join(&name));
        if kind.is_symlink() {
            link(&fs::read_link(&from)?, &to)?;
        } else if kind.is_dir() && name != "__pycache__" {
            copy(&from, &to, places)?;
        } else if kind.is_file() {
            fs::copy(&from, &to)?;
            replace(&to, places)?;
        }
    }
    Ok(())
}

/// Scripts name the interpreter that they are for in their first line.
pub(super) fn replace_in_scripts(bin: &Path, old: &Path, new: &Path) -> io::Result<()> {
    for entry in fs::read_dir(bin)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            replace(&entry.path(), &[(old, new)])?;
        }
    }
    Ok(())
}

/// Files that are no text are left alone.
fn replace(file: &Path, places: &[(&Path, &Path)]) -> io::Result<()> {
    let Ok(text) = String::from_utf8(fs::read(file)?) else {
        return Ok(());
    };
    let mut new = text.clone();
    for (old, replacement) in places {
        new = new.replace(&*old.to_string_lossy(), &replacement.to_string_lossy());
    }
    if new == text {
        return Ok(());
    }
    fs::write(file, new)
}

/// `PATH` with `bin` first, and the recipe's own.
pub(super) fn variables(
    recipe: &Recipe,
    tree: &Path,
    bin: &Path,
    overlay: Option<&Path>,
    cx: &Around<'_>,
) -> Vec<(String, String)> {
    let path = cx.host.variables.get("PATH").map_or("", String::as_str);
    let mut env = vec![("PATH".to_owned(), format!("{}:{path}", bin.display()))];
    if let Some(overlay) = overlay {
        let place = overlay.to_string_lossy().into_owned();
        env.push(("VIRTUAL_ENV".to_owned(), place));
    }
    for (name, value) in &recipe.env {
        let value = if name == "PYTHONPATH" {
            absolute(value, tree)
        } else {
            value.clone()
        };
        env.push((name.clone(), value));
    }
    env
}

fn absolute(path: &str, tree: &Path) -> String {
    let parts = path.split(':').filter(|part| !part.is_empty());
    let parts = parts.map(|part| match part {
        "." => tree.to_owned(),
        part => tree.join(part),
    });
    let parts: Vec<String> = parts
        .map(|part: PathBuf| part.to_string_lossy().into_owned())
        .collect();
    parts.join(":")
}
