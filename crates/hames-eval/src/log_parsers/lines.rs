//! Frameworks that print one line a test: a pattern each, and what its words mean.

use std::sync::LazyLock;

use regex::Regex;

use super::status::{Status, StatusMap, is_space, pattern};
use crate::official::Version;

struct Lines {
    pattern: LazyLock<Option<Regex>>,
    /// Of the pattern, by number.
    word: usize,
    test: usize,
    meanings: &'static [(&'static str, Status)],
}

impl Lines {
    fn read(&self, log: &str) -> StatusMap {
        let mut map = StatusMap::default();
        let Some(pattern) = self.pattern.as_ref() else {
            return map;
        };
        for line in log.split('\n') {
            let Some(found) = pattern.captures(line.trim_matches(is_space)) else {
                continue;
            };
            let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
            let meaning = self
                .meanings
                .iter()
                .find(|(word, _)| *word == part(self.word));
            if let Some((_, status)) = meaning {
                map.set(part(self.test), status.clone());
            }
        }
        map
    }
}

macro_rules! lines {
    ($name:ident, $pattern:literal, $word:literal, $test:literal, $meanings:expr) => {
        pub(super) fn $name(log: &str, _version: Version) -> StatusMap {
            static LINES: Lines = Lines {
                pattern: LazyLock::new(|| pattern($pattern)),
                word: $word,
                test: $test,
                meanings: $meanings,
            };
            LINES.read(log)
        }
    };
}

use Status::{Failed, Passed, Skipped};

lines!(
    go,
    r"^--- (PASS|FAIL|SKIP): (.+) \((.+)\)$",
    1,
    2,
    &[("PASS", Passed), ("FAIL", Failed), ("SKIP", Skipped)]
);
lines!(
    cargo,
    r"^test\s+(\S+)\s+\.\.\.\s+(\w+)$",
    2,
    1,
    &[("ok", Passed), ("FAILED", Failed)]
);
lines!(
    ant,
    r"^\s*\[junit\]\s+\[(PASS|FAIL|ERR)\]\s+(.*)$",
    1,
    2,
    &[("PASS", Passed), ("FAIL", Failed), ("ERR", Failed)]
);
lines!(
    jq,
    r"^\s*(PASS|FAIL):\s(.+)$",
    1,
    2,
    &[("PASS", Passed), ("FAIL", Failed)]
);
lines!(
    micropython,
    r"^(pass|FAIL|skip)\s+(.+)$",
    1,
    2,
    &[("pass", Passed), ("FAIL", Failed), ("skip", Skipped)]
);
lines!(
    googletest,
    r"^.*\[\s*(OK|FAILED)\s*\]\s(.*)\s\(.*\)$",
    1,
    2,
    &[("OK", Passed), ("FAILED", Failed)]
);
lines!(
    jest_json,
    r"^\[(PASSED|FAILED)\]\s(.+)$",
    1,
    2,
    &[("PASSED", Passed), ("FAILED", Failed)]
);
lines!(
    vitest,
    r"^\s*(✓|×|↓)\s(.+?)(?:\s(\d+\s*m?s?|\[skipped\]))?$",
    1,
    2,
    &[("✓", Passed), ("×", Failed), ("↓", Skipped)]
);
lines!(
    tap,
    r"^(ok|not ok) (\d+) (.+)$",
    1,
    3,
    &[("ok", Passed), ("not ok", Failed)]
);
lines!(
    minitest,
    r"^(.+)\. .*=.*(\.|F|E).*$",
    2,
    1,
    &[(".", Passed), ("F", Failed), ("E", Failed)]
);
lines!(
    cucumber,
    r"^(.*) \.+(\.|F)",
    2,
    1,
    &[(".", Passed), ("F", Failed)]
);
lines!(
    ruby_unit,
    r"^\s*(?:test: )?(.+):\s+(\.|E\b|F\b|O\b)",
    2,
    1,
    &[(".", Passed), ("E", Failed), ("F", Failed), ("O", Skipped)]
);
lines!(
    rspec_transformed_json,
    r"^(.+) - (passed|failed)",
    2,
    1,
    &[("passed", Passed), ("failed", Failed)]
);
