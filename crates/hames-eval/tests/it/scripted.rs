//! A scripted model's tool calls, made one by one in a real checkout, bring about the gold patch.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{fs, path::Path, process::Command};

use hames_eval::{
    datasets,
    instance::{Instance, TestRun},
    mini,
    plan::Filter,
    scripted::{Dialect, scenario_for},
};
use hames_testkit::server::Scenario;
use serde_json::Value;
use tempfile::TempDir;

const DIALECTS: [Dialect; 3] = [Dialect::Hames, Dialect::QwenCode, Dialect::MiniSweAgent];

fn benchmark() -> (TempDir, Vec<Instance>) {
    let folder = TempDir::new().unwrap();
    mini::lay_out(folder.path()).unwrap();
    let loaded = datasets::load(folder.path(), &Filter::default()).unwrap();
    (folder, loaded.instances)
}

fn sh(command: &str, folder: &Path) -> String {
    let ran = Command::new("bash")
        .args(["-c", command])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// A repository that holds the task's tree.
fn checkout(repo: &Path) -> TempDir {
    let folder = TempDir::new().unwrap();
    let said = sh(
        &format!(
            "cp -a '{}/.' . && git init -q && git add -A -f && git -c user.name=t -c user.email=t@t commit -qm base",
            repo.display()
        ),
        folder.path(),
    );
    assert_eq!(said, "");
    folder
}

/// What is there now against the base: names, modes and content.
fn diff(tree: &Path) -> String {
    sh("git add -A -f && git diff --cached --binary HEAD", tree)
}

fn calls(scenario: &str) -> Vec<(String, Value)> {
    let scenario: Value = serde_json::from_str(scenario).unwrap();
    let turns = scenario["turns"].as_array().unwrap().iter();
    let calls = turns.flat_map(|turn| turn["calls"].as_array().cloned().unwrap_or_default());
    calls
        .map(|call| {
            let input = match call["raw"].as_str() {
                Some(raw) => serde_json::from_str(raw).unwrap(),
                None => call["input"].clone(),
            };
            (call["name"].as_str().unwrap().to_owned(), input)
        })
        .collect()
}

/// Makes a call as the agent's tool would, and gives what it says.
fn make(name: &str, input: &Value, tree: &Path) -> String {
    let text = |key: &str| input[key].as_str().unwrap();
    match name {
        "bash" | "run_shell_command" => sh(text("command"), tree),
        "read" => fs::read_to_string(tree.join(text("path"))).unwrap(),
        "write" => {
            let path = tree.join(text("path"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text("content")).unwrap();
            String::new()
        }
        "edit" => {
            let path = tree.join(text("path"));
            let before = fs::read_to_string(&path).unwrap();
            assert_eq!(before.matches(text("old")).count(), 1, "{input}");
            fs::write(path, before.replace(text("old"), text("new"))).unwrap();
            String::new()
        }
        other => panic!("no tool is called {other}"),
    }
}

#[test]
fn each_dialect_plays_each_gold_patch() {
    let (folder, instances) = benchmark();
    for instance in &instances {
        let task = folder.path().join("tasks").join(&instance.id);
        let expected = checkout(&task.join("repo"));
        sh(
            &format!("git apply '{}'", task.join("gold.patch").display()),
            expected.path(),
        );
        let expected = diff(expected.path());
        for dialect in DIALECTS {
            let tree = checkout(&task.join("repo"));
            let said: Vec<String> = calls(&scenario_for(instance, dialect))
                .iter()
                .map(|(name, input)| make(name, input, tree.path()))
                .collect();
            let about = format!("{} for {dialect:?}: {said:?}", instance.id);
            assert_eq!(diff(tree.path()), expected, "{about}");
            assert!(
                said.iter().any(|said| said.contains("all there")),
                "{about}"
            );
        }
    }
}

#[test]
fn what_an_edit_missed_is_mended() {
    let (folder, instances) = benchmark();
    let instance = instances
        .iter()
        .find(|one| one.id == "mini__planner-4")
        .unwrap();
    let task = folder.path().join("tasks").join(&instance.id);
    let tree = checkout(&task.join("repo"));
    let calls = calls(&scenario_for(instance, Dialect::Hames));
    let edits: Vec<_> = calls.iter().filter(|(name, _)| name == "edit").collect();
    assert!(edits.len() > 3, "{edits:?}");
    let missed = edits[1];
    let mut last = String::new();
    for call in calls.iter().filter(|call| *call != missed) {
        last = make(&call.0, &call.1, tree.path());
    }
    assert!(last.contains("made anew"), "{last}");
    sh(
        &format!("git apply -R '{}'", task.join("gold.patch").display()),
        tree.path(),
    );
    assert_eq!(diff(tree.path()), "");
}

#[test]
fn every_scenario_is_one_that_the_server_takes() {
    let (_folder, instances) = benchmark();
    for instance in &instances {
        for dialect in DIALECTS {
            let scenario = Scenario::parse(&scenario_for(instance, dialect)).unwrap();
            let turns = scenario.turns.len();
            assert!((4..15).contains(&turns), "{}: {turns}", instance.id);
            let ends = scenario.turns.last().unwrap();
            assert_eq!(ends.calls.is_empty(), dialect != Dialect::MiniSweAgent);
        }
    }
}

#[test]
fn tools_are_called_by_their_agents_names() {
    let (_folder, instances) = benchmark();
    let called = |id: &str, dialect| {
        let instance = instances.iter().find(|one| one.id == id).unwrap();
        calls(&scenario_for(instance, dialect))
    };
    let names = |id: &str, dialect| -> Vec<String> {
        let calls = called(id, dialect).into_iter();
        calls.map(|(name, _)| name).collect()
    };
    // Renames, deletions and other line ends are no matter of text.
    let units = "mini__units-9";
    assert_eq!(
        names(units, Dialect::Hames),
        ["read", "edit", "bash", "bash"]
    );
    assert_eq!(
        names("mini__inifile-7", Dialect::Hames),
        ["read", "bash", "bash"]
    );
    assert_eq!(names(units, Dialect::QwenCode), ["run_shell_command"; 3]);
    assert_eq!(names(units, Dialect::MiniSweAgent), ["bash"; 4]);
    let (_, submit) = called(units, Dialect::MiniSweAgent).pop().unwrap();
    assert_eq!(
        submit["command"],
        "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    );
}

#[test]
fn braces_and_marks_in_a_patch_come_through() {
    let (_folder, mut instances) = benchmark();
    let instance = &mut instances[0];
    let line = "{{last_result}} END_OF_CHANGE";
    instance.answers.gold_patch = format!(
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+{line}\n+END_OF_CHANGE\n"
    );
    for dialect in DIALECTS {
        let scenario = scenario_for(instance, dialect);
        Scenario::parse(&scenario).unwrap();
        let parsed: Value = serde_json::from_str(&scenario).unwrap();
        let sent = parsed["turns"].as_array().unwrap().iter();
        let inputs = sent.flat_map(|turn| turn["calls"].as_array().cloned().unwrap_or_default());
        // What is an `input` would be filled in from the history.
        assert!(
            inputs
                .filter(|call| call["input"].to_string().contains("{{"))
                .count()
                == 0
        );
        let tree = checkout(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("src/datasets")
                .as_path(),
        );
        for (name, input) in calls(&scenario) {
            make(&name, &input, tree.path());
        }
        let written = fs::read_to_string(tree.path().join("new")).unwrap();
        assert_eq!(written, format!("{line}\nEND_OF_CHANGE\n"), "{dialect:?}");
    }
}

#[test]
fn a_task_with_a_reward_is_solved_by_its_script() {
    let (_folder, mut instances) = benchmark();
    let instance = &mut instances[0];
    instance.tests.run = TestRun::Reward {
        tests: "tests".into(),
    };
    instance.answers.gold_patch =
        "#!/bin/bash\nmkdir made && cd made\ncat > answer <<END_OF_CHANGE\n$((6 * 7))\nEND_OF_CHANGE\nmv answer last\n".to_owned();
    for dialect in DIALECTS {
        let tree = TempDir::new().unwrap();
        for (name, input) in calls(&scenario_for(instance, dialect)) {
            make(&name, &input, tree.path());
        }
        assert_eq!(
            fs::read_to_string(tree.path().join("made/last")).unwrap(),
            "42\n"
        );
    }
}

#[test]
fn an_unknown_dialect_names_the_known() {
    assert_eq!("qwen-code".parse(), Ok(Dialect::QwenCode));
    let refused = "emacs".parse::<Dialect>();
    assert_eq!(
        refused,
        Err("emacs has no scripted model: give hames, qwen-code or mini-swe-agent".to_owned())
    );
}
