//! The calls of this operating system process that are under way, or that have left somebody behind.
//!
//! Sessions share it, as they share a process: it is how each knows the others' children.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Tree;

static LIVE: Mutex<Vec<Weak<Tree>>> = Mutex::new(Vec::new());

/// It is known for as long as its owner keeps it.
pub(super) fn register(tree: &Arc<Tree>) {
    let mut live = live();
    live.retain(|tree| tree.strong_count() > 0);
    live.push(Arc::downgrade(tree));
}

/// All but this one; for a whole session, all but its own.
pub(super) fn others(tree: &Tree) -> Vec<Arc<Tree>> {
    let is_other = |other: &Arc<Tree>| match tree.call {
        Some(_) => !std::ptr::eq(Arc::as_ptr(other), tree),
        None => other.mark != tree.mark,
    };
    let all: Vec<_> = live().iter().filter_map(Weak::upgrade).collect();
    all.into_iter().filter(is_other).collect()
}

fn live() -> MutexGuard<'static, Vec<Weak<Tree>>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
