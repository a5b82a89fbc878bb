//! The process table of Linux, read from `/proc`.
//!
//! It sends no signal; whom it cannot read (another user's) it takes for a stranger.

use std::{collections::BTreeSet, fs};

use super::{
    super::environment::{carries, carries_any},
    Tree,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    pid: u32,
    parent: u32,
    group: u32,
    session: u32,
    dead: bool,
}

/// The living members of a tree.
pub(super) fn found(tree: &Tree) -> Vec<u32> {
    let own = std::process::id();
    let rows = rows();
    let our_session = rows.iter().find(|row| row.pid == own);
    let our_session = our_session.map_or(0, |row| row.session);
    let belongs = |row: &Row| {
        let by_group = tree.leader.is_some_and(|leader| {
            let still_the_same = row.session == our_session || row.session == leader;
            row.pid == leader || row.session == leader || row.group == leader && still_the_same
        });
        by_group || by_mark(tree, row) || came_as_orphan(tree, row, own, our_session)
    };
    let seeds = rows.iter().filter(|row| row.pid != own && belongs(row));
    let mut members: BTreeSet<u32> = seeds.map(|row| row.pid).collect();
    loop {
        let known = members.len();
        let children = rows.iter().filter(|row| members.contains(&row.parent));
        let children: Vec<u32> = children.map(|row| row.pid).collect();
        members.extend(children);
        if members.len() == known {
            break;
        }
    }
    let dead = |row: &&Row| row.dead;
    for row in rows.iter().filter(dead) {
        members.remove(&row.pid);
    }
    members.into_iter().collect()
}

fn by_mark(tree: &Tree, row: &Row) -> bool {
    let environ = fs::read(format!("/proc/{}/environ", row.pid));
    environ.is_ok_and(|environ| carries(&environ, &tree.mark, tree.call))
}

/// It has left its parents, its group and its mark behind; but it came to us after this call began,
/// and it is in a session that none of our own children would be in.
fn came_as_orphan(tree: &Tree, row: &Row, own: u32, our_session: u32) -> bool {
    let Some(before) = &tree.adopted_before else {
        return false;
    };
    let foreign_session = row.session != our_session && row.session != 0;
    let new = row.parent == own && foreign_session && !before.contains(&row.pid);
    // One that carries a mark belongs to the call that the mark names.
    let is_marked = || {
        let environ = fs::read(format!("/proc/{}/environ", row.pid));
        environ.is_ok_and(|environ| carries_any(&environ))
    };
    new && !is_marked()
}

/// Our children that have a session of their own.
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

fn row(pid: u32) -> Option<Row> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn rows() -> Vec<Row> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let listed = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.ok()?.file_name();
        row(name.to_str()?.parse().ok()?)
    };
    folder.filter_map(listed).collect()
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
        dead: matches!(state, "Z" | "X" | "x"),
    })
}
