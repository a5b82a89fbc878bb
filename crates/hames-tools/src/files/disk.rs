//! The system calls under `files`: no link is followed, and a file is replaced in one step.
//!
//! On Linux the kernel itself refuses a way with links in it; elsewhere only the last part is sure.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// A file's place: the folder, opened, and the name in it.
struct Seat {
    parent: PathBuf,
    name: std::ffi::OsString,
}

fn seat(path: &Path) -> io::Result<Seat> {
    let parent = path.parent().map(Path::to_owned);
    let name = path.file_name().map(ToOwned::to_owned);
    let (Some(parent), Some(name)) = (parent, name) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Ok(Seat { parent, name })
}

#[cfg(unix)]
mod unix {
    use std::os::fd::OwnedFd;

    use rustix::fs::{
        Access, AtFlags, CWD, FileType, Gid, Mode, OFlags, Uid, accessat, fchmod, fchown, openat,
        renameat, statat, unlinkat,
    };

    use super::*;

    pub fn open(path: &Path) -> io::Result<File> {
        // Without NONBLOCK, a pipe that nobody writes to would never open.
        let file = open_straight(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        Ok(file.into())
    }

    #[cfg(target_os = "linux")]
    fn open_straight(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        use rustix::{fs::ResolveFlags, io::Errno};
        let flags = flags | OFlags::CLOEXEC;
        let straight = ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(CWD, path, flags, Mode::empty(), straight) {
            // An old kernel, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
        Ok(openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())?)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_straight(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(openat(CWD, path, flags, Mode::empty())?)
    }

    /// Mode and owner stay those of the file that was there.
    pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let Seat { parent, name } = seat(path)?;
        std::fs::create_dir_all(&parent)?;
        let folder = open_straight(&parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let before = statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW).ok();
        if let Some(before) = &before {
            if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
                return Err(io::Error::other("it is not a regular file"));
            }
            let writable = accessat(&folder, &name, Access::WRITE_OK, AtFlags::empty()).is_ok();
            // To the superuser everything is writable; the mark is meant all the same.
            if !writable || before.st_mode & 0o222 == 0 {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
        }
        let temporary = temporary_name(&name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&folder, &temporary, flags, Mode::from_raw_mode(0o666))?;
        let mut file = File::from(file);
        let written = io::Write::write_all(&mut file, bytes).and_then(|()| {
            if let Some(before) = &before {
                // Only the superuser may give a file away.
                let _ = fchown(
                    &file,
                    Some(Uid::from_raw(before.st_uid)),
                    Some(Gid::from_raw(before.st_gid)),
                );
                fchmod(&file, Mode::from_raw_mode(before.st_mode & 0o7777))?;
            }
            Ok(renameat(&folder, &temporary, &folder, &name)?)
        });
        if written.is_err() {
            let _ = unlinkat(&folder, &temporary, AtFlags::empty());
        }
        written
    }

    pub fn is_a_link(error: &io::Error) -> bool {
        error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
    }
}

#[cfg(not(unix))]
mod other {
    use super::*;

    pub fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let Seat { parent, name } = seat(path)?;
        std::fs::create_dir_all(&parent)?;
        if path
            .metadata()
            .is_ok_and(|before| before.permissions().readonly())
        {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let temporary = parent.join(temporary_name(&name));
        let written = std::fs::write(&temporary, bytes);
        let written = written.and_then(|()| std::fs::rename(&temporary, path));
        if written.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        written
    }

    pub fn is_a_link(_error: &io::Error) -> bool {
        false
    }
}

/// Hidden, beside the file, and nobody else's.
fn temporary_name(name: &std::ffi::OsStr) -> std::ffi::OsString {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(std::process::id());
    let mut temporary = std::ffi::OsString::from(".");
    // A long name must not become too long.
    let stem: String = name.to_string_lossy().chars().take(40).collect();
    temporary.push(format!("{stem}.{random:016x}.tmp"));
    temporary
}

#[cfg(not(unix))]
pub(crate) use other::{is_a_link, open, replace};
#[cfg(unix)]
pub(crate) use unix::{is_a_link, open, replace};
