//! The records beside the checkout, where they are: all of them can be used, by their own recipes.

use std::{fs, path::Path, time::Duration};

use hames_eval::{
    grading::parser_of,
    instance::{Instance, Source, TestRun},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{all, one, row};

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/swe");

fn records() -> Option<&'static Path> {
    let there = Path::new(RECORDS).is_dir();
    if !there {
        println!("skipped: there are no records beside the checkout");
    }
    there.then_some(Path::new(RECORDS))
}

fn files(kind: &str) -> Vec<std::path::PathBuf> {
    let Some(records) = records() else {
        return Vec::new();
    };
    let entries = fs::read_dir(records).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == kind))
        .collect()
}

#[test]
fn every_record_loads_and_says_how_it_is_run() {
    for path in files("json") {
        let instance = one(&path);
        let record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(instance.id, record["instance_id"]);
        assert_eq!(
            (instance.dataset.as_str(), instance.split.is_empty()),
            ("SWE-bench_Lite", false)
        );
        match record["_local"].get("offline") {
            Some(offline) => as_its_recipe_says(&instance, offline),
            None => as_its_evidence_says(&instance, &record),
        }
        let parser = parser_of(&instance).unwrap().name;
        let family = ["pytest", "django", "sympy"];
        assert!(
            family.iter().any(|name| parser.starts_with(name)),
            "{parser}"
        );
    }
}

fn as_its_recipe_says(instance: &Instance, offline: &Value) {
    let source = json!({
        "kind": "sdist",
        "project": offline["source"]["project"],
        "version": offline["source"]["version"],
        "file": offline["source"]["file"],
        "sha256": offline["source"]["sha256"],
    });
    assert_eq!(json!(instance.source), source);
    assert_eq!(
        json!(instance.answers.fail_to_pass),
        offline["FAIL_TO_PASS"]
    );
    assert_eq!(
        json!(instance.answers.pass_to_pass),
        offline["PASS_TO_PASS"]
    );
    let command = offline["test_cmd"].as_str().unwrap().to_owned();
    assert_eq!(instance.tests.run, TestRun::Command { command });
    let recipe = json!({
        "python": offline["python"],
        "deps": offline["deps"],
        "editable": offline["install_source_editable"],
        "env": offline["env"],
        "programs": [],
        "image": "",
        "setup": [],
    });
    assert_eq!(json!(instance.recipe), recipe);
}

fn as_its_evidence_says(instance: &Instance, record: &Value) {
    let commit = record["base_commit"].as_str().unwrap().to_owned();
    assert_eq!(instance.source, Source::Git { url: None, commit });
    let evidence = &record["_local"]["evidence_base_commit"];
    assert_eq!(json!(instance.recipe.deps), evidence["deps"]);
    assert_eq!(json!(instance.recipe.python), evidence["python"]);
    let command = evidence["test_cmd"].as_str().unwrap().to_owned();
    assert_eq!(instance.tests.run, TestRun::Command { command });
}

#[test]
fn every_line_of_a_whole_split_loads() {
    for path in files("jsonl") {
        let loaded = all(&path);
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert_eq!((loaded.instances.len(), loaded.refused.len()), (lines, 0));
        assert!(loaded.instances.iter().all(|one| one.split == "dev"));
    }
}

/// A record of the same layout, written for this.
fn local() -> Value {
    let mut record = row("pylint-dev__pylint-1");
    record["repo"] = "pylint-dev/pylint".into();
    record.as_object_mut().unwrap().remove("base_commit");
    record["_local"] = json!({
        "dataset": "SWE-bench_Verified (test)",
        "offline": {
            "source": {
                "kind": "pypi-sdist", "project": "pylint", "version": "2.0", "file": "pylint-2.0.tar.gz",
                "sha256": "00"
            },
            "python": "3.9.18",
            "deps": ["astroid==2.0"],
            "install_source_editable": true,
            "env": { "LANG": "C.UTF-8" },
            "test_cmd": "python -m pytest -rA t.py",
            "log_format": "pytest-rA",
            "FAIL_TO_PASS": ["t.py::c"],
            "PASS_TO_PASS": [],
            "pass_to_pass_dropped": ["t.py::d"],
            "setup_1": "make data",
            "setup_2": ["true", "make more"],
            "evidence": { "python": "3.9.18" }
        }
    });
    record
}

fn read(record: &Value) -> Result<Instance, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("one.json");
    fs::write(&path, record.to_string()).unwrap();
    let mut loaded = all(&path);
    match loaded.refused.pop() {
        Some((_, why)) => Err(why),
        None => Ok(loaded.instances.remove(0)),
    }
}

#[test]
fn an_offline_block_outranks_the_row() {
    let instance = read(&local()).unwrap();
    assert_eq!(instance.base_commit, "");
    assert_eq!(instance.answers.fail_to_pass, ["t.py::c"]);
    assert_eq!(instance.answers.pass_to_pass, [""; 0]);
    assert_eq!(instance.recipe.setup, ["make data", "true", "make more"]);
    assert_eq!(instance.tests.time_limit, None::<Duration>);
    // The repository's own reading of pytest's lines, in which its tests are named.
    assert_eq!(parser_of(&instance).unwrap().name, "pytest_options");
}

#[test]
fn a_format_that_is_not_the_repositorys_is_taken_at_its_word() {
    let mut record = local();
    record["repo"] = "django/django".into();
    assert_eq!(parser_of(&read(&record).unwrap()).unwrap().name, "pytest");
    record["repo"] = "acme/unknown".into();
    record["_local"]["offline"]["log_format"] = "django-verbosity-2".into();
    assert_eq!(parser_of(&read(&record).unwrap()).unwrap().name, "django");
}

#[test]
fn a_block_that_cannot_be_read_says_where() {
    let mut record = local();
    record["_local"]["offline"]["source"]["kind"] = "tarball".into();
    let said = read(&record).unwrap_err();
    let expected = "pylint-dev__pylint-1: field _local.offline.source: kind tarball is not known: give pypi-sdist";
    assert_eq!(said, expected);
    record["_local"]["offline"]
        .as_object_mut()
        .unwrap()
        .remove("test_cmd");
    let said = read(&record).unwrap_err();
    assert!(
        said.contains("field _local: missing field `test_cmd`"),
        "{said}"
    );
}
