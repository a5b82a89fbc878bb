//! `hames sessions`: listing, showing, exporting and removing what is kept.

use std::{fs, process::Stdio};

use serde_json::Value;

use crate::world::{HELLO, Ran, World};

fn sessions(world: &World, args: &[&str]) -> Ran {
    Ran::of(
        world
            .bare(&[&["sessions"], args].concat())
            .output()
            .unwrap(),
    )
}

const STEPS: &str = r#"{"turns": [
    {"text": "Looking.", "calls": [{"name": "bash", "input": {"command": "echo found it"}}]},
    {"text": "There it is."}
]}"#;

#[test]
fn a_list_says_when_where_how_far_how_it_ended_and_what_was_asked() {
    let world = World::new(STEPS);
    assert_eq!(sessions(&world, &["list"]).code, 0);
    world.run(&[
        "-p",
        "look for\n  the needle",
        "--permission-mode",
        "full-auto",
    ]);
    world.run(&[
        "-p",
        "a word",
        "--max-turns",
        "1",
        "--permission-mode",
        "full-auto",
    ]);
    let listed = sessions(&world, &["list"]);
    let rows: Vec<_> = listed.out.lines().collect();
    assert_eq!(rows.len(), 3, "{listed:?}");
    let row = |words: &str| *rows.iter().find(|row| row.ends_with(words)).unwrap();
    let done = row("look for the needle");
    for part in ["just now", " 2  completed "] {
        assert!(done.contains(part), "{part}: {done}");
    }
    assert!(row("a word").contains(" turns "), "{listed:?}");
    let ids = world.session_ids();
    assert!(ids.iter().all(|id| listed.out.contains(id)), "{listed:?}");
    assert_eq!(sessions(&world, &[]).out.lines().count(), 3);
    assert_eq!(
        sessions(&world, &["list", "-n", "1"]).out.lines().count(),
        2
    );
}

#[test]
fn fault_g02_fault_g03_a_file_that_cannot_be_read_hides_no_other() {
    let world = World::new(HELLO);
    world.run(&["-p", "hello"]);
    let folder = world.sessions();
    fs::write(
        folder.join("20200101-000000-bad.jsonl"),
        "\u{0}\u{1}nothing\n",
    )
    .unwrap();
    fs::write(folder.join("20200101-000000-empty.jsonl"), "").unwrap();
    fs::create_dir(folder.join("20200101-000000-folder.jsonl")).unwrap();
    let good = world.session_ids();
    let good = good.iter().find(|id| !id.starts_with("2020")).unwrap();
    // A line in the middle that is no record, as a torn disk leaves one.
    let path = folder.join(format!("{good}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    let torn = text.replacen("\n{\"seq\":3", "\n{\"seq\"\n{\"seq\":3", 1);
    fs::write(&path, torn).unwrap();
    let listed = sessions(&world, &["list"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    let row = listed
        .out
        .lines()
        .find(|row| row.starts_with(good.as_str()))
        .unwrap();
    assert!(row.contains("completed") && row.contains("hello"), "{row}");
    assert_eq!(listed.out.matches("unreadable").count(), 2, "{listed:?}");
}

#[test]
fn a_session_that_did_not_end_is_unfinished() {
    let world = World::new(STEPS);
    world.run(&["-p", "look", "--permission-mode", "full-auto"]);
    let id = world.session_ids().pop().unwrap();
    let path = world.sessions().join(format!("{id}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let cut = lines
        .iter()
        .position(|line| line.contains("\"tool_started\""))
        .unwrap();
    fs::write(&path, lines[..=cut].join("\n") + "\n").unwrap();
    let listed = sessions(&world, &["list"]);
    assert!(listed.out.contains("unfinished"), "{listed:?}");
}

#[test]
fn a_session_is_shown_as_it_was_and_exported_in_three_ways() {
    let world = World::new(STEPS);
    world.run(&["-p", "look", "--permission-mode", "full-auto"]);
    let id = world.session_ids().pop().unwrap();
    let short: String = id.chars().take(17).collect();
    let shown = sessions(&world, &["show", &short]);
    let order = [
        "## User\n\nlook",
        "## Assistant\n\nLooking.",
        "→ bash {\"command\":",
        "    found it",
        "There it is.",
        "### ended: completed",
    ];
    let mut rest = shown.out.as_str();
    for part in order {
        rest = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part}: {}", shown.out))
            .1;
    }
    let journal = fs::read_to_string(world.sessions().join(format!("{id}.jsonl"))).unwrap();
    assert_eq!(sessions(&world, &["export", &id]).out, journal);
    let markdown = sessions(&world, &["export", &id, "--format", "markdown"]).out;
    assert_eq!(markdown, format!("# Session {id}\n\n{}", shown.out));
    let file = world.path("out.json");
    let file = file.to_str().unwrap();
    assert_eq!(
        sessions(&world, &["export", &id, "--format", "json", "-o", file]).out,
        ""
    );
    let object: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(object["header"]["id"], Value::from(id));
    assert_eq!(
        object["records"].as_array().unwrap().len(),
        journal.lines().count() - 1
    );
    assert_eq!(object["children"], serde_json::json!([]));
}

#[test]
fn an_export_as_one_object_holds_the_children() {
    let scenario = r#"{"turns": [{"text": "draft"}], "conversations": [
        {"when": {"prompt": "Now be the critic"}, "turns": [{"text": "{\"verdict\":\"approve\"}"}]}
    ]}"#;
    let world = World::new(scenario);
    assert_eq!(world.run(&["-p", "go", "--shape", "reflection"]).code, 0);
    let id = world.session_ids().pop().unwrap();
    let ran = sessions(&world, &["export", &id, "--format", "json"]);
    let object: Value = serde_json::from_str(&ran.out).unwrap();
    let child = &object["children"][0];
    assert_eq!(child["label"], "critic");
    assert_eq!(child["header"]["id"], Value::from(format!("{id}.1")));
    let said = child["records"].as_array().unwrap();
    assert!(
        said.iter().any(|record| record["entry"] == "assistant"),
        "{child}"
    );
}

#[test]
fn fault_g06_removing_asks_first_and_takes_children_and_logs_along() {
    let scenario = r#"{"turns": [{"text": "draft"}], "conversations": [
        {"when": {"prompt": "Now be the critic"}, "turns": [{"text": "{\"verdict\":\"approve\"}"}]}
    ]}"#;
    let world = World::new(scenario);
    world.run(&["-p", "one", "--shape", "reflection"]);
    let first = world.session_ids().pop().unwrap();
    world.run(&["-p", "two"]);
    let unasked = sessions(&world, &["rm", &first]);
    assert_eq!(unasked.code, 2, "{unasked:?}");
    assert!(unasked.err.contains("--yes"), "{unasked:?}");
    assert_eq!(world.session_ids().len(), 2);
    let wrong = sessions(&world, &["rm", "--yes", &first, "nonsense"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert_eq!(world.session_ids().len(), 2, "a wrong id removes nothing");
    let removed = sessions(&world, &["rm", "--yes", &first]);
    assert_eq!(removed.code, 0, "{removed:?}");
    let left: Vec<_> = fs::read_dir(world.sessions())
        .unwrap()
        .map(|f| f.unwrap().file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().starts_with(&first)),
        "{left:?}"
    );
    assert_eq!(world.session_ids().len(), 1);
}

#[test]
fn removing_takes_the_long_outputs_of_tools_along_and_no_others() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "yes secret | head -c 200000"}}]}, {"text": "long"}
    ]}"#;
    let world = World::new(scenario);
    let outputs = world.sessions().with_file_name("outputs");
    let kept = || -> Vec<String> {
        let files = fs::read_dir(&outputs).unwrap();
        files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    let mut ids = Vec::new();
    for _ in 0..2 {
        let ran = world.run(&["-p", "go", "--permission-mode", "full-auto"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let new = world.session_ids().into_iter().find(|id| !ids.contains(id));
        ids.extend(new);
    }
    assert_eq!(kept().len(), 2, "each run keeps what it did not show");
    assert_eq!(sessions(&world, &["rm", "--yes", &ids[0]]).code, 0);
    let left = kept();
    assert!(
        matches!(left.as_slice(), [only] if only.starts_with(&format!("{}.", ids[1]))),
        "{left:?}"
    );
}

#[test]
fn a_session_that_is_open_is_not_removed() {
    let world = World::new(r#"{"turns": [{"text": "here I", "hang": "before_end"}]}"#);
    let mut child = world.spawn(&["-p", "stay", "--output-format", "journal"], Stdio::null());
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("turn_started") {
        line.clear();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    }
    let id = world.session_ids().pop().unwrap();
    let refused = sessions(&world, &["rm", "--yes", &id]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains(&child.id().to_string()), "{refused:?}");
    assert_eq!(world.session_ids(), [id]);
}
