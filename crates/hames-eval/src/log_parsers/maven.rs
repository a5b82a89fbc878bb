//! Maven, run once a test: which test a build was for stands in the traced command before it.

use std::{collections::VecDeque, sync::LazyLock};

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern};
use crate::official::Version;

static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^.*-Dtest=(\S+).*$"));
static BUILD: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^.*BUILD (SUCCESS|FAILURE)$"));

/// Version 4 knows the last test named; version 5 pairs tests and builds in order.
pub(super) fn parse(log: &str, version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let (Some(test), Some(build)) = (TEST.as_ref(), BUILD.as_ref()) else {
        return map;
    };
    let mut waiting: VecDeque<String> = VecDeque::new();
    let mut early: VecDeque<Status> = VecDeque::new();
    for line in log.split('\n') {
        let line = line.trim_matches(is_space);
        if let Some(name) = test.captures(line).and_then(|found| found.get(1)) {
            if version == Version::V4 {
                waiting.clear();
            }
            waiting.push_back(name.as_str().to_owned());
        }
        let Some(word) = build.captures(line).and_then(|found| found.get(1)) else {
            continue;
        };
        let status = match word.as_str() {
            "SUCCESS" => Status::Passed,
            _ => Status::Failed,
        };
        match (version, waiting.front()) {
            (Version::V4, Some(name)) => map.set(name, status),
            (Version::V5, Some(name)) => {
                map.set(name, status);
                waiting.pop_front();
            }
            // What the official parser writes where no test was named.
            (Version::V4, None) => map.set("---NO TEST NAME FOUND YET---", status),
            (Version::V5, None) => early.push_back(status),
        }
    }
    for (name, status) in waiting.iter().zip(early) {
        map.set(name, status);
    }
    map
}
