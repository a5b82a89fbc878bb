//! `sessions rm`: a session, its children, its run log and its tools' long outputs, gone together.
//!
//! It asks first, and it holds the session's lock while it removes: an open session stays.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use hames_journal::{OpenError, lock::Lock};

use super::RemoveArgs;
use crate::{
    environment::Environment,
    exit::usage,
    state_dir::{Listed, SessionsDir},
};

pub(super) fn run(
    args: &RemoveArgs,
    sessions: &SessionsDir,
    environment: &Environment,
) -> Result<u8> {
    // All are looked up first: a wrong id removes nothing.
    let found = args.ids.iter().map(|id| sessions.find(id));
    let found = found.collect::<Result<Vec<_>>>()?;
    if !args.yes && !agreed(&found, environment)? {
        return Err(usage("nothing was removed"));
    }
    let outputs = environment.outputs_dir().unwrap_or_default();
    for session in &found {
        remove(session, &outputs)?;
        let _ = writeln!(io::stderr(), "removed {}", session.id);
    }
    Ok(0)
}

fn agreed(found: &[Listed], environment: &Environment) -> Result<bool> {
    if !environment.stdin_is_terminal {
        return Err(usage("there is no terminal to ask on: add --yes to remove"));
    }
    let mut err = io::stderr();
    for session in found {
        writeln!(
            err,
            "{} in {} ({} bytes)",
            session.id, session.cwd, session.bytes
        )?;
    }
    write!(
        err,
        "remove {} for good? [y/N] ",
        if found.len() == 1 { "it" } else { "them" }
    )?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn remove(session: &Listed, outputs: &Path) -> Result<()> {
    let lock = Lock::take(&session.path).map_err(|error| match error {
        OpenError::Locked { .. } => usage(format!(
            "{}: {error}; nothing of it was removed",
            session.id
        )),
        OpenError::Newer { .. } | OpenError::NoHeader | OpenError::Io(_) => {
            anyhow::Error::from(error)
        }
    })?;
    let folder = session.path.parent().unwrap_or(Path::new("."));
    // The journal itself goes last: while it is there, the rest can still be found.
    let prefix = format!("{}.", session.id);
    for file in beginning_with(&prefix, outputs)?.chain(beginning_with(&prefix, folder)?) {
        if file != session.path {
            delete(&file)?;
        }
    }
    delete(&session.path)?;
    drop(lock);
    Ok(())
}

fn beginning_with(prefix: &str, folder: &Path) -> Result<impl Iterator<Item = PathBuf>> {
    let files = match fs::read_dir(folder) {
        Ok(files) => Some(files),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| format!("{}", folder.display())),
    };
    let files = files.into_iter().flatten().flatten();
    let of_it = files.filter(move |file| file.file_name().to_string_lossy().starts_with(prefix));
    Ok(of_it.map(|file| file.path()))
}

fn delete(path: &Path) -> Result<()> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}", path.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
