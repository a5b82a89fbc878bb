//! A session's journal as its file says it, line by line.
//!
//! It reads lines whole, and knows no more of entries than it asks about.

use std::{fs, io, path::Path};

use serde_json::Value;

#[derive(Debug, Default)]
pub struct Journal {
    /// Whole lines, in order.
    lines: Vec<String>,
    /// The file ends in part of a line.
    pub torn: bool,
}

/// A call, and what the model was told of it.
pub struct Call {
    pub effect: String,
    pub told: String,
}

impl Journal {
    /// The one session's journal; empty if there is none yet.
    pub fn read(sessions: &Path) -> io::Result<Self> {
        let mut paths = Vec::new();
        if sessions.is_dir() {
            for entry in fs::read_dir(sessions)? {
                let path = entry?.path();
                let name = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                let name = name.unwrap_or_default();
                if name.ends_with(".jsonl") && !name.ends_with(".run.jsonl") {
                    paths.push(path);
                }
            }
        }
        // One that was killed before its prompt was written is begun anew, beside it.
        let mut journals = Vec::new();
        for path in paths {
            journals.push(Self::of(&fs::read(path)?));
        }
        let longest = journals
            .into_iter()
            .max_by_key(|journal| journal.lines.len());
        Ok(longest.unwrap_or_default())
    }

    fn of(bytes: &[u8]) -> Self {
        let end = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let (whole, rest) = bytes.split_at(end);
        let whole = String::from_utf8_lossy(whole);
        Self {
            lines: whole.lines().map(str::to_owned).collect(),
            torn: !rest.is_empty(),
        }
    }

    /// The first line of this one that is not in its place in a later one.
    pub fn lost_in(&self, later: &Self) -> Option<&str> {
        let differs = |(index, line): &(usize, &String)| later.lines.get(*index) != Some(*line);
        let lost = self.lines.iter().enumerate().find(differs);
        // What was begun anew had nothing in it that anyone had said.
        lost.filter(|_| self.has_prompt())
            .map(|(_, line)| line.as_str())
    }

    pub fn has_prompt(&self) -> bool {
        self.entries("user").next().is_some()
    }

    pub fn is_complete(&self) -> bool {
        let last = self.entries("query_finished").last();
        last.is_some_and(|entry| entry["outcome"]["outcome"] == "completed")
    }

    /// Every call that was asked for, in order, with the last result that names it.
    pub fn calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for entry in self.entries("assistant") {
            for block in entry["message"]["blocks"].as_array().into_iter().flatten() {
                if block["type"] != "tool_call" {
                    continue;
                }
                let input = block["input"].as_str().unwrap_or_default();
                calls.push(Call {
                    effect: effect_of(input).unwrap_or_default(),
                    told: self.told(&block["id"]),
                });
            }
        }
        calls
    }

    fn told(&self, id: &Value) -> String {
        let mut results = self
            .entries("tool_finished")
            .map(|entry| entry["result"].clone());
        let result = results
            .find(|result| result["call"] == *id)
            .unwrap_or_default();
        let content = result["content"].as_array();
        let texts = content
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str());
        let texts: String = texts.collect();
        format!(
            "{}: {texts}",
            result["status"].as_str().unwrap_or("nothing")
        )
    }

    fn entries(&self, kind: &str) -> impl Iterator<Item = Value> {
        let entries = self
            .lines
            .iter()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        entries.filter(move |entry| entry["entry"] == kind)
    }
}

/// `echo LINE >> effects.txt` has the effect `LINE`.
fn effect_of(input: &str) -> Option<String> {
    let input: Value = serde_json::from_str(input).ok()?;
    let command = input["command"].as_str()?;
    let (line, _) = command.strip_prefix("echo ")?.split_once(" >>")?;
    Some(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"entry":"user","seq":1}"#;
    const ASKED: &str = r#"{"entry":"assistant","message":{"blocks":[{"type":"tool_call","id":"a","input":"{\"command\":\"echo 1-left >> effects.txt; sleep 1\"}"}]}}"#;
    const TOLD: &str = r#"{"entry":"tool_finished","result":{"call":"a","status":"interrupted","content":[{"type":"text","text":"its effect is unknown"}]}}"#;

    fn journal(lines: &[&str]) -> Journal {
        Journal::of(lines.join("\n").as_bytes())
    }

    #[test]
    fn a_line_that_was_there_must_stay() {
        let before = journal(&[HEAD, ASKED, ""]);
        assert_eq!(before.lost_in(&journal(&[HEAD, ASKED, TOLD, ""])), None);
        assert_eq!(before.lost_in(&journal(&[HEAD, TOLD, ""])), Some(ASKED));
        assert_eq!(before.lost_in(&journal(&[HEAD, ""])), Some(ASKED));
    }

    #[test]
    fn a_torn_line_is_no_line() {
        let torn = journal(&[HEAD, ASKED]);
        assert!(torn.torn && torn.calls().is_empty());
    }

    #[test]
    fn a_call_is_named_by_its_effect_and_says_what_the_model_was_told() {
        let calls = journal(&[HEAD, ASKED, TOLD, ""]).calls();
        let calls: Vec<_> = calls
            .iter()
            .map(|call| (call.effect.as_str(), call.told.as_str()))
            .collect();
        assert_eq!(calls, [("1-left", "interrupted: its effect is unknown")]);
    }
}
