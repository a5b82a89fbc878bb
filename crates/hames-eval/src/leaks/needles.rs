//! What gives an answer away: the lines that patches add, and the names of tests that are to pass.
//!
//! Lines that anybody writes are too short to be among them.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{instance::Instance, stage::StageError};

/// Bytes without the space around them. Shorter lines say nothing by themselves.
const DISTINCTIVE: usize = 12;

#[derive(Debug)]
pub(super) struct Needles {
    /// What each of them is, in words.
    pub names: Vec<String>,
    pub search: AhoCorasick,
}

impl Needles {
    pub fn of(instance: &Instance) -> Result<Self, StageError> {
        let answers = &instance.answers;
        let mut texts: Vec<(&str, &str)> = Vec::new();
        texts.extend(added(&answers.gold_patch).map(|line| ("a line of the fix", line)));
        texts.extend(added(&answers.test_patch).map(|line| ("a line of the tests", line)));
        let tests = answers.fail_to_pass.iter().map(|name| bare(name));
        texts.extend(tests.map(|name| ("the name of a test", name)));
        texts.retain(|(_, text)| {
            text.len() >= DISTINCTIVE && !instance.problem_statement.contains(text)
        });
        texts.sort_by_key(|(_, text)| *text);
        texts.dedup_by_key(|(_, text)| *text);
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts.iter().map(|(_, text)| text))
            .map_err(|error| {
                StageError::BadInput(format!("{}: its patches: {error}", instance.id))
            })?;
        let names = texts.iter().map(|(kind, text)| format!("{kind}: {text}"));
        Ok(Self {
            names: names.collect(),
            search,
        })
    }
}

/// Lines that a patch adds, without their indentation.
fn added(patch: &str) -> impl Iterator<Item = &str> {
    let lines = patch.lines().filter(|line| !line.starts_with("+++ "));
    lines
        .filter_map(|line| line.strip_prefix('+'))
        .map(str::trim)
}

/// `tests/a.py::Class::test_b[param]` and `test_b (module.Class)` are both `test_b`.
fn bare(name: &str) -> &str {
    let own = name.split_once(['[', ' ']).map_or(name, |(own, _)| own);
    own.rsplit_once("::").map_or(own, |(_, last)| last)
}
