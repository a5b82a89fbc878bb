//! Redis and Valkey: `[ok]: name (3 ms)`, and the file behind the name of a test that failed.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern};
use crate::official::Version;

static LINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^\[(ok|err|skip|ignore)\]:\s(.+?)(?:\s\((\d+\s*m?s)\))?$"));
static IN_FILE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\s+in\s+\S+$"));

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let (Some(pattern), Some(in_file)) = (LINE.as_ref(), IN_FILE.as_ref()) else {
        return map;
    };
    for line in log.split('\n') {
        let Some(found) = pattern.captures(line.trim_matches(is_space)) else {
            continue;
        };
        let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
        let test = part(2);
        match part(1) {
            "ok" => map.set(test, Status::Passed),
            "err" => map.set(&in_file.replace(test, ""), Status::Failed),
            _ => map.set(test, Status::Skipped),
        }
    }
    map
}
