//! SWE-bench's rows: JSON, a JSON list or JSONL, the classic twelve fields and those of later sets.
//!
//! A field that is missing or of another kind refuses its row, and says so.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Refused;
use crate::instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun};

pub(super) fn parse(text: &str, dataset: &str) -> Result<Vec<Result<Instance, Refused>>, String> {
    let rows = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(rows)) => rows,
        Ok(one @ Value::Object(_)) => vec![one],
        Ok(_) => return Err("it is neither a row, a list of rows nor lines of JSON".to_owned()),
        Err(whole) => {
            let lines = text
                .lines()
                .enumerate()
                .filter(|(_, line)| !line.trim().is_empty());
            let mut rows = Vec::new();
            for (at, line) in lines {
                let row = serde_json::from_str(line);
                // A file that is one JSON value spread over lines is best told by its own error.
                rows.push(row.map_err(|error| match at {
                    0 => format!("it is no JSON: {whole}"),
                    _ => format!("line {}: {error}", at + 1),
                })?);
            }
            rows
        }
    };
    Ok(rows
        .into_iter()
        .enumerate()
        .map(|(at, row)| instance(row, dataset, at))
        .collect())
}

fn instance(row: Value, dataset: &str, at: usize) -> Result<Instance, Refused> {
    let nameless = || format!("row {}", at + 1);
    let Value::Object(row) = row else {
        return Err((nameless(), "it is no object".to_owned()));
    };
    let id = match row.get("instance_id") {
        Some(Value::String(id)) if !id.trim().is_empty() => id.clone(),
        _ => {
            return Err((
                nameless(),
                "it has no instance_id: every row needs one".to_owned(),
            ));
        }
    };
    let row = Row(row);
    build(&row, &id, dataset).map_err(|why| (id, why))
}

fn build(row: &Row, id: &str, dataset: &str) -> Result<Instance, String> {
    let local = row.local()?;
    let offline = local.as_ref().and_then(|local| local.offline.clone());
    let (lists, source) = match &offline {
        Some(offline) => (
            (offline.fail_to_pass.clone(), offline.pass_to_pass.clone()),
            offline.source.clone().into(),
        ),
        None => {
            let lists = (
                row.tests("FAIL_TO_PASS", "fail_to_pass")?,
                row.tests("PASS_TO_PASS", "pass_to_pass")?,
            );
            let source = Source::Git {
                url: row.optional("repo_url")?,
                commit: row.text("base_commit")?,
            };
            (lists, source)
        }
    };
    let answers = Answers {
        gold_patch: row.text("patch")?,
        test_patch: row.text("test_patch")?,
        fail_to_pass: lists.0,
        pass_to_pass: lists.1,
        test_assets: None,
    };
    Ok(Instance {
        id: id.to_owned(),
        repo: row.text("repo")?,
        version: row.optional("version")?.unwrap_or_default(),
        base_commit: row.text("base_commit")?,
        problem_statement: row.text("problem_statement")?,
        hints: row.optional("hints_text")?.unwrap_or_default(),
        created_at: row.optional("created_at")?.unwrap_or_default(),
        environment_setup_commit: row
            .optional("environment_setup_commit")?
            .unwrap_or_default(),
        difficulty: row.optional("difficulty")?.unwrap_or_default(),
        dataset: row
            .optional("dataset")?
            .unwrap_or_else(|| dataset.to_owned()),
        split: row.optional("split")?.unwrap_or_default(),
        answers,
        source,
        tests: tests(row, offline.as_ref())?,
        recipe: recipe(row, offline)?,
    })
}

fn tests(row: &Row, offline: Option<&Offline>) -> Result<TestPlan, String> {
    let (run, parser) = match (offline, row.optional("eval_script")?) {
        (Some(offline), _) => (
            TestRun::Command {
                command: offline.test_cmd.clone(),
            },
            Some(offline.log_format.clone()),
        ),
        (None, Some(text)) if !text.is_empty() => {
            (TestRun::Script { text }, row.optional("log_parser")?)
        }
        (None, _) => match row.optional("test_cmd")? {
            Some(command) => (TestRun::Command { command }, row.optional("log_parser")?),
            None => (TestRun::Official, row.optional("log_parser")?),
        },
    };
    Ok(TestPlan {
        run,
        parser: parser.unwrap_or_default(),
        fail_only: row.optional("eval_type")?.as_deref() == Some("fail_only"),
        time_limit: row.number("test_timeout")?.map(Duration::from_secs),
    })
}

fn recipe(row: &Row, offline: Option<Offline>) -> Result<Recipe, String> {
    let image = match row.optional("image")? {
        Some(image) => image,
        None => row
            .optional("docker_image")?
            .or(row.optional("image_name")?)
            .unwrap_or_default(),
    };
    Ok(match offline {
        Some(offline) => Recipe {
            python: offline.python,
            deps: offline.deps,
            editable: offline.install_source_editable,
            env: offline.env,
            programs: Vec::new(),
            image,
            setup: offline.setup,
        },
        None => Recipe {
            image,
            ..Recipe::default()
        },
    })
}

/// How a row is run from the package registry alone.
#[derive(Debug, Clone, Deserialize)]
struct Local {
    offline: Option<Offline>,
}

#[derive(Debug, Clone, Deserialize)]
struct Offline {
    source: Sdist,
    #[serde(default)]
    python: String,
    #[serde(default)]
    deps: Vec<String>,
    #[serde(default)]
    install_source_editable: bool,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    setup: Vec<String>,
    test_cmd: String,
    log_format: String,
    #[serde(rename = "FAIL_TO_PASS")]
    fail_to_pass: Vec<String>,
    #[serde(rename = "PASS_TO_PASS")]
    pass_to_pass: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Sdist {
    project: String,
    version: String,
    file: String,
    sha256: String,
}

impl From<Sdist> for Source {
    fn from(
        Sdist {
            project,
            version,
            file,
            sha256,
        }: Sdist,
    ) -> Self {
        Self::Sdist {
            project,
            version,
            file,
            sha256,
        }
    }
}

struct Row(Map<String, Value>);

impl Row {
    fn text(&self, name: &str) -> Result<String, String> {
        self.optional(name)?
            .ok_or_else(|| format!("field {name} is missing: the row cannot be used without it"))
    }

    fn optional(&self, name: &str) -> Result<Option<String>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            // Some copies hold versions and times as numbers.
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(format!("field {name} is {}, not text", kind(other))),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| format!("field {name} is no whole number of seconds")),
        }
    }

    /// A list, or a list written out as JSON text, as the hub's copies have it.
    fn tests(&self, name: &str, small: &str) -> Result<Vec<String>, String> {
        let Some(value) = self.0.get(name).or_else(|| self.0.get(small)) else {
            return Err(format!(
                "field {name} is missing: nothing says which tests decide"
            ));
        };
        let read: Option<Vec<String>> = match value {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => serde_json::from_value(other.clone()).ok(),
        };
        read.ok_or_else(|| {
            format!("field {name} is neither a list of tests nor one written as JSON text")
        })
    }

    fn local(&self) -> Result<Option<Local>, String> {
        let local = self.0.get("_local").cloned();
        local
            .map(|local| {
                serde_json::from_value(local).map_err(|error| format!("field _local: {error}"))
            })
            .transpose()
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
