//! p5.js: Mocha's list of failures, in a log that prints data between them.
//!
//! Data is taken out first, as the official parser does: blocks in braces, brackets and tags.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    status::{Status, StatusMap, is_space, pattern},
    suites::indent,
    text::without_escapes,
};
use crate::official::Version;

static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"<(\w+)>"));
static FAILED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?ms)^\s*(\d+)\)(.{0,1000}?):"));

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let (Some(tag), Some(failed)) = (TAG.as_ref(), FAILED.as_ref()) else {
        return map;
    };
    let log = without_tags(without_objects(&without_escapes(log)), tag);
    for found in failed.captures_iter(&log) {
        let lines: Vec<&str> = found
            .get(2)
            .map_or("", |name| name.as_str())
            .split('\n')
            .collect();
        if deepens(&lines) {
            let names: Vec<&str> = lines
                .iter()
                .map(|line| line.trim_matches(is_space))
                .collect();
            map.set(&names.join(":"), Status::Failed);
        }
    }
    map
}

/// A suite's name is indented, and each below it further.
fn deepens(lines: &[&str]) -> bool {
    let indents = lines.iter().map(|line| indent(line));
    std::iter::once(0)
        .chain(indents.clone())
        .zip(indents)
        .all(|(last, next)| next > last)
}

fn without_objects(log: &str) -> String {
    let (mut in_braces, mut in_brackets) = (false, false);
    let mut kept = Vec::new();
    for line in log.split('\n') {
        let end = line.trim_end_matches(is_space);
        if end.ends_with('{') {
            in_braces = true;
        } else if end.ends_with('[') {
            in_brackets = true;
        } else if end == "}" && in_braces {
            in_braces = false;
        } else if end == "]" && in_brackets {
            in_brackets = false;
        } else if !(in_braces || in_brackets || is_whole(end, '{', '}') || is_whole(end, '[', ']'))
        {
            kept.push(line);
        }
    }
    kept.join("\n")
}

fn is_whole(line: &str, open: char, close: char) -> bool {
    line.starts_with(open) && line.ends_with(close)
}

/// An element goes with all in it; of a nested one of the same name, the opening tag stays.
fn without_tags(mut log: String, tag: &Regex) -> String {
    while let Some((before, name, inside, after)) = first_element(&log, tag) {
        let open = format!("<{name}>");
        let again = open.repeat(inside.matches(&open).count());
        log = format!("{before}{again}{after}");
    }
    log
}

/// What stands before it, its name, what is in it, and what stands after it.
fn first_element<'a>(log: &'a str, tag: &Regex) -> Option<(&'a str, &'a str, &'a str, &'a str)> {
    tag.captures_iter(log).find_map(|found| {
        let (whole, name) = (found.get(0)?, found.get(1)?.as_str());
        let (inside, after) = log.get(whole.end()..)?.split_once(&format!("</{name}>"))?;
        Some((log.get(..whole.start())?, name, inside, after))
    })
}
