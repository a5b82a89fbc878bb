//! Runners that print tests indented under their suites: Jest, Karma and Mocha, for a person to read.
//!
//! A suite is whatever is indented and no test; the official parsers know no better sign.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    status::{Status, StatusMap, is_space, pattern},
    text::{after_first, after_last, without_escapes},
};
use crate::official::Version;

/// The suites that a line stands in, each with its indent in characters.
#[derive(Default)]
struct Suites(Vec<(String, usize)>);

impl Suites {
    /// A line that is not indented is no suite.
    fn enter(&mut self, line: &str) {
        let name = line.trim_matches(is_space);
        let indent = indent(line);
        if indent == 0 {
            return;
        }
        while self.0.last().is_some_and(|(_, last)| *last >= indent) {
            self.0.pop();
        }
        self.0.push((name.to_owned(), indent));
    }

    fn path(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.join(" - ")
    }

    fn test(&self, name: &str) -> String {
        match self.0.is_empty() {
            true => name.to_owned(),
            false => format!("{} - {name}", self.path()),
        }
    }
}

/// In characters.
pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|char| is_space(*char)).count()
}

/// Calypso: each run of Jest follows its own command.
pub(super) fn calypso(log: &str, _version: Version) -> StatusMap {
    static TIMED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\(\d+ms\)"));
    static WITH_TIME: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"^\s+[✓✕]\s(.*)\(\d+ms\)$"));
    static WITHOUT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^\s+[✓✕]\s(.*)"));
    let (mut map, mut suites) = (StatusMap::default(), Suites::default());
    let (Some(timed), Some(with_time), Some(without)) =
        (TIMED.as_ref(), WITH_TIME.as_ref(), WITHOUT.as_ref())
    else {
        return map;
    };
    for run in log.split(" ./node_modules/.bin/jest ").skip(1) {
        for line in run.split('\n') {
            if ["Test Suites", "  ● "]
                .iter()
                .any(|end| line.starts_with(end))
            {
                break;
            }
            let status = match line.trim_start_matches(is_space).chars().next() {
                Some('✓') => Status::Passed,
                Some('✕') => Status::Failed,
                Some(_) | None => {
                    suites.enter(line);
                    continue;
                }
            };
            let form = if timed.is_match(line) {
                with_time
            } else {
                without
            };
            // The official parser fails at a line of neither form.
            if let Some(test) = form.captures(line).and_then(|found| found.get(1)) {
                let name = format!("{} - {}", suites.path(), test.as_str());
                map.set(name.trim_matches(is_space), status);
            }
        }
    }
    map
}

/// Fusion Next before its newer runner: Karma, each run behind its own command.
pub(super) fn next_karma(log: &str, _version: Version) -> StatusMap {
    static NOISE: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"AssertionError:\s+#([\s\S]*?)\n\n"));
    static TESTS: [(char, Status); 2] = [('✗', Status::Failed), ('✓', Status::Passed)];
    let (mut map, mut suites) = (StatusMap::default(), Suites::default());
    let Some(noise) = NOISE.as_ref() else {
        return map;
    };
    let log = without_escapes(log);
    let log = noise.replace_all(&log, "");
    for run in log.split(" xvfb-run ").skip(1) {
        for line in after_last(run, "Starting browser Chrome").split('\n') {
            if line.starts_with("TOTAL") {
                break;
            }
            let begun = line.trim_start_matches(is_space);
            if ["ERROR", "LOG", "WARN", "Check", "in"]
                .iter()
                .any(|noise| begun.starts_with(noise))
            {
                continue;
            }
            let test = TESTS.iter().find_map(|(mark, status)| {
                let (_, name) = line.split_once(*mark)?;
                Some((name.trim_start_matches(is_space), status))
            });
            match test {
                Some((name, status)) => map.set(&suites.test(name), status.clone()),
                None => suites.enter(line),
            }
        }
    }
    map
}

/// Lighthouse's newer versions: Mocha, run after run.
pub(super) fn lighthouse_mocha(log: &str, _version: Version) -> StatusMap {
    static RUN: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"running\s\d+\stest\sfiles"));
    static END: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\d+\spassing"));
    static TESTS: LazyLock<Vec<(Regex, Status)>> = LazyLock::new(|| {
        let forms = [
            (r"^✔\s(.*)\s\(\d+m+s\)", Status::Passed),
            (r"^✔\s(.*)", Status::Passed),
            (r"^\d+\)\s(.*)\s\(\d+m+s\)", Status::Failed),
            (r"^\d+\)\s(.*)", Status::Failed),
        ];
        let forms = forms.into_iter();
        forms
            .filter_map(|(form, status)| Some((pattern(form)?, status)))
            .collect()
    });
    let mut map = StatusMap::default();
    let (Some(begin), Some(end)) = (RUN.as_ref(), END.as_ref()) else {
        return map;
    };
    for run in begin.split(log).skip(1) {
        let run = end.split(run).next().unwrap_or_default();
        let mut suites = Suites::default();
        for line in run.trim_matches(is_space).split('\n') {
            let bare = line.trim_matches(is_space);
            let test = TESTS.iter().find_map(|(form, status)| {
                let name = form.captures(bare)?.get(1)?;
                Some((name.as_str(), status))
            });
            match test {
                Some((name, status)) => map.set(&suites.test(name), status.clone()),
                None => suites.enter(line),
            }
        }
    }
    map
}

/// Preact: Karma's own reporter, from the browser's start to the summary.
pub(super) fn karma(log: &str, _version: Version) -> StatusMap {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^(\s*)?([✔✖])?\s(.*)$"));
    let mut map = StatusMap::default();
    let Some(form) = LINE.as_ref() else {
        return map;
    };
    let (mut suites, mut deepest, mut begun) = (Vec::<String>::new(), None, false);
    for line in log.split('\n') {
        if line.starts_with("SUMMARY:") {
            break;
        }
        if line.contains("Starting browser") {
            begun = true;
            continue;
        }
        let Some(found) = form.captures(line).filter(|_| begun) else {
            continue;
        };
        let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
        let (indent, name) = (part(1).chars().count(), part(3));
        let status = match part(2) {
            "✔" => Status::Passed,
            "✖" => Status::Failed,
            _ if indent == 0 => continue,
            _ if deepest.is_none_or(|deepest| indent > deepest) => {
                deepest = Some(indent);
                suites.push(name.to_owned());
                continue;
            }
            _ => {
                if deepest.is_some_and(|deepest| indent < deepest) {
                    deepest = Some(indent);
                    suites.pop();
                }
                continue;
            }
        };
        let mut path = suites.clone();
        path.push(name.to_owned());
        map.set(&path.join(" > "), status);
    }
    map
}

/// highlight.js: Mocha's `spec` reporter, up to its summary; the nearest suite alone is named.
pub(super) fn highlightjs(log: &str, _version: Version) -> StatusMap {
    static SUMMARY: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\n[ \t]*\d+ passing"));
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\(\d+ms\)"));
    static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^\d+\)"));
    let mut map = StatusMap::default();
    let (Some(summary), Some(time), Some(failed)) =
        (SUMMARY.as_ref(), TIME.as_ref(), FAILED.as_ref())
    else {
        return map;
    };
    let mut suite = None;
    for line in summary.split(log).next().unwrap_or_default().split('\n') {
        let bare = line.trim_matches(is_space);
        let (test, status) =
            if let Some(mark) = ["✓", "✔"].iter().find(|mark| bare.starts_with(**mark)) {
                (after_first(line, mark), Status::Passed)
            } else if failed.is_match(bare) {
                (after_first(line, ")"), Status::Failed)
            } else {
                if line.starts_with("  ") {
                    suite = Some(bare);
                }
                continue;
            };
        let test = time.replace_all(test, "");
        let test = test.trim_matches(is_space);
        match suite {
            Some(suite) => map.set(&format!("{suite}.{test}"), status),
            None => map.set(test, status),
        }
    }
    map
}
