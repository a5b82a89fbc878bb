//! Which of an agent's last words are a model service's: no key, too many requests, no network.
//!
//! It is asked of error texts alone, never of what a model or a test said.

use std::sync::LazyLock;

use regex::Regex;

/// Not the agent's doing, so never counted as its failure.
static FAILURES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ways = [
        // A status where it says that it is one.
        r"(?:status|code|http|error|api error)\W{0,4}(?:code\W{0,3})?(?:401|402|403|408|429|5\d\d)\b",
        r"\b(?:401|403) (?:unauthorized|forbidden)|\b429 too many|\b5\d\d (?:internal|bad gateway|service|server)",
        r"rate.?limit|too many requests|quota|resource.?exhausted|overloaded|insufficient.?(?:funds|balance|credit)|credit balance",
        r"unauthorized|authentication|(?:invalid|incorrect|missing|no|set an?)\W+(?:\w+\W+){0,2}(?:api.?key|credential)",
        r"api.?key\W+(?:\w+\W+){0,3}(?:invalid|missing|not (?:set|found|valid|provided)|required|must be set)|auth(?:entication)? method",
        r"not logged in|please (?:run /login|log ?in|authenticate|set)|login required|no credentials|forbidden",
        r"econnrefused|connection refused|connection error|connectionerror|connect(?:ion)? (?:failed|timed? ?out|reset)|error sending request",
        r"enotfound|eai_again|getaddrinfo|name or service not known|name resolution|etimedout|econnreset|network (?:error|is unreachable)|fetch failed|socket hang up|stream disconnected|unable to connect",
        r"service unavailable|bad gateway|gateway timeout|internal server error|server had an error",
        r"transport:|ratelimited:|overloaded:|auth:",
    ];
    Regex::new(&format!("(?i){}", ways.join("|"))).ok()
});

/// The line of it that says so.
pub fn find(error: &str) -> Option<String> {
    let failures = FAILURES.as_ref()?;
    let line = error.lines().find(|line| failures.is_match(line))?;
    Some(shortened(line.trim()))
}

/// The end of a program's stderr, where its last words are.
pub fn last_words(text: &str) -> String {
    const LINES: usize = 15;
    let said: Vec<_> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = said.len().saturating_sub(LINES);
    said.get(from..).unwrap_or_default().join("\n")
}

pub fn shortened(line: &str) -> String {
    const LETTERS: usize = 400;
    if line.chars().count() <= LETTERS {
        return line.to_owned();
    }
    line.chars().take(LETTERS).chain(['…']).collect()
}
