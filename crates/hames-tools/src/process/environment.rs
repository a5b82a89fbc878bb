//! The mark by which a session's children are known again, wherever they went.
//!
//! A process that clears its environment loses it: that is what groups, parents and cgroups are for.

use std::hash::{BuildHasher, RandomState};

/// A variable's name that nobody else uses. Each session has a name of its own, not just a value,
/// so that a session inside another's command carries both.
pub(super) fn fresh_mark() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    format!("HAMES_CALL_{random:016X}")
}

/// What a child's environment holds, as one call or as any call of the session.
pub(super) fn carries(environ: &[u8], mark: &str, call: Option<u64>) -> bool {
    let value = |entry: &[u8]| {
        let value = entry.strip_prefix(mark.as_bytes())?.strip_prefix(b"=")?;
        std::str::from_utf8(value).ok()?.parse::<u64>().ok()
    };
    let mut marks = environ.split(|byte| *byte == 0).filter_map(value);
    marks.any(|found| call.is_none_or(|wanted| wanted == found))
}
