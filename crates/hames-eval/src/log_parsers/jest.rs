//! Jest: a mark before each test (`--verbose`), or a word before each file of tests.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern};
use crate::official::Version;

/// Version 5 takes off what stands between a name and its time.
pub(super) fn verbose(log: &str, version: Version) -> StatusMap {
    static LINE: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"^\s*(✓|✕|○)\s(.+?)(?:\s\((\d+\s*m?s)\))?$"));
    let mut map = StatusMap::default();
    let Some(form) = LINE.as_ref() else {
        return map;
    };
    for line in log.split('\n') {
        let Some(found) = form.captures(line.trim_matches(is_space)) else {
            continue;
        };
        let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
        let test = match version {
            Version::V4 => part(2),
            Version::V5 => part(2).trim_matches(is_space),
        };
        let status = match part(1) {
            "✓" => Status::Passed,
            "✕" => Status::Failed,
            _ => Status::Skipped,
        };
        map.set(test, status);
    }
    map
}

/// Carbon, Prettier, react-pdf and others: a file a line, its time off where it is understood.
pub(super) fn files(log: &str, _version: Version) -> StatusMap {
    static LINES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let forms = [
            r"^(PASS|FAIL)\s(.*)\s\([\d\.]+ms\)",
            r"^(PASS|FAIL)\s(.*)\s\([\d\.]+\ss\)",
            r"^(PASS|FAIL)\s(.*)\s\([\d\.]+s\)",
            r"^(PASS|FAIL)\s(.*)",
        ];
        forms.into_iter().filter_map(pattern).collect()
    });
    let mut map = StatusMap::default();
    for line in log.split('\n') {
        let found = LINES.iter().find_map(|form| form.captures(line));
        let part = |at: usize| Some(found.as_ref()?.get(at)?.as_str());
        if let (Some(word), Some(file)) = (part(1), part(2)) {
            map.set(file, meaning(word));
        }
    }
    map
}

/// Grommet: failures first, so that a file which also passed counts as passed.
pub(super) fn grommet(log: &str, _version: Version) -> StatusMap {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\s\([\d\.]+\s?(?:ms|s)\)$"));
    static FORMS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        let forms = [("FAIL", r"(?m)^FAIL\s(.*)"), ("PASS", r"(?m)^PASS\s(.*)")];
        let forms = forms.into_iter();
        forms
            .filter_map(|(word, form)| Some((word, pattern(form)?)))
            .collect()
    });
    let mut map = StatusMap::default();
    let Some(time) = TIME.as_ref() else {
        return map;
    };
    for (word, form) in FORMS.iter() {
        for found in form.captures_iter(log) {
            let file = found.get(1).map_or("", |file| file.as_str());
            let file = file.trim_matches(is_space);
            map.set(&time.replace(file, ""), meaning(word));
        }
    }
    map
}

fn meaning(word: &str) -> Status {
    match word {
        "PASS" => Status::Passed,
        _ => Status::Failed,
    }
}
