//! `--json-schema FILE`: what the final answer must fit.
//!
//! A schema cannot make this process read another file or ask a server.

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::Value;

use crate::exit::usage;

pub struct Schema {
    text: String,
    validator: jsonschema::Validator,
}

impl Schema {
    pub fn read(file: &Path) -> Result<Self> {
        let problem = |why: String| usage(format!("--json-schema {}: {why}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| problem(error.to_string()))?;
        let schema = serde_json::from_str::<Value>(&text);
        let schema = schema.map_err(|error| problem(error.to_string()))?;
        let validator = jsonschema::validator_for(&schema);
        let validator = validator.map_err(|error| problem(error.to_string()))?;
        Ok(Self {
            text: schema.to_string(),
            validator,
        })
    }

    /// For the system prompt.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The answer's value; `Err` says what does not fit, for the model to read.
    pub fn fits(&self, answer: &str) -> Result<Value, String> {
        let value = serde_json::from_str::<Value>(unfenced(answer));
        let value = value.map_err(|error| format!("it is not JSON: {error}"))?;
        let error = self.validator.iter_errors(&value).next();
        let error = error.map(|error| format!("at `{}`: {error}", error.instance_path()));
        error.map_or(Ok(value), Err)
    }
}

/// Models like to put a fence around JSON; what is inside is the answer.
fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let inside = answer
        .strip_prefix("```json")
        .or_else(|| answer.strip_prefix("```"));
    let inside = inside.and_then(|rest| rest.strip_suffix("```"));
    inside.map_or(answer, str::trim)
}

#[cfg(test)]
mod tests {
    use super::unfenced;

    #[test]
    fn a_fence_is_no_part_of_the_answer() {
        let table = [
            ("{}", "{}"),
            (" {\"a\": 1}\n", "{\"a\": 1}"),
            ("```json\n{\"a\": 1}\n```", "{\"a\": 1}"),
            ("```\n[1]\n```", "[1]"),
            ("```json\n{}", "```json\n{}"),
        ];
        for (answer, value) in table {
            assert_eq!(unfenced(answer), value);
        }
    }
}
