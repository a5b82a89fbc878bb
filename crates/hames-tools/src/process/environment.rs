//! The mark by which a session's children are known again, wherever they went.
//!
//! A process that clears its environment loses it: that is what groups, parents and cgroups are for.

use std::hash::{BuildHasher, RandomState};

/// How each session's variable begins.
const PREFIX: &str = "HAMES_CALL_";

/// A variable's name that nobody else uses. Each session has a name of its own, not just a value,
/// so that a session inside another's command carries both.
pub(crate) fn fresh_mark() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    format!("{PREFIX}{random:016X}")
}

/// Nothing else is looked for in the environments of strangers.
pub(crate) fn is_mark(text: &str) -> bool {
    let rest = text.strip_prefix(PREFIX).unwrap_or_default();
    rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
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

/// True for a child of any session, ours or another's.
pub(super) fn carries_any(environ: &[u8]) -> bool {
    let mut entries = environ.split(|byte| *byte == 0);
    entries.any(|entry| entry.starts_with(PREFIX.as_bytes()))
}
