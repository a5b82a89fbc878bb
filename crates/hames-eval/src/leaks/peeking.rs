//! Steps of an agent that look for answers: later history, the project's own fix, the benchmark's files.
//!
//! A look is no proof: each is told with its words, and nothing is taken off a score.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::trajectory::Trajectory;

/// How much of a step is told.
const TOLD: usize = 200;

/// What is looked for, and how that is spelt: within one command of a line.
const RULES: [(&str, &str); 9] = [
    (
        "later history",
        r"\bgit\b[^\n;|&]*\b(log|rev-list|shortlog|grep)\b[^\n;|&]*(--all\b|--branches\b|--tags\b|--remotes\b|--reflog\b|\s-g\b)",
    ),
    (
        "later history",
        r"\bgit\b[^\n;|&]*\b(reflog|fsck|unpack-objects|verify-pack|bundle)\b",
    ),
    (
        "later history",
        r"\bgit\b[^\n;|&]*(--batch-all-objects|\bstash\s+(list|show|apply|pop)|\bnotes\s+(list|show)|\btag\s+(-l|--list|--contains)|\bbranch\s+(-a|-r|--all|--remotes))",
    ),
    (
        "later history",
        r"\b(FETCH_HEAD|ORIG_HEAD)\b|\bgit\b[^\n;|&]*\b(origin|upstream)/\w+|\.git/(packed-refs|logs|objects)",
    ),
    (
        "the project's repository",
        r"\bgit\b[^\n;|&]*\b(fetch|pull|clone|ls-remote|remote\s+(add|set-url))\b",
    ),
    (
        "the project's repository",
        r"https?://([\w-]+\.)*(github(usercontent)?|gitlab|codeload\.github|bitbucket)\.(com|org)/\S+|\bgh\s+(pr|api|search|issue|repo)\b",
    ),
    (
        "a release of the project",
        r"\b(pip3?|uv\s+pip|uvx?)\b[^\n;|&]*\bdownload\b|\bpip3?\b[^\n;|&]*\binstall\b[^\n;|&]*(git\+|https?://)|https?://(files\.pythonhosted|pypi)\.org\S*",
    ),
    (
        "the benchmark's files",
        r"(?i)swe[-_]?bench|princeton-nlp|FAIL_TO_PASS|PASS_TO_PASS|\b(gold|test)\.patch\b|\btests\.json\b|\bhuggingface\.co\b|/(experiments|mirrors|installs|datasets)/|/(s3|s6)/",
    ),
    ("installed copies", r"\bsite-packages\b|\bdist-packages\b"),
];

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let rules = RULES.iter();
    rules
        .filter_map(|(what, pattern)| Some((*what, Regex::new(pattern).ok()?)))
        .collect()
});

/// One line for each step that looks like it: its turn, what was looked for, and its words.
pub fn peeking(trajectory: &Trajectory) -> Vec<String> {
    let mut found = Vec::new();
    for (turn, calls) in trajectory.turns.iter().map(|turn| &turn.calls).enumerate() {
        for call in calls {
            let mut texts = Vec::new();
            collect(&call.arguments, &mut texts);
            for text in texts {
                found.extend(look(text).map(|(what, line)| {
                    let line: String = line.chars().take(TOLD).collect();
                    format!("turn {}: {} looks for {what}: {line}", turn + 1, call.name)
                }));
            }
        }
    }
    found
}

/// The first line that fits the first rule that fits any.
fn look(text: &str) -> Option<(&'static str, &str)> {
    PATTERNS.iter().find_map(|(what, pattern)| {
        let line = text.lines().find(|line| pattern.is_match(line))?;
        Some((*what, line.trim()))
    })
}

/// Short texts of any kind: a command, a path, an address. What is written into a file is the fix.
fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if !WRITTEN.contains(&name.as_str()) {
                    collect(value, texts);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Arguments that hold what is written rather than what is done, as agents name them.
const WRITTEN: [&str; 10] = [
    "content",
    "new_string",
    "old_string",
    "new_str",
    "old_str",
    "file_text",
    "insert_text",
    "text",
    "patch",
    "newString",
];
