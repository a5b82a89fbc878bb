//! Effects and clocks that have a home: what reads the environment, the time, or writes to a
//! terminal does so in one known place.
//!
//! Only what is built into the product is read; tests may look where they like, but never sleep.

use super::{Finding, tree::File, tree::Tree};
use crate::source;

struct Home {
    what: &'static str,
    /// How a path that reaches for it begins, when it is imported or written out.
    paths: &'static [&'static str],
    /// How it looks in code, where it is no path.
    words: &'static [&'static str],
    /// Where it may be, by the beginning of the file's path.
    at: &'static [&'static str],
}

const HOMES: [Home; 9] = [
    Home {
        what: "environment and home belong to the binary: pass the value down",
        paths: &["std::env", "env::", "dirs::", "home::"],
        words: &[],
        at: &["crates/hames/"],
    },
    Home {
        what: "the time of day belongs to the journal's records",
        paths: &["std::time::SystemTime", "SystemTime::now"],
        words: &[],
        at: &[
            "crates/hames-journal/src/record.rs",
            // A Retry-After may be a date.
            "crates/hames-providers/src/retry_after.rs",
            // Records that people read.
            "crates/hames-eval/src/clock.rs",
            "crates/hames/",
        ],
    },
    Home {
        what: "tokio's clock is the one that tests can stop",
        paths: &["std::time::Instant"],
        words: &[],
        at: &[
            // A walk is a thread of its own, without a runtime whose clock it could ask.
            "crates/hames-tools/src/walk.rs",
            "crates/hames/",
        ],
    },
    Home {
        what: "a terminal belongs to the binary: a library returns what it has to say",
        paths: &[
            "std::io::stdout",
            "std::io::stderr",
            "io::stdout",
            "io::stderr",
        ],
        words: &["println!", "print!", "eprintln!", "eprint!", "dbg!"],
        at: &["crates/hames/"],
    },
    Home {
        what: "a thread that sleeps cannot be stopped",
        paths: &["std::thread::sleep", "thread::sleep"],
        words: &[],
        at: &[],
    },
    Home {
        what: "processes have a wall around them",
        paths: &[
            "std::process::Command",
            "process::Command",
            "tokio::process",
        ],
        words: &[],
        at: &["crates/hames-tools/", "crates/hames/"],
    },
    Home {
        what: "no file and no socket in a crate that is bytes in, values out",
        paths: &["std::fs", "std::net", "fs::", "net::"],
        words: &[],
        at: &[
            "crates/hames-agent/",
            "crates/hames-eval/",
            "crates/hames-journal/",
            "crates/hames-providers/",
            "crates/hames-testkit/",
            "crates/hames-tools/",
            "crates/hames/",
        ],
    },
    Home {
        what: "unsafe code has one home",
        paths: &[],
        words: &["unsafe"],
        at: &["crates/hames-tools/src/process.rs"],
    },
    Home {
        what: "ends the process under everyone else: return an outcome",
        paths: &["std::process::exit", "process::exit", "std::process::abort"],
        words: &[],
        at: &["crates/hames/"],
    },
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = tree.sources().flat_map(check_source).collect();
    let is_test = |file: &&File| {
        file.path.starts_with("crates/")
            && (file.path.contains("/tests/") || file.path.ends_with("/tests.rs"))
    };
    for file in tree.rust().filter(is_test) {
        let code = source::code_only(&file.text);
        let sleeps = code
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains("thread::sleep"));
        let what = "no test sleeps: wait for what it is about, on a clock that can be stopped";
        findings.extend(sleeps.map(|(line, _)| Finding::new(&file.path, line + 1, what)));
    }
    findings
}

fn check_source(file: &File) -> Vec<Finding> {
    let code = source::code_only(&file.text);
    let imports = source::imports(&code);
    let mut findings = Vec::new();
    for home in &HOMES {
        if home.at.iter().any(|at| file.path.starts_with(at)) {
            continue;
        }
        let imported = imports
            .iter()
            .filter(|import| home.paths.iter().any(|path| begins(&import.path, path)));
        findings.extend(imported.map(|import| Finding::new(&file.path, import.line, home.what)));
        let spelled = home.paths.iter().chain(home.words);
        for (line, text) in code.lines().enumerate() {
            if spelled.clone().any(|word| stands_in(text, word)) {
                findings.push(Finding::new(&file.path, line + 1, home.what));
            }
        }
    }
    findings.dedup();
    findings
}

/// `std::env` begins `std::env` and `std::env::var`, not `std::environment`.
fn begins(path: &str, start: &str) -> bool {
    let rest = path.strip_prefix(start.trim_end_matches("::"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The word, not as the end or the beginning of a longer one or of a longer path.
fn stands_in(line: &str, word: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let goes_on = word.chars().next_back().is_some_and(is_part) && after.is_some_and(is_part);
        !before.is_some_and(|char| is_part(char) || char == ':') && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn what_is_away_from_home_is_found() {
        let text = "use std::{env, time::{Duration, Instant}};\n// env::var\nlet a = env::var(\"A\");\n\
            let b = std::time::SystemTime::now();\nprintln!(\"b\");\nlet c = \"println!\";\nenv!(\"D\");\n";
        assert_eq!(lines("crates/hames-agent/src/a.rs", text), [1, 3, 4, 1, 5]);
        assert_eq!(lines("crates/hames/src/a.rs", text), [] as [usize; 0]);
        assert_eq!(
            lines("crates/hames-agent/tests/it/a.rs", text),
            [] as [usize; 0]
        );
    }

    #[test]
    fn a_clock_of_tokios_is_nobodys_business() {
        let text =
            "use tokio::time::Instant;\nlet now = Instant::now();\nlet fs = 1;\nlet denv::x = 2;\n";
        assert_eq!(lines("crates/hames-types/src/a.rs", text), [] as [usize; 0]);
    }

    #[test]
    fn files_and_unsafe_code_are_found_in_a_codec() {
        let text = "use std::fs;\nlet a = fs::read(b);\nunsafe { c() }\n";
        assert_eq!(lines("crates/hames-wire/src/a.rs", text), [1, 2, 3]);
        assert_eq!(
            lines("crates/hames-tools/src/process.rs", text),
            [] as [usize; 0]
        );
    }

    #[test]
    fn a_test_that_sleeps_is_found() {
        let text = "fn a() {\n    std::thread::sleep(b);\n}\n";
        assert_eq!(lines("crates/hames-agent/tests/it/a.rs", text), [2]);
    }
}
