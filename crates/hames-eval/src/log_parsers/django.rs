//! Django's own runner at verbosity 2: a name and a verdict, now and then lines apart.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern, words};
use crate::official::Version;

const PASSES: [&str; 3] = [" ... ok", " ... OK", " ...  OK"];

/// Names whose verdict stands behind output of the test itself, to the line's end.
static ACROSS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        r"(?m)^(.*?)\s\.\.\.\sTesting\ against\ Django\ installed\ in\ ((?s:.*?))\ silenced\)\.\nok$",
        r"(?m)^(.*?)\s\.\.\.\sInternal\ Server\ Error:\ \/(.*)\/\nok$",
        r"(?m)^(.*?)\s\.\.\.\sSystem check identified no issues \(0 silenced\)\nok$",
    ];
    patterns.iter().filter_map(|text| pattern(text)).collect()
});

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let mut before: Option<String> = None;
    for line in log.split('\n') {
        read_line(line.trim_matches(is_space), &mut before, &mut map);
    }
    for pattern in ACROSS.iter() {
        for found in pattern.captures_iter(log) {
            if let Some(name) = found.get(1) {
                map.set(name.as_str(), Status::Passed);
            }
        }
    }
    map
}

fn read_line(line: &str, before: &mut Option<String>, map: &mut StatusMap) {
    let mut line = line;
    if line.contains("--version is equivalent to version") {
        map.set("--version is equivalent to version", Status::Passed);
    }
    if let Some((name, _)) = line.split_once(" ... ") {
        *before = Some(name.to_owned());
    }
    if let Some(suffix) = PASSES.iter().find(|suffix| line.ends_with(**suffix)) {
        // One migration prints itself in front of its test's name.
        if line.starts_with("Applying sites.0002_alter_domain_unique...test_no_migrations") {
            line = line
                .split_once("...")
                .map_or(line, |(_, rest)| rest.trim_matches(is_space));
        }
        if let Some((name, _)) = line.rsplit_once(suffix) {
            map.set(name, Status::Passed);
        }
    }
    if let Some((name, _)) = line.split_once(" ... skipped") {
        map.set(name, Status::Skipped);
    }
    for (word, status) in [("FAIL", Status::Failed), ("ERROR", Status::Error)] {
        let at_end = format!(" ... {word}");
        if line.ends_with(&at_end)
            && let Some((name, _)) = line.split_once(&at_end)
        {
            map.set(name, status.clone());
        }
        let in_front = format!("{word}:");
        if line.starts_with(&in_front)
            && let Some(name) = words(line).nth(1)
        {
            map.set(name, status);
        }
    }
    if line.starts_with("ok")
        && let Some(name) = before
    {
        map.set(name, Status::Passed);
    }
}
