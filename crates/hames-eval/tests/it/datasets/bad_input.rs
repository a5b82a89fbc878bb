//! What is asked for and is not there, is there twice, or is not whole.

use std::fs;

use hames_eval::{mini, plan::Filter};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{all, data, ids, refusal, row};

fn wanted(ids: &[&str]) -> Filter {
    Filter {
        ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        ..Filter::default()
    }
}

fn benchmark() -> TempDir {
    let folder = TempDir::new().unwrap();
    mini::lay_out(folder.path()).unwrap();
    folder
}

#[test]
fn ids_and_globs_choose() {
    let folder = benchmark();
    let chosen = |names: &[&str]| {
        let loaded = hames_eval::datasets::load(folder.path(), &wanted(names)).unwrap();
        ids(&loaded).join(" ")
    };
    assert_eq!(chosen(&["mini__cache-2"]), "mini__cache-2");
    assert_eq!(
        chosen(&["mini__units-9", "mini__cache-2"]),
        "mini__cache-2 mini__units-9"
    );
    assert_eq!(
        chosen(&["mini__r*", "*-8"]),
        "mini__checks-8 mini__report-3 mini__rotate-10"
    );
    assert_eq!(
        chosen(&["mini__{cache,units}-?"]),
        "mini__cache-2 mini__units-9"
    );
}

#[test]
fn repository_split_and_limit_choose() {
    let folder = benchmark();
    let load = |filter: &Filter| hames_eval::datasets::load(folder.path(), filter).unwrap();
    let repos = vec!["mini/cache".to_owned(), "mini/units".to_owned()];
    let filter = Filter {
        repos,
        ..Filter::default()
    };
    assert_eq!(ids(&load(&filter)), ["mini__cache-2", "mini__units-9"]);
    let filter = Filter {
        split: Some("test".to_owned()),
        limit: Some(3),
        ..Filter::default()
    };
    assert_eq!(
        ids(&load(&filter)),
        ["mini__cache-2", "mini__checks-8", "mini__command-12"]
    );
}

#[test]
fn an_unknown_id_names_those_that_may_be_meant() {
    let folder = benchmark();
    let said = |name: &str| refusal(folder.path(), &wanted(&["mini__cache-2", name]));
    assert_eq!(
        said("mini__intervls-1"),
        "no task is called mini__intervls-1: did you mean mini__intervals-1?"
    );
    assert_eq!(
        said("cache"),
        "no task is called cache: did you mean mini__cache-2?"
    );
    assert_eq!(
        said("django__*"),
        "no task is called django__*: there are 12 others; `hames eval list` names them"
    );
    assert!(said("mini__[").starts_with("mini__[: "));
}

#[test]
fn an_unknown_repository_or_split_names_those_that_there_are() {
    let folder = benchmark();
    let filter = Filter {
        split: Some("dev".to_owned()),
        ..Filter::default()
    };
    assert_eq!(
        refusal(folder.path(), &filter),
        "no task is of the split dev: there is test"
    );
    let filter = Filter {
        repos: vec!["mini/cash".to_owned()],
        ..wanted(&["*e-2", "*-9"])
    };
    assert_eq!(
        refusal(folder.path(), &filter),
        "no task is of the repository mini/cash: there is mini/cache, mini/units"
    );
    let filter = Filter {
        split: Some("dev".to_owned()),
        ..Filter::default()
    };
    assert_eq!(
        refusal(&data("lower_case.json"), &filter),
        "no task is of the split dev: no task says which split it belongs to"
    );
}

#[test]
fn a_task_that_is_there_twice_is_an_error_until_one_is_chosen() {
    let folder = TempDir::new().unwrap();
    let (first, second) = (folder.path().join("a.json"), folder.path().join("b.json"));
    fs::write(&first, json!([row("a__b-1"), row("a__b-2")]).to_string()).unwrap();
    fs::write(&second, json!([row("a__b-2"), row("a__b-3")]).to_string()).unwrap();
    let expected = format!(
        "these tasks are there more than once: a__b-2 ({}, {}); name one of their files, or remove the others",
        first.display(),
        second.display()
    );
    assert_eq!(refusal(folder.path(), &Filter::default()), expected);
    assert_eq!(refusal(folder.path(), &wanted(&["a__b-2"])), expected);
    let loaded = hames_eval::datasets::load(folder.path(), &wanted(&["*-1", "*-3"])).unwrap();
    assert_eq!(ids(&loaded), ["a__b-1", "a__b-3"]);
}

/// What each bad row is refused with, while the good one beside it goes on.
fn refused(row: &Value) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.json");
    fs::write(&path, json!([super::row("good__one-1"), row]).to_string()).unwrap();
    let mut loaded = all(&path);
    assert_eq!(ids(&loaded), ["good__one-1"]);
    assert_eq!(loaded.refused.len(), 1);
    loaded.refused.remove(0).1
}

#[test]
fn a_missing_field_is_named_with_its_task_and_what_to_do() {
    let needed = [
        "repo",
        "base_commit",
        "patch",
        "test_patch",
        "problem_statement",
        "FAIL_TO_PASS",
        "PASS_TO_PASS",
    ];
    for field in needed {
        let expected = format!(
            "a__b-1: field {field} is missing: take the whole row from its dataset, or add the field"
        );
        let mut bad = row("a__b-1");
        bad[field] = Value::Null;
        assert_eq!(refused(&bad), expected);
        bad.as_object_mut().unwrap().remove(field);
        assert_eq!(refused(&bad), expected);
    }
    let mut bad = row("a__b-1");
    bad["instance_id"] = "  ".into();
    assert_eq!(
        refused(&bad),
        "rows.json row 2: field instance_id is missing: every row needs one"
    );
}

#[test]
fn a_field_of_another_kind_is_named() {
    let mut bad = row("a__b-1");
    bad["patch"] = json!(["no"]);
    let why = "a__b-1: field patch is a list, not text: mend it, or take the row from its dataset";
    assert_eq!(refused(&bad), why);
    for list in [
        json!("t::a, t::b"),
        json!("['t::a' 't::b']"),
        json!("['t::a"),
        json!([1]),
        json!({}),
    ] {
        let mut bad = row("a__b-1");
        bad["FAIL_TO_PASS"] = list;
        let said = refused(&bad);
        assert!(said.starts_with("a__b-1: field FAIL_TO_PASS is "), "{said}");
        assert!(
            said.ends_with("give a list of names, or one as JSON text"),
            "{said}"
        );
    }
    let mut bad = row("a__b-1");
    bad["log_parser"] = "def parse(log):\n    return {}\n".into();
    assert!(refused(&bad).contains("field log_parser is a program, which is not run here"));
    assert_eq!(refused(&json!(7)), "rows.json row 2: it is no object");
}

#[test]
fn a_task_that_every_patch_would_resolve_is_refused() {
    let mut bad = row("a__b-1");
    bad["FAIL_TO_PASS"] = json!("[]");
    bad["PASS_TO_PASS"] = json!([]);
    assert!(refused(&bad).contains("any patch would count as resolved"));
    let folder = benchmark();
    let task = folder.path().join("tasks/mini__cache-2");
    let none = r#"{"FAIL_TO_PASS": [], "PASS_TO_PASS": []}"#;
    fs::write(task.join("tests.json"), none).unwrap();
    assert!(
        all(&task).refused[0]
            .1
            .contains("any patch would count as resolved")
    );
}

#[test]
fn what_holds_no_task_says_so() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let said = |name: &str| refusal(&at(name), &Filter::default());
    assert!(said("nothing").contains("there is no such file or folder"));
    assert!(said(".").contains("no tasks in it: rows are JSON or JSONL"));
    fs::write(at("empty.jsonl"), "\n").unwrap();
    assert!(said("empty.jsonl").ends_with("empty.jsonl: it is empty"));
    fs::write(at("number.json"), "7").unwrap();
    assert!(said("number.json").contains("neither a row, a list of rows nor lines of JSON"));
    fs::write(at("torn.json"), "[{\"repo\":\n\"x\",,").unwrap();
    assert!(
        said("torn.json").contains("it is no JSON: key must be a string at line 2 column 5"),
        "{}",
        said("torn.json")
    );
}

#[test]
fn an_id_that_is_no_folders_name_writes_nowhere() {
    let why = "its instance_id is no name for a folder: it may hold no `/`, `\\`, `~` or control character, \
               begin with no dot, and have 200 bytes at most";
    let long = "x".repeat(201);
    for (id, shown) in [
        ("../../etc/x", "../../etc/x"),
        ("a\\b", "a\\\\b"),
        ("..", ".."),
        (".git", ".git"),
        ("a~2", "a~2"),
        ("a\u{0}b", "a\\0b"),
        ("a\nb", "a\\nb"),
        (&long, &long),
    ] {
        assert_eq!(refused(&row(id)), format!("{shown}: {why}"));
    }
}

#[test]
fn a_line_that_cannot_be_read_costs_itself_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.jsonl");
    let good = row("a__b-1").to_string();
    let lines = [
        b"{\"instance_id\": ".as_slice(),
        b"{\"x\": \"\xff\"}",
        good.as_bytes(),
    ];
    fs::write(&path, lines.join(&b"\r\n"[..])).unwrap();
    let loaded = all(&path);
    assert_eq!(ids(&loaded), ["a__b-1"]);
    let refused: Vec<&str> = loaded.refused.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(
        refused,
        [
            "rows.jsonl line 1: it is no JSON: EOF while parsing a value at line 1 column 15",
            "rows.jsonl line 2: it is no UTF-8: invalid utf-8 sequence of 1 bytes from index 7",
        ]
    );
}
