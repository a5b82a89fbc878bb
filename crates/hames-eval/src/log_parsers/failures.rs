//! Runners whose failures alone can be read: a test that is not told of has passed.
//!
//! The repositories are those that grading calls fail-only.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    status::{Status, StatusMap, is_space, pattern, words},
    text::without_escapes,
};
use crate::official::Version;

/// Patterns over the whole log; what the last group of each holds is a test that failed.
struct Failures(LazyLock<Vec<Regex>>);

impl Failures {
    fn read(&self, log: &str, name: impl Fn(&str) -> String) -> StatusMap {
        let mut map = StatusMap::default();
        for form in self.0.iter() {
            for found in form.captures_iter(log) {
                let last = found.iter().skip(1).last().flatten();
                map.set(&name(last.map_or("", |last| last.as_str())), Status::Failed);
            }
        }
        map
    }
}

macro_rules! failures {
    ($($form:literal),+ $(,)?) => {
        Failures(LazyLock::new(|| [$($form),+].into_iter().filter_map(pattern).collect()))
    };
}

pub(super) fn eslint(log: &str, _version: Version) -> StatusMap {
    // The error's kind is no part of the name.
    static FORMS: Failures = failures!(r"\s{2}\d+\)([\s\S]*?)\s+(?:.*Error)");
    FORMS.read(log, on_one_line)
}

pub(super) fn bpmn_js(log: &str, _version: Version) -> StatusMap {
    static FORMS: Failures = failures!(
        r"2KPhantomJS\s[\d\.]+\s\(Linux\s[\d\.]+\)\s(.*)FAILED\n",
        r"2KPhantomJS\s[\d\.]+\s\(Linux\sx86_64\)\s(.*)FAILED\n",
        r"Chrome\sHeadless\s(.*)\s\(Linux\sx86_64\)\s(.*)FAILED\n",
        r"HeadlessChrome\s[\d\.]+\s\(Linux\s[\d\.]+\)\s(.*)FAILED\n",
    );
    FORMS.read(log, str::to_owned)
}

pub(super) fn openlayers(log: &str, _version: Version) -> StatusMap {
    static FORMS: Failures = failures!(
        r"(?m)Chrome\sHeadless\s[\d\.]+\s\(Linux\s[\d\._\S]+\)\s(.*)\sFAILED\n",
        r"(?m)Chrome\s[\d\.]+\s\(Linux\s[\d\._\S]+\)\s(.*)FAILED\n",
        r"(?m)^\s{2}\d+\)([\s\S]*?)Error:",
        r"(?m)^case\s(.*):\smismatch",
    );
    FORMS.read(log, on_one_line)
}

pub(super) fn chart_js(log: &str, _version: Version) -> StatusMap {
    // What stands between two parts of a line is no line's end.
    static FORMS: Failures = failures!(r"(?m)Chrome\s[\d\.]+[^\S\r\n]\(.+?\)[^\S\r\n](.*)FAILED$");
    FORMS.read(&without_escapes(log), str::to_owned)
}

pub(super) fn marked(log: &str, _version: Version) -> StatusMap {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^\d+\)\s(.*)"));
    let mut map = StatusMap::default();
    let lines = log.split('\n');
    let failed = lines.filter_map(|line| FORM.as_ref()?.captures(line)?.get(1));
    for test in failed {
        map.set(test.as_str().trim_matches(is_space), Status::Failed);
    }
    map
}

fn on_one_line(name: &str) -> String {
    let words: Vec<&str> = words(name).collect();
    words.join(" ")
}
