//! The process table of Linux, read from `/proc`.
//!
//! It sends no signal; whom it cannot read (another user's) it takes for a stranger.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub pid: u32,
    pub parent: u32,
    pub group: u32,
    pub session: u32,
    /// In ticks since the machine was started: with the pid, it names one process for ever.
    pub start: u64,
    pub dead: bool,
}

/// All processes at one moment.
pub(super) struct Table {
    pub own: u32,
    pub us: Row,
    rows: BTreeMap<u32, Row>,
}

impl Table {
    pub fn read() -> Self {
        let own = std::process::id();
        let rows: BTreeMap<u32, Row> = rows().map(|row| (row.pid, row)).collect();
        let us = rows.get(&own).copied().unwrap_or_default();
        Self { own, us, rows }
    }

    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    pub fn row(&self, pid: u32) -> Option<&Row> {
        self.rows.get(&pid)
    }

    /// Adds the children of those who are members, and theirs.
    pub fn add_children(&self, members: &mut BTreeSet<u32>) {
        loop {
            let known = members.len();
            let children = self.rows().filter(|row| members.contains(&row.parent));
            let children: Vec<u32> = children.map(|row| row.pid).collect();
            members.extend(children);
            if members.len() == known {
                return;
            }
        }
    }
}

/// Our children, the orphans that have come to us among them.
pub(super) fn adopted() -> Vec<u32> {
    let own = std::process::id();
    let listed = fs::read_to_string(format!("/proc/self/task/{own}/children"));
    let listed = listed.unwrap_or_default();
    let pids = listed.split_whitespace().filter_map(|pid| pid.parse().ok());
    pids.collect()
}

/// Those of our children that have ended, and that we did not start: they have a session of their
/// own, or the group of a shell that is gone.
pub(super) fn dead_orphans(children: &[u32], leaders: &[u32]) -> Vec<u32> {
    if children.is_empty() {
        return Vec::new();
    }
    let own = row(std::process::id());
    let our_session = own.map_or(0, |own| own.session);
    let came = |row: &Row| row.session != our_session || leaders.contains(&row.group);
    let rows = children.iter().filter_map(|pid| row(*pid));
    let dead = rows.filter(|row| row.dead && came(row));
    // A shell that we started leads its group; its owner waits for it.
    dead.filter(|row| row.pid != row.group || row.session == row.pid)
        .map(|row| row.pid)
        .collect()
}

pub(super) fn is_alive(pid: u32) -> bool {
    row(pid).is_some_and(|row| !row.dead)
}

/// When it was started, by which it is told from a later one with its number.
pub(super) fn start(pid: u32) -> Option<u64> {
    row(pid).map(|row| row.start)
}

fn row(pid: u32) -> Option<Row> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn rows() -> impl Iterator<Item = Row> {
    let listed = |entry: fs::DirEntry| row(entry.file_name().to_str()?.parse().ok()?);
    let folder = fs::read_dir("/proc").into_iter().flatten().flatten();
    folder.filter_map(listed)
}

/// The name may hold blanks and brackets; what counts stands behind its last one.
fn parse(pid: u32, stat: &str) -> Option<Row> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    let mut number = || fields.next()?.parse().ok();
    Some(Row {
        pid,
        parent: number()?,
        group: number()?,
        session: number()?,
        // Field 22 of proc_pid_stat(5).
        start: fields.nth(15)?.parse().ok()?,
        dead: matches!(state, "Z" | "X" | "x"),
    })
}
