//! PHPUnit's `--testdox`: a suite's headline, and a mark before each of its tests.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, pattern};
use crate::official::Version;

static SUITE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^(\w.+) \(.+\)$"));
static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^\s*([✔✘↩])\s*(.*)$"));

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let (Some(suite), Some(test)) = (SUITE.as_ref(), TEST.as_ref()) else {
        return map;
    };
    // What the official parser writes where no suite was named.
    let mut named = "None".to_owned();
    for line in log.split('\n') {
        if let Some(found) = suite.captures(line).and_then(|found| found.get(1)) {
            found.as_str().clone_into(&mut named);
        } else if let Some(found) = test.captures(line) {
            let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
            let status = match part(1) {
                "✔" => Status::Passed,
                "✘" => Status::Failed,
                _ => Status::Skipped,
            };
            map.set(&format!("{named} > {}", part(2)), status);
        }
    }
    map
}
