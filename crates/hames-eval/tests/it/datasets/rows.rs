//! Rows: JSON and JSONL, both forms of the lists, and the columns of later sets.

use std::{fs, time::Duration};

use hames_eval::instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun};
use serde_json::json;
use tempfile::TempDir;

use super::{all, data, ids, one, row};

const PATCH: &str = "diff --git a/hello.py b/hello.py\n--- a/hello.py\n+++ b/hello.py\n\
                     @@ -1 +1 @@\n-print('helo')\n+print('hello')\n";
const TEST_PATCH: &str = "diff --git a/test_hello.py b/test_hello.py\n--- a/test_hello.py\n\
                          +++ b/test_hello.py\n@@ -1 +1 @@\n-old\n+new\n";

/// The first row of `classic-test.jsonl`.
fn classic() -> Instance {
    Instance {
        id: "pallets__flask-1".to_owned(),
        repo: "pallets/flask".to_owned(),
        version: "2.0".to_owned(),
        base_commit: format!("{:040x}", 1),
        problem_statement: "Say hello\r\nproperly: ü\n".to_owned(),
        hints: String::new(),
        created_at: "2026-01-02T03:04:05Z".to_owned(),
        environment_setup_commit: format!("{:040x}", 99),
        difficulty: String::new(),
        dataset: "classic".to_owned(),
        split: "test".to_owned(),
        answers: Answers {
            gold_patch: PATCH.to_owned(),
            test_patch: TEST_PATCH.to_owned(),
            fail_to_pass: vec!["test_hello.py::test_a".to_owned()],
            pass_to_pass: vec![
                "test_hello.py::test_b[x y]".to_owned(),
                "test_hello.py::test_ü".to_owned(),
            ],
            test_assets: None,
        },
        source: Source::Git {
            url: None,
            commit: format!("{:040x}", 1),
        },
        tests: TestPlan {
            run: TestRun::Official,
            parser: String::new(),
            fail_only: false,
            time_limit: None,
        },
        recipe: Recipe::default(),
    }
}

#[test]
fn the_twelve_fields_and_lists_as_text() {
    let loaded = all(&data("classic-test.jsonl"));
    assert_eq!(loaded.refused, []);
    assert_eq!(
        ids(&loaded),
        ["pallets__flask-1", "pallets__flask-2", "pallets__flask-3"]
    );
    assert_eq!(loaded.instances[0], classic());
}

#[test]
fn lists_as_lists_and_the_difficulty_of_verified() {
    let loaded = all(&data("classic-test.jsonl"));
    let mut expected = classic();
    expected.id = "pallets__flask-2".to_owned();
    expected.base_commit = format!("{:040x}", 2);
    expected.source = Source::Git {
        url: None,
        commit: format!("{:040x}", 2),
    };
    expected.difficulty = "<15 min fix".to_owned();
    expected.answers.pass_to_pass.clear();
    assert_eq!(loaded.instances[1], expected);
}

#[test]
fn columns_of_version_five() {
    let third = all(&data("classic-test.jsonl")).instances.remove(2);
    assert_eq!(
        third.tests,
        TestPlan {
            run: TestRun::Script {
                text: "#!/bin/bash\nset -uxo pipefail\ncd /testbed\n".to_owned()
            },
            parser: "parse_log_flask".to_owned(),
            fail_only: true,
            time_limit: None,
        }
    );
    assert_eq!(
        third.recipe.image,
        "swebench/sweb.eval.x86_64.pallets_1776_flask-3:latest"
    );
}

#[test]
fn small_names_python_lists_and_commands_of_later_sets() {
    let rocket = one(&data("lower_case.json"));
    assert_eq!(
        rocket.answers.fail_to_pass,
        ["it flies | isn't stuck", "it's back"]
    );
    assert_eq!(rocket.answers.pass_to_pass, [""; 0]);
    assert_eq!(
        rocket.problem_statement,
        "Launch.\n\nRequirements:\n- it flies\n\nNew interfaces introduced:\nFunction: launch()"
    );
    let command = "npm ci\nnpm test".to_owned();
    assert_eq!(rocket.tests.run, TestRun::Command { command });
    assert_eq!(rocket.tests.parser, "gotest");
    assert_eq!(rocket.recipe.image, "acme/rocket:1");
    assert_eq!(
        (rocket.dataset.as_str(), rocket.split.as_str()),
        ("lower_case", "")
    );
}

#[test]
fn one_object_a_list_lines_and_the_hubs_answer_are_the_same_tasks() {
    let folder = TempDir::new().unwrap();
    let (first, second) = (row("a__b-1"), row("a__b-2"));
    let files = [
        ("list.json", json!([first, second]).to_string()),
        ("lines.jsonl", format!("\u{feff}{first}\n\n{second}\n")),
        ("windows.jsonl", format!("{first}\r\n{second}\r\n")),
        (
            "hub.json",
            json!({ "features": [], "rows": [
                { "row_idx": 0, "row": first }, { "row_idx": 1, "row": second },
            ]})
            .to_string(),
        ),
    ];
    let mut read = Vec::new();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let mut loaded = all(&path);
        assert_eq!(loaded.refused, [], "{name}");
        for instance in &mut loaded.instances {
            instance.dataset.clear();
        }
        read.push(loaded.instances);
    }
    assert_eq!(read[0].len(), 2);
    assert!(read.iter().all(|other| *other == read[0]));

    let path = folder.path().join("one.json");
    fs::write(&path, format!("{first:#}")).unwrap();
    assert_eq!(one(&path).id, "a__b-1");
}

#[test]
fn a_split_is_told_by_the_row_the_block_or_the_files_name() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("SWE-bench_Lite/data");
    fs::create_dir_all(&data).unwrap();
    let mut said = row("a__b-2");
    said["split"] = "dev".into();
    let mut block = row("a__b-3");
    block["_local"] = json!({ "dataset": "SWE-bench_Verified (train)" });
    let path = data.join("test-00000-of-00001.json");
    fs::write(&path, json!([row("a__b-1"), said, block]).to_string()).unwrap();
    let loaded = all(&path);
    let told: Vec<_> = loaded
        .instances
        .iter()
        .map(|one| (one.dataset.as_str(), one.split.as_str()))
        .collect();
    let lite = "SWE-bench_Lite";
    assert_eq!(
        told,
        [
            (lite, "test"),
            (lite, "dev"),
            ("SWE-bench_Verified", "train")
        ]
    );
}

#[test]
fn numbers_are_taken_for_text_and_seconds() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.json");
    let mut numbers = row("a__b-1");
    numbers["version"] = json!(2.5);
    numbers["created_at"] = json!(1_600_000_000);
    numbers["test_timeout"] = json!(90);
    fs::write(&path, numbers.to_string()).unwrap();
    let read = one(&path);
    assert_eq!(
        (read.version.as_str(), read.created_at.as_str()),
        ("2.5", "1600000000")
    );
    assert_eq!(read.tests.time_limit, Some(Duration::from_secs(90)));
}

#[cfg(feature = "parquet")]
#[test]
fn the_hubs_parquet_files_hold_the_same_rows() {
    let parquet = all(&data("test-00000-of-00001.parquet"));
    let mut lines = all(&data("classic-test.jsonl"));
    lines.instances.truncate(2);
    for instance in &mut lines.instances {
        instance.dataset = "datasets".to_owned();
    }
    assert_eq!(parquet.refused, []);
    assert_eq!(parquet.instances, lines.instances);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_parquet_is_refused_with_two_ways_out() {
    let said = super::refusal(
        &data("test-00000-of-00001.parquet"),
        &hames_eval::plan::Filter::default(),
    );
    assert!(
        said.contains("test-00000-of-00001.parquet: Parquet is read only by"),
        "{said}"
    );
    assert!(
        said.contains("--features parquet") && said.contains("to_json"),
        "{said}"
    );
}
