//! A row of SWE-bench: the classic twelve fields, and those of later sets.
//!
//! A field that is missing or of another kind refuses its row, and says so.

use std::{path::Path, time::Duration};

use serde_json::{Map, Value};

use super::{Read, local_block::Local, test_list};
use crate::{
    instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun},
    log_parsers,
};

/// What a file's name says of its rows.
pub(super) struct Set {
    dataset: String,
    split: String,
}

const SPLITS: [&str; 5] = ["train", "dev", "test", "validation", "val"];

impl Set {
    /// `SWE-bench_Lite/data/test-00000-of-00001.parquet`, `lite-dev.jsonl`, `rows.json`.
    pub fn of(path: &Path) -> Self {
        let name = |path: &Path| {
            let stem = path.file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        };
        let stem = name(path);
        let first = stem.split('-').next().unwrap_or_default();
        if SPLITS.contains(&first) {
            let above = path.ancestors().skip(1).map(|folder| {
                let last = folder.file_name().unwrap_or_default();
                last.to_string_lossy().into_owned()
            });
            let dataset = above.into_iter().find(|folder| folder != "data");
            let (dataset, split) = (dataset.unwrap_or_default(), first.to_owned());
            return Self { dataset, split };
        }
        match stem.rsplit_once(['-', '_']) {
            Some((dataset, split)) if SPLITS.contains(&split) => Self {
                dataset: dataset.to_owned(),
                split: split.to_owned(),
            },
            _ => Self {
                dataset: stem,
                split: String::new(),
            },
        }
    }
}

/// `place` names the row until its id does.
pub(super) fn instance(row: Value, set: &Set, place: String) -> Read {
    let Value::Object(row) = row else {
        return Err((place, "it is no object".to_owned()));
    };
    let row = Row(row);
    let id = match row.optional("instance_id") {
        Ok(Some(id)) if !id.trim().is_empty() => id,
        _ => {
            let why = "field instance_id is missing: every row needs one";
            return Err((place, why.to_owned()));
        }
    };
    build(&row, &id, set).map_err(|why| (id, why))
}

fn build(row: &Row, id: &str, set: &Set) -> Result<Instance, String> {
    let local = Local::of(&row.0)?;
    let said = local.as_ref().and_then(Local::set);
    let (dataset, split) = said.unwrap_or((&set.dataset, &set.split));
    let repo = row.text("repo")?;
    let version = row.or_empty("version")?;
    Ok(Instance {
        id: id.to_owned(),
        answers: answers(row, local.as_ref())?,
        source: source(row, local.as_ref())?,
        tests: tests(row, &repo, local.as_ref())?,
        recipe: recipe(row, &version, local.as_ref())?,
        problem_statement: statement(row)?,
        hints: row.or_empty("hints_text")?,
        base_commit: row.or_empty("base_commit")?,
        created_at: row.or_empty("created_at")?,
        environment_setup_commit: row.or_empty("environment_setup_commit")?,
        difficulty: row.or_empty("difficulty")?,
        dataset: row
            .optional("dataset")?
            .unwrap_or_else(|| dataset.to_owned()),
        split: row.optional("split")?.unwrap_or_else(|| split.to_owned()),
        repo,
        version,
    })
}

/// SWE-bench Pro tells the agent more than the issue, under these headings.
fn statement(row: &Row) -> Result<String, String> {
    let mut text = row.text("problem_statement")?;
    let more = [
        ("requirements", "Requirements"),
        ("interface", "New interfaces introduced"),
    ];
    for (field, heading) in more {
        let told = row.or_empty(field)?;
        if !told.trim().is_empty() {
            text.push_str(&format!("\n\n{heading}:\n{told}"));
        }
    }
    Ok(text)
}

fn answers(row: &Row, local: Option<&Local>) -> Result<Answers, String> {
    let (fail_to_pass, pass_to_pass) = match local.and_then(|local| local.offline.as_ref()) {
        Some(offline) => (offline.fail_to_pass.clone(), offline.pass_to_pass.clone()),
        None => (
            row.tests("FAIL_TO_PASS", "fail_to_pass")?,
            row.tests("PASS_TO_PASS", "pass_to_pass")?,
        ),
    };
    if fail_to_pass.is_empty() && pass_to_pass.is_empty() {
        return Err(
            "FAIL_TO_PASS and PASS_TO_PASS are empty: any patch would count as resolved".to_owned(),
        );
    }
    Ok(Answers {
        gold_patch: row.text("patch")?,
        test_patch: row.text("test_patch")?,
        fail_to_pass,
        pass_to_pass,
        test_assets: None,
    })
}

fn source(row: &Row, local: Option<&Local>) -> Result<Source, String> {
    match local.and_then(|local| local.offline.as_ref()) {
        Some(offline) => offline.source(),
        None => Ok(Source::Git {
            url: row.optional("repo_url")?,
            commit: row.text("base_commit")?,
        }),
    }
}

fn tests(row: &Row, repo: &str, local: Option<&Local>) -> Result<TestPlan, String> {
    let parser = row.or_empty("log_parser")?;
    if parser.contains('\n') {
        return Err(format!(
            "field log_parser is a program, which is not run here: name one of {}",
            log_parsers::names().join(", ")
        ));
    }
    let (run, parser) = match local {
        Some(Local {
            offline: Some(offline),
            ..
        }) => (command(&offline.test_cmd), as_in(repo, &offline.log_format)),
        Some(Local {
            evidence: Some(evidence),
            ..
        }) => (command(&evidence.test_cmd), parser),
        Some(_) | None => (run(row)?, parser),
    };
    Ok(TestPlan {
        run,
        parser,
        fail_only: row.or_empty("eval_type")? == "fail_only",
        time_limit: row.number("test_timeout")?.map(Duration::from_secs),
    })
}

fn run(row: &Row) -> Result<TestRun, String> {
    let script = row.or_empty("eval_script")?;
    if !script.is_empty() {
        return Ok(TestRun::Script { text: script });
    }
    Ok(match row.commands("test_cmds", "test_cmd")? {
        Some(text) => command(&text),
        None => TestRun::Official,
    })
}

fn command(text: &str) -> TestRun {
    TestRun::Command {
        command: text.to_owned(),
    }
}

/// Of the same framework there are several official readings, and names are listed in the one that
/// belongs to the repository: empty, so that it is taken.
fn as_in(repo: &str, format: &str) -> String {
    let pytest = [
        "pytest",
        "pytest_options",
        "pytest_v2",
        "matplotlib",
        "seaborn",
    ];
    let of_repo = log_parsers::by_repo(repo, log_parsers::LogOf::default());
    match of_repo.is_some_and(|parser| pytest.contains(&parser.name)) && format == "pytest-rA" {
        true => String::new(),
        false => format.to_owned(),
    }
}

fn recipe(row: &Row, version: &str, local: Option<&Local>) -> Result<Recipe, String> {
    let recipe = match local {
        Some(Local {
            offline: Some(offline),
            ..
        }) => offline.recipe()?,
        Some(Local {
            evidence: Some(evidence),
            ..
        }) => evidence.recipe(version),
        Some(_) | None => Recipe::default(),
    };
    let mut image = String::new();
    for field in ["image", "docker_image", "image_name"] {
        if image.is_empty() {
            image = row.or_empty(field)?;
        }
    }
    Ok(Recipe { image, ..recipe })
}

struct Row(Map<String, Value>);

impl Row {
    fn text(&self, name: &str) -> Result<String, String> {
        self.optional(name)?.ok_or_else(|| missing(name))
    }

    fn or_empty(&self, name: &str) -> Result<String, String> {
        Ok(self.optional(name)?.unwrap_or_default())
    }

    fn optional(&self, name: &str) -> Result<Option<String>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            // Some copies hold versions and times as numbers.
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(format!(
                "field {name} is {}, not text: mend it, or take the row from its dataset",
                kind(other)
            )),
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

    /// A list of commands is run line by line.
    fn commands(&self, list: &str, one: &str) -> Result<Option<String>, String> {
        let field = [list, one]
            .into_iter()
            .find(|field| self.0.contains_key(*field));
        match field.map(|field| (field, self.0.get(field))) {
            Some((_, Some(Value::Array(lines)))) if !lines.is_empty() => {
                let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
                let lines = lines.ok_or_else(|| format!("field {list} holds more than text"))?;
                Ok(Some(lines.join("\n")))
            }
            Some((_, Some(Value::Array(_)))) | None => Ok(None),
            Some((field, _)) => Ok(self.optional(field)?.filter(|text| !text.is_empty())),
        }
    }

    /// In capitals, or small as in the sets that came later.
    fn tests(&self, name: &str, small: &str) -> Result<Vec<String>, String> {
        let found = [name, small].into_iter().find_map(|name| self.0.get(name));
        let value = found
            .filter(|value| !value.is_null())
            .ok_or_else(|| missing(name))?;
        test_list::read(value).ok_or_else(|| {
            format!(
                "field {name} is {}, and no list of tests: give a list of names, or one as JSON text",
                kind(value)
            )
        })
    }
}

fn missing(field: &str) -> String {
    format!("field {field} is missing: take the whole row from its dataset, or add the field")
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
