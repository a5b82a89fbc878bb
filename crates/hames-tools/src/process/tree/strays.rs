//! Those who have left their group, their parents and their mark behind, and whose they may be.
//!
//! Where two calls may have started one, it belongs to neither until one of them is over.

use std::{collections::BTreeSet, fs, sync::Arc};

use super::{
    super::environment::carries_any,
    Tree, live,
    table::{Row, Table},
};

/// The strays of a tree among those who are no `members` of it by any other sign.
pub(super) fn strays(tree: &Tree, table: &Table, members: &BTreeSet<u32>) -> Vec<u32> {
    if tree.claimed.get().is_some() {
        // Its shell is gone: what it left behind has been claimed.
        return Vec::new();
    }
    let grouped = tree.cgroup.as_ref().map(|group| group.pids_below());
    let grouped = grouped.unwrap_or_default();
    let mut suspects = grouped.clone();
    if tree.adopts {
        suspects.extend(came_as_orphans(table));
    }
    suspects.retain(|pid| *pid != table.own && !tree.before.contains(pid));
    suspects.retain(|pid| !members.contains(pid));
    if suspects.is_empty() {
        return suspects;
    }
    let search = Search {
        tree,
        table,
        others: live::others(tree),
        grouped,
    };
    suspects.retain(|pid| !search.may_be_another_calls(*pid) && !search.is_anothers(*pid));
    suspects
}

/// They are in a session that none of our own children would be in.
fn came_as_orphans(table: &Table) -> impl Iterator<Item = u32> {
    let foreign = |row: &&Row| row.session != table.us.session && row.session != 0;
    let ours = |row: &&Row| row.parent == table.own;
    table.rows().filter(ours).filter(foreign).map(|row| row.pid)
}

struct Search<'a> {
    tree: &'a Tree,
    table: &'a Table,
    others: Vec<Arc<Tree>>,
    grouped: Vec<u32>,
}

impl Search<'_> {
    fn may_be_another_calls(&self, pid: u32) -> bool {
        let may_be = |other: &Arc<Tree>| !other.is_over() && !other.before.contains(&pid);
        self.others.iter().any(may_be)
    }

    /// Its own signs, or those of somebody it descends from, say whose it is.
    fn is_anothers(&self, pid: u32) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = self.table.row(pid);
        while let Some(row) = next.filter(|row| seen.insert(row.pid)) {
            if self.is_known(row) {
                return true;
            }
            // Beyond the group there are only those who took it in as an orphan.
            let ours = row.parent != self.table.own && self.grouped.contains(&row.parent);
            next = self.table.row(row.parent).filter(|_| ours);
        }
        false
    }

    fn is_known(&self, row: &Row) -> bool {
        // In our own group are those that were started by other parts of this process.
        let is_early = [row.pid, row.session].map(|pid| self.tree.before.contains(&pid));
        row.group == self.table.us.group
            || is_early.contains(&true)
            || self.others.iter().any(|other| belongs(other, row))
            || is_marked(row)
    }
}

fn belongs(other: &Tree, row: &Row) -> bool {
    let leader = other.leader.get().copied();
    let by_group = leader.is_some_and(|leader| [row.pid, row.group, row.session].contains(&leader));
    by_group || other.has_claimed(row.pid, row.start)
}

/// One that carries a mark belongs to the call that the mark names.
fn is_marked(row: &Row) -> bool {
    let environ = fs::read(format!("/proc/{}/environ", row.pid));
    environ.is_ok_and(|environ| carries_any(&environ))
}
