//! Fusion Next's newer runner: a suite a headline, its tests below it.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern};
use crate::official::Version;

static SUITE: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"Running:(.*)\)\n{3}\s{2}(.*)\n"));
static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?m)^\s{4}\d+\)\s(.*)"));
static PASSED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?m)^\s{4}✓\s(.*)\("));

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let (Some(suite), Some(failed), Some(passed)) =
        (SUITE.as_ref(), FAILED.as_ref(), PASSED.as_ref())
    else {
        return map;
    };
    let tests = suite.split(log).skip(1);
    for (found, tests) in suite.captures_iter(log).zip(tests) {
        let name = found.get(2).map_or("", |name| name.as_str());
        for (form, status) in [(failed, Status::Failed), (passed, Status::Passed)] {
            for test in form.captures_iter(tests).filter_map(|found| found.get(1)) {
                let test = test.as_str().trim_matches(is_space);
                map.set(&format!("{name}: {test}"), status.clone());
            }
        }
    }
    map
}
