//! Mocha's `json` reporter: prism's is read as JSON, Lighthouse's older versions' line by line.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::{
    status::{Status, StatusMap, pattern},
    text::{after_first, after_last, before_last},
};
use crate::official::Version;

#[derive(Deserialize)]
struct Told {
    failures: Vec<Test>,
    passes: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    full_title: String,
}

/// One document a run of the command. The official parser fails where it is none.
pub(super) fn prism(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let command = "./node_modules/.bin/mocha tests/run.js --reporter json";
    for run in log.split(command).skip(1) {
        let inside = before_last(after_first(run, "{"), "}");
        let Ok(told) = serde_json::from_str::<Told>(&format!("{{{inside}}}")) else {
            continue;
        };
        for test in &told.failures {
            map.set(&test.full_title, Status::Failed);
        }
        for test in &told.passes {
            map.set(&test.full_title, Status::Passed);
        }
    }
    map
}

pub(super) fn lighthouse(log: &str, _version: Version) -> StatusMap {
    static TITLE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r#""fullTitle":\s"(.*)",\n"#));
    let mut map = StatusMap::default();
    let Some(title) = TITLE.as_ref() else {
        return map;
    };
    for run in log
        .split("./node_modules/.bin/mocha --reporter json")
        .skip(1)
    {
        let passes = before_last(after_last(run, "\"passes\": ["), "]");
        let failures = before_last(after_last(run, "\"failures\": ["), "],");
        for (part, status) in [(passes, Status::Passed), (failures, Status::Failed)] {
            for test in title.captures_iter(part).filter_map(|found| found.get(1)) {
                map.set(test.as_str(), status.clone());
            }
        }
    }
    map
}
