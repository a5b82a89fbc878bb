//! Cutting a log at words, as the official parsers do: what is not there cuts nothing off.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

/// All of it where `mark` does not stand.
pub(super) fn after_first<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or(text, |(_, after)| after)
}

/// All of it where `mark` does not stand.
pub(super) fn after_last<'a>(text: &'a str, mark: &str) -> &'a str {
    text.rsplit_once(mark).map_or(text, |(_, after)| after)
}

/// All of it where `mark` does not stand.
pub(super) fn before_last<'a>(text: &'a str, mark: &str) -> &'a str {
    text.rsplit_once(mark).map_or(text, |(before, _)| before)
}

/// Without a terminal's escape sequences.
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    static ESCAPE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\x1B(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])").ok());
    match ESCAPE.as_ref() {
        Some(escape) => escape.replace_all(text, ""),
        None => text.into(),
    }
}
