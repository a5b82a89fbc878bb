//! `sessions rm`: a session, its children and its run log, gone together.
//!
//! It asks first, and it holds the session's lock while it removes: an open session stays.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::Path,
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
    for session in &found {
        remove(session)?;
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

fn remove(session: &Listed) -> Result<()> {
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
    let own = session.path.file_name();
    for file in fs::read_dir(folder)?.flatten() {
        let is_of_session = file.file_name().to_string_lossy().starts_with(&prefix);
        if is_of_session && Some(&*file.file_name()) != own {
            delete(&file.path())?;
        }
    }
    delete(&session.path)?;
    drop(lock);
    Ok(())
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
