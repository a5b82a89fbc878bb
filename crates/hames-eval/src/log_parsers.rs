//! What a test run's output says of each test: one parser a framework, found by the official names.
//!
//! It judges nothing: what a status is worth is `grading/`'s. Where the two official versions read
//! a line differently, both readings are here.

mod django;
mod doctest;
mod failures;
mod gradle;
mod jest;
mod lines;
mod maven;
mod mocha_json;
mod next;
mod p5js;
mod phpunit;
mod pytest;
mod quarto;
mod redis;
mod seaborn;
mod status;
mod suites;
mod sympy;
mod table;
mod text;

use crate::official::Version;

pub use status::{Status, StatusMap};

type Parse = fn(&str, Version) -> StatusMap;

/// How one framework's output is read.
#[derive(Clone, Copy)]
pub struct LogParser {
    pub name: &'static str,
    parse: Parse,
}

impl LogParser {
    /// `log` has `\n` at its lines' ends.
    pub fn parse(&self, log: &str, version: Version) -> StatusMap {
        (self.parse)(log, version)
    }
}

/// Whose log it is: some repositories were run by different frameworks over time.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogOf<'a> {
    /// The instance's.
    pub id: &'a str,
    /// The project's.
    pub version: &'a str,
}

/// By an official or a short name.
pub fn by_name(name: &str, of: LogOf<'_>) -> Option<LogParser> {
    let short = name.strip_prefix("parse_log_").unwrap_or(name);
    let chosen = table::CHOSEN.iter().find(|(known, _)| *known == short);
    let meant = match chosen {
        Some((_, choose)) => choose(of)?,
        None => find(&table::ALIASES, short).unwrap_or(short),
    };
    let mut parsers = table::PARSERS.iter();
    parsers.find(|parser| parser.name == meant).copied()
}

/// For a dataset that names no parser.
pub fn by_repo(repo: &str, of: LogOf<'_>) -> Option<LogParser> {
    by_name(find(&table::REPOSITORIES, repo)?, of)
}

/// Every name that [`by_name`] knows, for messages.
pub fn names() -> Vec<&'static str> {
    let parsers = table::PARSERS.iter().map(|parser| parser.name);
    let aliases = table::ALIASES.iter().map(|(name, _)| *name);
    let chosen = table::CHOSEN.iter().map(|(name, _)| *name);
    parsers.chain(aliases).chain(chosen).collect()
}

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|(_, meant)| *meant)
}
