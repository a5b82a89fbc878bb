//! Grades a corpus of logs (JSON lines on stdin), one line of result each: what `tests/official/compare.py`
//! holds against the official packages.

use std::io::{self, BufRead, Write};

use hames_eval::{
    grading::{self, Version},
    instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Case {
    version: Version,
    parser: String,
    fail_only: bool,
    log: String,
    fail_to_pass: Vec<String>,
    pass_to_pass: Vec<String>,
    /// Of the instance and of its project: some parsers go by them.
    #[serde(default = "nobody")]
    id: String,
    #[serde(default)]
    project: String,
}

fn nobody() -> String {
    "a__b-1".to_owned()
}

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout());
    for line in io::stdin().lock().lines() {
        let case: Case = serde_json::from_str(&line?)?;
        writeln!(out, "{}", graded(case))?;
    }
    out.flush()
}

fn graded(case: Case) -> Value {
    let instance = instance(&case);
    let parser = grading::parser_of(&instance).ok();
    let statuses = parser.and_then(|parser| grading::statuses(&case.log, parser, case.version));
    let told = statuses.map(|map| {
        let rows = map
            .iter()
            .map(|(test, status)| (test.to_owned(), json!(status.as_str())));
        Value::Object(rows.collect::<Map<String, Value>>())
    });
    let verdict = grading::grade_log(&instance, case.version, &case.log);
    let report = grading::report::instance_report(&instance.id, case.version, &verdict);
    json!({"statuses": told, "report": report[&instance.id]})
}

fn instance(case: &Case) -> Instance {
    Instance {
        id: case.id.clone(),
        repo: "nobody/nothing".to_owned(),
        version: case.project.clone(),
        base_commit: String::new(),
        problem_statement: String::new(),
        hints: String::new(),
        created_at: String::new(),
        environment_setup_commit: String::new(),
        difficulty: String::new(),
        dataset: String::new(),
        split: String::new(),
        answers: Answers {
            fail_to_pass: case.fail_to_pass.clone(),
            pass_to_pass: case.pass_to_pass.clone(),
            ..Answers::default()
        },
        source: Source::Git {
            url: None,
            commit: String::new(),
        },
        tests: TestPlan {
            run: TestRun::Official,
            parser: case.parser.clone(),
            fail_only: case.fail_only,
            time_limit: None,
        },
        recipe: Recipe::default(),
    }
}
