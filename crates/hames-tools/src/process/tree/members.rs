//! Who belongs to a tree: its group, those it has claimed, those that carry its mark, and strays.
//!
//! It sends no signal and changes nothing.

use std::{collections::BTreeSet, fs};

use super::{
    super::environment::carries,
    Tree,
    strays::strays,
    table::{Row, Table},
};

/// The living members of a tree.
pub(super) fn found(tree: &Tree) -> Vec<u32> {
    let table = Table::read();
    let belongs = |row: &Row| {
        by_group(tree, row, table.us.session)
            || tree.has_claimed(row.pid, row.start)
            || by_mark(tree, row)
    };
    let seeds = table
        .rows()
        .filter(|row| row.pid != table.own && belongs(row));
    let mut members: BTreeSet<u32> = seeds.map(|row| row.pid).collect();
    table.add_children(&mut members);
    members.extend(strays(tree, &table, &members));
    table.add_children(&mut members);
    let alive = |pid: &u32| table.row(*pid).is_some_and(|row| !row.dead);
    members.into_iter().filter(alive).collect()
}

fn by_group(tree: &Tree, row: &Row, our_session: u32) -> bool {
    tree.leader.get().is_some_and(|leader| {
        let still_the_same = row.session == our_session || row.session == *leader;
        row.pid == *leader || row.session == *leader || row.group == *leader && still_the_same
    })
}

fn by_mark(tree: &Tree, row: &Row) -> bool {
    let environ = fs::read(format!("/proc/{}/environ", row.pid));
    environ.is_ok_and(|environ| carries(&environ, &tree.mark, tree.call))
}
