//! A cgroup (v2) for a call, where one can be made: what is in it cannot leave its list.
//!
//! It limits nothing; it only knows who belongs to whom.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tokio::process::Command;

/// Where the session's groups are made.
pub(super) struct Base {
    folder: PathBuf,
}

/// One call's group; it goes when the last process has.
pub(super) struct Group {
    folder: PathBuf,
}

impl Base {
    pub fn make(name: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let folder = own_folder(&mounts, &own)?.join(name.to_lowercase());
        fs::create_dir(&folder).ok()?;
        let base = Self { folder };
        // Making a folder is not enough: a process must be allowed to move there.
        let trial = base.folder.join("cgroup.procs");
        let allowed = fs::OpenOptions::new().write(true).open(trial).is_ok();
        allowed.then_some(base)
    }

    pub fn group(&self, call: u64) -> io::Result<Group> {
        let folder = self.folder.join(call.to_string());
        fs::create_dir(&folder)?;
        Ok(Group { folder })
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        // A group whose last process was only just killed could not go when its call ended.
        let groups = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for group in groups.filter(|entry| entry.path().is_dir()) {
            let _ = fs::remove_dir(group.path());
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

impl Group {
    fn procs(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// A command that goes in before it becomes the program: moved from outside, it might have had
    /// children by then.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("/bin/sh");
        let enter = "echo 0 2>/dev/null >\"$0\"; exec \"$@\"";
        command.args(["-c", enter]).arg(self.procs()).arg(program);
        command
    }

    pub fn members(&self) -> Vec<u32> {
        let listed = fs::read_to_string(self.procs()).unwrap_or_default();
        let pids = listed.lines().filter_map(|line| line.parse().ok());
        pids.collect()
    }

    /// All of them at once, those that are being born included (Linux 5.14).
    pub fn kill(&self) {
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
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
