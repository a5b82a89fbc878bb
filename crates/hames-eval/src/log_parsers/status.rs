//! A test's status as a log has it, and all of a log in the order in which tests were first seen.
//!
//! Which statuses are good is not known here.

use std::{collections::HashMap, sync::Arc};

use regex::Regex;

/// A word of the log. The five official ones have names; anything else is kept as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Passed,
    Failed,
    Error,
    Skipped,
    Xfail,
    Other(String),
}

impl Status {
    pub const KNOWN: [(&'static str, Self); 5] = [
        ("FAILED", Self::Failed),
        ("PASSED", Self::Passed),
        ("SKIPPED", Self::Skipped),
        ("ERROR", Self::Error),
        ("XFAIL", Self::Xfail),
    ];

    pub fn of(word: &str) -> Self {
        let known = Self::KNOWN.iter().find(|(name, _)| *name == word);
        known.map_or_else(
            || Self::Other(word.to_owned()),
            |(_, status)| status.clone(),
        )
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::Error => "ERROR",
            Self::Skipped => "SKIPPED",
            Self::Xfail => "XFAIL",
            Self::Other(word) => word,
        }
    }

    /// Whether the line begins with one of the five words.
    pub(super) fn begins(line: &str) -> bool {
        Self::KNOWN.iter().any(|(word, _)| line.starts_with(word))
    }

    pub(super) fn ends(line: &str) -> bool {
        Self::KNOWN.iter().any(|(word, _)| line.ends_with(word))
    }
}

/// The last word about a test counts; its place is where it was first seen.
#[derive(Debug, Clone, Default)]
pub struct StatusMap {
    rows: Vec<(Arc<str>, Status)>,
    places: HashMap<Arc<str>, usize>,
}

impl StatusMap {
    pub fn set(&mut self, test: &str, status: Status) {
        if let Some(row) = self
            .places
            .get(test)
            .and_then(|place| self.rows.get_mut(*place))
        {
            row.1 = status;
            return;
        }
        let name: Arc<str> = test.into();
        self.places.insert(name.clone(), self.rows.len());
        self.rows.push((name, status));
    }

    pub fn get(&self, test: &str) -> Option<&Status> {
        let place = self.places.get(test)?;
        self.rows.get(*place).map(|(_, status)| status)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Status)> {
        self.rows
            .iter()
            .map(|(test, status)| (test.as_ref(), status))
    }
}

/// What Python's `str.split` and `str.strip` take for white space.
pub(super) fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

/// A pattern as Python reads it: its white space is ours. None for one that is wrong, which a test
/// of its parser would show.
pub(super) fn pattern(text: &str) -> Option<Regex> {
    let text = text
        .replace(r"\s", r"[\s\x1c-\x1f]")
        .replace(r"\S", r"[^\s\x1c-\x1f]");
    Regex::new(&text).ok()
}

pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_space).filter(|word| !word.is_empty())
}
