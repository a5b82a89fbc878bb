//! SymPy's own runner: `test_name ok`, and a headline for each failure.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern, words};
use crate::official::Version;

static HEADLINE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(_*) (.*)\.py:(.*) (_*)"));

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    for found in HEADLINE
        .iter()
        .flat_map(|headline| headline.captures_iter(log))
    {
        if let (Some(file), Some(test)) = (found.get(2), found.get(3)) {
            map.set(
                &format!("{}.py:{}", file.as_str(), test.as_str()),
                Status::Failed,
            );
        }
    }
    for line in log.split('\n') {
        let line = line.trim_matches(is_space);
        let Some(test) = words(line).next().filter(|_| line.starts_with("test_")) else {
            continue;
        };
        let verdicts = [
            (" E", Status::Error),
            (" F", Status::Failed),
            (" ok", Status::Passed),
        ];
        for (suffix, status) in verdicts {
            if line.ends_with(suffix) {
                map.set(test, status);
            }
        }
    }
    map
}
