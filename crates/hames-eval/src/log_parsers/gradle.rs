//! Gradle with the verdict behind the name, or alone on a later line.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern};
use crate::official::Version;

static WHOLE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^([^>].+)\s+(PASSED|FAILED)$"));
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^([^>]\S*\s+>\s+\S+)$"));

pub(super) fn parse(log: &str, version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let (Some(whole), Some(name)) = (WHOLE.as_ref(), NAME.as_ref()) else {
        return map;
    };
    let mut waiting: Option<String> = None;
    for line in log.split('\n') {
        let line = line.trim_matches(is_space);
        if let Some(found) = whole.captures(line) {
            let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
            map.set(part(1), Status::of(part(2)));
            waiting = None;
        } else if version == Version::V5 {
            if name.is_match(line) {
                waiting = Some(line.to_owned());
            } else if matches!(line, "PASSED" | "FAILED")
                && let Some(name) = waiting.take()
            {
                map.set(&name, Status::of(line));
            }
        }
    }
    map
}
