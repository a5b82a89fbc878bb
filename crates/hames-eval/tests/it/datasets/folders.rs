//! Task folders of both kinds, and folders of whatever there is.

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use hames_eval::{
    datasets,
    instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun},
    mini,
    plan::Filter,
};
use serde_json::json;
use tempfile::TempDir;

use super::{all, data, ids, one, refusal, row};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A task folder with what the official reader asks for, and no key of ours.
fn official(folder: &Path, id: &str) {
    let task = format!(
        "instance_id: {id}\nrepo: acme/rocket\nversion: 1.10\nbase_commit: abc\nsplit: test\n\
         datasets:\n- acme/rockets\nimage: acme/rocket:1\nlog_parser: parse_log_gotest\n\
         eval_type: pass_and_fail\ncreated_at: 2026-01-02T03:04:05Z\nlanguage: go\n"
    );
    write(&folder.join("task.yaml"), &task);
    write(
        &folder.join("tests.json"),
        r#"{"FAIL_TO_PASS": ["Test/a", "no"], "PASS_TO_PASS": ["1.0"]}"#,
    );
    write(&folder.join("problem_statement.md"), "Fly\r\n");
    write(&folder.join("gold.patch"), "diff --git a/a b/a\r\n");
    write(&folder.join("test.patch"), "diff --git a/t b/t\n");
    write(&folder.join("eval.sh"), "#!/bin/bash\ncd /testbed\n");
    write(&folder.join("Dockerfile"), "FROM acme\n");
}

#[test]
fn an_official_task_folder_is_a_whole_instance() {
    let folder = TempDir::new().unwrap();
    let task = folder.path().join("rockets/tasks/acme__rocket-1");
    official(&task, "acme__rocket-1");
    write(&task.join("test_assets/t/picture.png"), "png");
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let expected = Instance {
        id: "acme__rocket-1".to_owned(),
        repo: "acme/rocket".to_owned(),
        version: "1.10".to_owned(),
        base_commit: "abc".to_owned(),
        problem_statement: "Fly\r\n".to_owned(),
        hints: String::new(),
        created_at: "2026-01-02T03:04:05Z".to_owned(),
        environment_setup_commit: String::new(),
        difficulty: String::new(),
        dataset: "rockets".to_owned(),
        split: "test".to_owned(),
        answers: Answers {
            gold_patch: "diff --git a/a b/a\r\n".to_owned(),
            test_patch: "diff --git a/t b/t\n".to_owned(),
            fail_to_pass: list(&["Test/a", "no"]),
            pass_to_pass: list(&["1.0"]),
            test_assets: Some(task.join("test_assets")),
        },
        source: Source::Image {
            workdir: "/testbed".into(),
        },
        tests: TestPlan {
            run: TestRun::Script {
                text: "#!/bin/bash\ncd /testbed\n".to_owned(),
            },
            parser: "parse_log_gotest".to_owned(),
            fail_only: false,
            time_limit: None,
        },
        recipe: Recipe {
            image: "acme/rocket:1".to_owned(),
            ..Recipe::default()
        },
    };
    assert_eq!(one(&task), expected);
    // The whole repository, and the folder of its tasks, are the same one task.
    assert_eq!(one(&folder.path().join("rockets")), expected);
    assert_eq!(one(&folder.path().join("rockets/tasks")), expected);
}

#[test]
fn our_keys_say_where_the_tree_is_and_what_it_needs() {
    let folder = TempDir::new().unwrap();
    let task = folder.path().join("acme__rocket-2");
    official(&task, "acme__rocket-2");
    write(&task.join("hints.md"), "Up.\n");
    let with = |more: &str| {
        official(&task, "acme__rocket-2");
        let text = fs::read_to_string(task.join("task.yaml")).unwrap();
        fs::write(task.join("task.yaml"), text + more).unwrap();
        one(&task)
    };
    fs::create_dir(task.join("tree")).unwrap();
    let read = with(
        "test_timeout: 30\nsource: {kind: folder, path: tree}\n\
         recipe: {python: '3.9', deps: [six==1.16.0], env: {A: b}, programs: [sh], setup: [make]}\n",
    );
    let path = task.join("tree");
    assert_eq!(read.source, Source::Folder { path });
    assert_eq!(read.hints, "Up.\n");
    assert_eq!(read.tests.time_limit, Some(Duration::from_secs(30)));
    let recipe = json!({
        "python": "3.9", "deps": ["six==1.16.0"], "editable": false, "env": { "A": "b" },
        "programs": ["sh"], "image": "acme/rocket:1", "setup": ["make"],
    });
    assert_eq!(json!(read.recipe), recipe);

    let read = with("source: {kind: git, url: 'https://example.org/r.git'}\n");
    let url = Some("https://example.org/r.git".to_owned());
    assert_eq!(
        read.source,
        Source::Git {
            url,
            commit: "abc".to_owned()
        }
    );
    let read = with("source: {kind: image, workdir: /src}\n");
    assert_eq!(
        read.source,
        Source::Image {
            workdir: "/src".into()
        }
    );
}

#[test]
fn a_harbor_task_is_solved_by_its_script_and_judged_by_its_tests() {
    let path = data("harbor/make-answer");
    let expected = Instance {
        id: "acme__make-answer".to_owned(),
        repo: "make-answer".to_owned(),
        version: "1.1".to_owned(),
        base_commit: String::new(),
        problem_statement: "Write 42 into answer.txt.\n".to_owned(),
        hints: String::new(),
        created_at: String::new(),
        environment_setup_commit: String::new(),
        difficulty: "easy".to_owned(),
        dataset: "harbor".to_owned(),
        split: String::new(),
        answers: Answers {
            gold_patch: "#!/bin/bash\necho 42 > answer.txt\n".to_owned(),
            ..Answers::default()
        },
        source: Source::Image {
            workdir: "/work".into(),
        },
        tests: TestPlan {
            run: TestRun::Reward {
                tests: path.join("tests"),
            },
            parser: "reward".to_owned(),
            fail_only: false,
            time_limit: Some(Duration::from_millis(30_500)),
        },
        recipe: Recipe {
            image: "acme/make-answer:1".to_owned(),
            ..Recipe::default()
        },
    };
    assert_eq!(one(&path), expected);
    assert_eq!(one(&data("harbor")), expected);
}

#[test]
fn a_harbor_task_without_an_image_has_its_tree_in_its_folder() {
    let folder = TempDir::new().unwrap();
    let task = folder.path().join("plain");
    write(&task.join("task.toml"), "[verifier.env]\nSECRET = \"s\"\n");
    write(&task.join("instruction.md"), "Do it.\n");
    write(&task.join("tests/test.sh"), "exit 0\n");
    write(&task.join("environment/a"), "a\n");
    let loaded = all(&task);
    let instance = &loaded.instances[0];
    let path = task.join("environment");
    assert_eq!(instance.source, Source::Folder { path });
    assert_eq!(instance.id, "plain");
    // What the tests are told in secret would reach the agent by its environment.
    assert!(instance.recipe.env.is_empty());
    assert_eq!(loaded.notes.len(), 2, "{:?}", loaded.notes);
    assert!(loaded.notes[0].starts_with("plain: no docker_image is named"));
    assert!(loaded.notes[1].contains("[verifier.env] are not passed on"));
}

#[test]
fn a_harbor_task_of_another_kind_is_refused() {
    let folder = TempDir::new().unwrap();
    let task = folder.path().join("plain");
    write(&task.join("instruction.md"), "Do it.\n");
    let said = |toml: &str| {
        write(&task.join("task.toml"), toml);
        all(folder.path()).refused.remove(0).1
    };
    assert!(said("schema_version = '2.0'").contains("schema_version 2.0 is not known: 1.x is"));
    assert!(said("[[steps]]\nname = 'a'").contains("it has steps"));
    assert!(said("[task]").contains("tests/test.sh is missing"));
    assert!(said("[task").starts_with("plain: task.toml: "));
}

#[test]
fn a_folder_may_hold_all_of_them_one_level_deep() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    official(&root.join("acme__rocket-1"), "acme__rocket-1");
    official(&root.join("more/acme__rocket-2"), "acme__rocket-2");
    official(&root.join("more/deep/acme__rocket-3"), "acme__rocket-3");
    write(&root.join("rows.json"), &row("a__b-1").to_string());
    write(&root.join("more/lines.jsonl"), &row("a__b-2").to_string());
    write(&root.join("README.md"), "no task");
    let predictions = r#"{"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": ""}"#;
    write(&root.join("predictions.jsonl"), predictions);
    write(
        &root.join("preds.json"),
        &format!("{{\"a__b-1\": {predictions}}}"),
    );
    symlink(data("harbor/make-answer"), root.join("z")).unwrap();
    let loaded = all(root);
    assert_eq!(loaded.refused, []);
    let expected = [
        "acme__rocket-1",
        "acme__rocket-2",
        "a__b-2",
        "a__b-1",
        "acme__make-answer",
    ];
    assert_eq!(ids(&loaded), expected);
    let left_out = loaded
        .notes
        .iter()
        .filter(|note| note.contains("holds predictions, not tasks"));
    assert_eq!(left_out.count(), 2, "{:?}", loaded.notes);

    let said = refusal(&root.join("predictions.jsonl"), &Filter::default());
    assert!(
        said.ends_with("it holds predictions: name the tasks that they are for"),
        "{said}"
    );
}

#[test]
fn one_bad_file_of_many_costs_itself_alone() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    official(&root.join("acme__rocket-1"), "acme__rocket-1");
    official(&root.join("acme__rocket-2"), "acme__rocket-2");
    fs::remove_file(root.join("acme__rocket-2/gold.patch")).unwrap();
    write(&root.join("a.json"), "{");
    write(
        &root.join("b.jsonl"),
        &format!("{}\n{{\"torn\": \n", row("a__b-1")),
    );
    let loaded = all(root);
    assert_eq!(ids(&loaded), ["acme__rocket-1", "a__b-1"]);
    let refused: Vec<&str> = loaded.refused.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(refused, ["a.json", "acme__rocket-2", "b.jsonl line 2"]);
    let why = &loaded.refused[1].1;
    assert_eq!(
        why,
        "acme__rocket-2: gold.patch is missing: a task folder needs it"
    );
}

#[test]
fn a_folder_of_another_name_is_noted_and_an_old_task_is_told_apart() {
    let folder = TempDir::new().unwrap();
    official(&folder.path().join("other"), "acme__rocket-1");
    let old = "instruction: Do it.\ndifficulty: easy\n";
    write(&folder.path().join("old/task.yaml"), old);
    let loaded = all(folder.path());
    assert_eq!(
        loaded.notes,
        ["other holds the task acme__rocket-1: name the folder after it"]
    );
    let why = &loaded.refused[0].1;
    assert!(
        why.contains("it is a task of Terminal-Bench 1: convert it"),
        "{why}"
    );
}

/// Whoever goes on with a run may stand elsewhere.
#[test]
fn paths_of_a_task_do_not_depend_on_where_it_is_read_from() {
    let instances = datasets::load(Path::new("test_data/datasets/harbor"), &Filter::default());
    let TestRun::Reward { tests } = instances.unwrap().instances.remove(0).tests.run else {
        panic!("it is judged by a reward");
    };
    assert_eq!(tests, data("harbor/make-answer/tests"));
}

/// W-12: what is told to the agent holds none of it.
#[test]
fn req_w12_answers_stand_in_the_answers_alone() {
    let folder = TempDir::new().unwrap();
    mini::lay_out(folder.path()).unwrap();
    let mut read = all(folder.path()).instances;
    read.extend(all(&data("classic-test.jsonl")).instances);
    read.extend(all(&data("lower_case.json")).instances);
    read.push(one(&data("harbor/make-answer")));
    assert_eq!(read.len(), 17);
    for mut instance in read {
        let answers = std::mem::take(&mut instance.answers);
        // The script and the folder of the tests are S6's, and laid after the agent has ended.
        instance.tests.run = TestRun::Official;
        let told = json!(instance).to_string();
        let secrets = answers.fail_to_pass.iter().chain(&answers.pass_to_pass);
        for secret in secrets.chain([&answers.gold_patch, &answers.test_patch]) {
            let text = json!(secret).to_string();
            let inner = text.trim_matches('"');
            assert!(
                inner.is_empty() || !told.contains(inner),
                "{}: {secret}",
                instance.id
            );
        }
    }
}
