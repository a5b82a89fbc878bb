//! One cgroup (v2) for all that this operating system process starts, where one can be made: it is
//! in there itself, so its children are born there, and none of them can leave the list.
//!
//! It limits nothing, and it does not know which child belongs to whom.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How each folder's name begins; it ends with the pid of its maker.
const PREFIX: &str = "hames-";

/// How often a folder is tried to be removed: those who were killed take a moment to leave it.
const ROUNDS: usize = 100;

/// A process is in one cgroup at a time, however many sessions it has: they share it.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

struct Held {
    folder: PathBuf,
    /// Where we were before.
    origin: PathBuf,
    users: usize,
}

/// A session's share in the group; with the last one we go back to where we were.
pub(super) struct Group {
    folder: PathBuf,
}

impl Group {
    /// Moves this process in, unless it is there already; `None` where that cannot be done.
    pub fn enter(name: &str) -> Option<Self> {
        let mut held = held();
        if held.is_none() {
            *held = Held::make(name);
        }
        let held = held.as_mut()?;
        held.users += 1;
        let folder = held.folder.clone();
        Some(Self { folder })
    }

    /// Whoever is in it, ourselves included: one file is read.
    pub fn pids(&self) -> Vec<u32> {
        listed(&self.folder)
    }

    /// The same with those who have made a group of their own within it.
    pub fn pids_below(&self) -> Vec<u32> {
        let folders = below(&self.folder);
        folders.iter().flat_map(|folder| listed(folder)).collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut held = held();
        if let Some(held) = held.as_mut() {
            held.users -= 1;
        }
        if let Some(left) = held.take_if(|held| held.users == 0) {
            left.leave();
        }
    }
}

impl Held {
    fn make(name: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let origin = own_folder(&mounts, &own)?;
        remove_those_of_the_dead(&origin);
        let own = std::process::id();
        let folder = origin.join(format!("{PREFIX}{name}-{own}"));
        fs::create_dir(&folder).ok()?;
        if enter(&folder).is_err() {
            // Making a folder is not enough: a process must be allowed to move there.
            let _ = fs::remove_dir(&folder);
            return None;
        }
        Some(Self {
            folder,
            origin,
            users: 0,
        })
    }

    /// Folders that somebody is still in stay.
    fn leave(self) {
        let _ = enter(&self.origin);
        for _ in 0..ROUNDS {
            if remove(&self.folder) {
                return;
            }
            std::thread::yield_now();
        }
    }
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn enter(folder: &Path) -> io::Result<()> {
    let own = std::process::id().to_string();
    fs::write(folder.join("cgroup.procs"), own)
}

/// False where somebody is in it still: the system refuses then.
fn remove(folder: &Path) -> bool {
    let folders = below(folder);
    let removed = folders.iter().rev().map(fs::remove_dir);
    removed.fold(true, |all, one| all & one.is_ok())
}

/// One that was killed could not take its folder away.
fn remove_those_of_the_dead(origin: &Path) {
    let maker = |entry: &fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let (_, pid) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
        pid.parse::<u32>().ok()
    };
    let is_dead = |pid: u32| !Path::new(&format!("/proc/{pid}")).exists();
    let entries = fs::read_dir(origin).into_iter().flatten().flatten();
    for left in entries.filter(|entry| maker(entry).is_some_and(is_dead)) {
        remove(&left.path());
    }
}

fn listed(folder: &Path) -> Vec<u32> {
    let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let pids = listed.lines().filter_map(|line| line.parse().ok());
    pids.collect()
}

/// A folder and all within it, outer ones first.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut looked_into = 0;
    while let Some(folder) = folders.get(looked_into) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let inner: Vec<PathBuf> = inner.map(|entry| entry.path()).collect();
        folders.extend(inner);
        looked_into += 1;
    }
    folders
}

/// The folder of our own group, from the texts of `mountinfo` and `cgroup` in `/proc/self`.
fn own_folder(mounts: &str, own: &str) -> Option<PathBuf> {
    let (root, point) = mounts.lines().find_map(unified_mount)?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let below = Path::new(path).strip_prefix(root).ok()?;
    Some(Path::new(point).join(below))
}

/// The root within the hierarchy, and where it is mounted.
fn unified_mount(line: &str) -> Option<(&str, &str)> {
    let (mount, kind) = line.split_once(" - ")?;
    let is_v2 = kind.split(' ').next()? == "cgroup2";
    let mut fields = mount.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    is_v2.then_some((root, point))
}
