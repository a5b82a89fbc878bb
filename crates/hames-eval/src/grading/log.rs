//! Which part of a log speaks of the tests, and whether it can be believed.

use std::sync::LazyLock;

use regex::Regex;

use super::Version;
use crate::log_parsers::{LogParser, Status, StatusMap};

pub(super) const START: &str = ">>>>> Start Test Output";
pub(super) const END: &str = ">>>>> End Test Output";
pub(super) const EXIT_CODE: &str = ">>>>> Test Exit Code";

/// Each of these anywhere in a log says that there is no result.
const BAD: [&str; 4] = [
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
];

/// Signs that a runner has run at least one test, for parsers that see failures alone. A count of
/// nothing is no sign: some runners print one when they could not begin.
static SUITE_RAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let signs = [
        r"Executed [1-9]\d* of \d+",
        r"TOTAL: [1-9]\d* (?:SUCCESS|FAILED)",
        r"[1-9]\d* passing",
        r"Tests:\s+[1-9]\d*",
        r"Test Suites:\s+(?:\d+ \w+, )*[1-9]\d* total",
        r"^# tests [1-9]\d*",
        r"[1-9]\d* specs?, \d+ failures?",
        r"': ok$",
    ];
    Regex::new(&format!("(?m){}", signs.join("|"))).ok()
});

static EXIT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"{}:\s*(-?\d+)", regex::escape(EXIT_CODE))).ok());

/// What the log says of each test; none where it says nothing that counts.
pub fn statuses(log: &str, parser: LogParser, version: Version) -> Option<StatusMap> {
    let log = with_unix_line_ends(log);
    if BAD.iter().any(|bad| log.contains(bad)) || !log.contains(START) || !log.contains(END) {
        return None;
    }
    let mut map = parser.parse(between_marks(&log), version);
    if map.is_empty() {
        // Some runners' output lands outside the marks.
        map = parser.parse(&log, version);
    }
    match version {
        Version::V4 => Some(map),
        Version::V5 => Some(map).filter(|map| is_believable(map, &log)),
    }
}

/// Between the first start and the end that follows it, or the log's end.
fn between_marks(log: &str) -> &str {
    let after = log.split(START).nth(1).unwrap_or_default();
    after.split(END).next().unwrap_or_default()
}

/// Version 5: an empty log is no pass, and a runner that fails without a failure was not heard.
fn is_believable(map: &StatusMap, log: &str) -> bool {
    if map.is_empty() {
        return SUITE_RAN.as_ref().is_some_and(|ran| ran.is_match(log));
    }
    let failed = map
        .iter()
        .any(|(_, status)| matches!(status, Status::Failed | Status::Error));
    failed || !exited_badly(log)
}

/// The test command's own exit status, where the script wrote it down.
fn exited_badly(log: &str) -> bool {
    let found = EXIT
        .as_ref()
        .and_then(|exit| exit.captures(log))
        .and_then(|found| found.get(1));
    found.is_some_and(|code| !code.as_str().trim_start_matches(['-', '0']).is_empty())
}

/// As a text file is read: every kind of line end is one.
pub(super) fn with_unix_line_ends(log: &str) -> std::borrow::Cow<'_, str> {
    match log.contains('\r') {
        true => log.replace("\r\n", "\n").replace('\r', "\n").into(),
        false => log.into(),
    }
}
