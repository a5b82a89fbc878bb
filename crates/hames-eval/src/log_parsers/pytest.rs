//! pytest's summary lines (`-rA`), in the four ways that the official parsers read them.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, pattern, words};
use crate::official::Version;

/// The lines of astroid, flask, marshmallow, pvlib, pyvista, sqlfluff, xarray and pytest itself.
pub(super) fn plain(log: &str, version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    for line in log.split('\n') {
        if let Some((test, status)) = verdict(line, version) {
            map.set(&test, status);
        }
    }
    map
}

/// pydicom, requests and pylint: of a parameter that is a path, its last part is the name.
pub(super) fn options(log: &str, version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    for line in log.split('\n') {
        if let Some((test, status)) = verdict(line, version) {
            map.set(&shortened(&test), status);
        }
    }
    map
}

/// matplotlib prints an enumeration where its tests are named by numbers.
pub(super) fn matplotlib(log: &str, version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    for line in log.split('\n') {
        let line = line
            .replace("MouseButton.LEFT", "1")
            .replace("MouseButton.RIGHT", "3");
        if let Some((test, status)) = verdict(&line, version) {
            map.set(&test, status);
        }
    }
    map
}

/// astropy, scikit-learn and sphinx: colours, and older versions that put the verdict last.
pub(super) fn second(log: &str, version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    for line in log.split('\n') {
        let line = without_colours(line);
        if Status::begins(&line) {
            if let Some((test, status)) = second_first(&line, version) {
                map.set(&test, status);
            }
        } else if Status::ends(&line) {
            let all: Vec<&str> = words(&line).collect();
            let [before @ .., status] = all.as_slice() else {
                continue;
            };
            let test = match version {
                Version::V4 => before.first().map(|test| (*test).to_owned()),
                Version::V5 => Some(before.join(" ")).filter(|test| !test.is_empty()),
            };
            // Version 4 takes the first two words, whatever stands between.
            let status = match version {
                Version::V4 => all.get(1).unwrap_or(status),
                Version::V5 => status,
            };
            if let Some(test) = test {
                map.set(&test, Status::of(status));
            }
        }
    }
    map
}

fn second_first(line: &str, version: Version) -> Option<(String, Status)> {
    let is_failure = line.starts_with("FAILED");
    let line = match version {
        _ if !is_failure => line.to_owned(),
        Version::V4 => line.replace(" - ", " "),
        Version::V5 => line.split(" - ").next().unwrap_or_default().to_owned(),
    };
    let all: Vec<&str> = words(&line).collect();
    let [status, rest @ ..] = all.as_slice() else {
        return None;
    };
    let first = rest.first()?;
    match version {
        Version::V4 => Some(((*first).to_owned(), Status::of(status))),
        Version::V5 if is_count_of_skips(status, first) => None,
        Version::V5 => Some((rest.join(" "), Status::of(status))),
    }
}

/// A line that begins with a verdict: its first word, and the test that it is about.
fn verdict(line: &str, version: Version) -> Option<(String, Status)> {
    if !Status::begins(line) {
        return None;
    }
    let line = match line.starts_with("FAILED") {
        true => line.replace(" - ", " "),
        false => line.to_owned(),
    };
    let mut words = words(&line);
    let (status, test) = (words.next()?, words.next()?);
    if version == Version::V5 && is_count_of_skips(status, test) {
        return None;
    }
    Some((test.to_owned(), Status::of(status)))
}

/// `SKIPPED [3] tests/test_x.py:7: why`: three tests, none of them named.
fn is_count_of_skips(status: &str, test: &str) -> bool {
    let inner = test
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    status == "SKIPPED"
        && inner.is_some_and(|inner| !inner.is_empty() && inner.chars().all(char::is_numeric))
}

/// `name[/a/b/c]` is `name[/c]`; a URL and a pattern stay as they are.
fn shortened(test: &str) -> String {
    static OPTION: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(.*?)\[(.*)\]"));
    let found = OPTION.as_ref().and_then(|option| option.captures(test));
    let Some(found) = found else {
        return test.to_owned();
    };
    let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
    let (main, option) = (part(1), part(2));
    let is_path = option.starts_with('/') && !option.starts_with("//") && !option.contains('*');
    match option.rsplit('/').next() {
        Some(last) if is_path => format!("{main}[/{last}]"),
        _ => format!("{main}[{option}]"),
    }
}

/// Escape sequences end up as nothing: first `[31m`, then every control character.
fn without_colours(line: &str) -> String {
    static COLOUR: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\[(\d+)m"));
    let plain = match COLOUR.as_ref() {
        Some(colour) => colour.replace_all(line, ""),
        None => line.into(),
    };
    plain
        .chars()
        .filter(|char| !('\u{1}'..='\u{1f}').contains(char))
        .collect()
}
