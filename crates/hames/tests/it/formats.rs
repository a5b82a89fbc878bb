//! What each output format writes, and where.

use serde_json::{Value, json};

use crate::world::{HELLO, World};

/// One tool turn over a file, then an answer.
const TOOLS: &str = r#"{"turns": [
    {"text": "I look.", "calls": [
        {"id": "a", "name": "read", "input": {"path": "notes.txt"}},
        {"id": "b", "name": "bash", "input": {"command": "echo seen"}}
    ], "usage": {"input": 100, "output": 10, "cache_read": 50}},
    {"text": "It says fish.", "usage": {"input": 20, "output": 5}}
]}"#;

fn world() -> World {
    let world = World::new(TOOLS);
    world.file("notes.txt", "fish\n");
    world
}

#[test]
fn text_has_the_answer_on_stdout_and_activity_on_stderr() {
    let ran = world().run(&["-p", "go", "--permission-mode", "full-auto"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "I look.\nIt says fish.\n"),
        "{ran:?}"
    );
    assert_eq!(ran.err, "· read notes.txt\n· bash echo seen\n");
}

#[test]
fn verbose_shows_what_tools_gave_and_what_it_took() {
    let ran = world().run(&["-p", "go", "--permission-mode", "full-auto", "--verbose"]);
    assert!(ran.err.contains("· bash: seen\n"), "{ran:?}");
    assert!(ran.err.contains("2 turns, 185 tokens"), "{ran:?}");
}

#[test]
fn a_retry_is_said_and_what_it_takes_back_too() {
    let scenario = r#"{"turns": [{"attempts": [
        {"text": ["This was on", " its way"], "pace": 60, "error": {"status": 529, "message": "busy", "retry_after": 0.01}},
        {"error": {"status": 429, "message": "slow down", "retry_after": 0.01}},
        {"text": "the answer"}
    ]}]}"#;
    let world = World::new(scenario);
    let ran = world.run(&["-p", "go"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("This was on"), "{ran:?}");
    assert!(ran.out.ends_with("\nthe answer\n"), "{ran:?}");
    assert!(ran.err.contains("discarded"), "{ran:?}");
    assert!(
        ran.err
            .contains("the rate limit was reached (429): slow down; next try in 0.0 s"),
        "{ran:?}"
    );
    let stream = World::new(scenario).run(&["-p", "go", "--output-format", "stream-json"]);
    let lines = stream.lines();
    let retries: Vec<_> = lines
        .iter()
        .filter(|line| line["subtype"] == "api_retry")
        .collect();
    assert_eq!(retries.len(), 2, "{stream:?}");
    assert_eq!(retries[1]["error"], "rate_limit");
    assert_eq!(retries[1]["error_status"], 429);
    assert_eq!(retries[1]["attempt"], 2);
}

#[test]
fn json_is_one_object() {
    let ran = world().run(&[
        "-p",
        "go",
        "--permission-mode",
        "full-auto",
        "--output-format",
        "json",
    ]);
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    let result = ran.result();
    assert_eq!(result["result"], "It says fish.");
    assert_eq!(result["num_turns"], 2);
    assert_eq!(result["stop_reason"], "end_turn");
    let usage = json!({"input_tokens": 120, "output_tokens": 15,
        "cache_read_input_tokens": 50, "cache_creation_input_tokens": 0});
    assert_eq!(result["usage"], usage);
    assert_eq!(result["modelUsage"]["scripted"]["outputTokens"], 15);
    assert_eq!(result["total_cost_usd"], 185.0 / 1e6);
    assert_eq!(result["permission_denials"], json!([]));
    assert!(ran.err.is_empty(), "{ran:?}");
}

#[test]
fn stream_json_speaks_claude_codes_shapes() {
    let ran = world().run(&[
        "-p",
        "go",
        "--permission-mode",
        "full-auto",
        "--output-format",
        "stream-json",
    ]);
    let lines = ran.lines();
    let kinds: Vec<_> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["system", "assistant", "user", "user", "assistant", "result"],
        "{ran:?}"
    );
    let init = &lines[0];
    assert_eq!(init["subtype"], "init");
    assert_eq!(init["permissionMode"], "bypassPermissions");
    assert!(
        init["tools"].as_array().unwrap().contains(&json!("Bash")),
        "{init}"
    );
    let content = &lines[1]["message"]["content"];
    let read =
        json!({"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "notes.txt"}});
    assert_eq!(content[0], json!({"type": "text", "text": "I look."}));
    assert_eq!(content[1], read);
    assert_eq!(lines[1]["message"]["stop_reason"], "tool_use");
    let answer = &lines[3]["message"]["content"][0];
    assert_eq!(
        (&answer["type"], &answer["tool_use_id"]),
        (&json!("tool_result"), &json!("b"))
    );
    assert_eq!(answer["is_error"], false);
    assert_eq!(
        answer["content"][0]["text"].as_str().unwrap().trim(),
        "seen"
    );
    let session = init["session_id"].clone();
    assert!(
        lines
            .iter()
            .all(|line| line["session_id"] == session && line["uuid"].is_string())
    );
    let uuids: std::collections::BTreeSet<_> =
        lines.iter().map(|line| line["uuid"].to_string()).collect();
    assert_eq!(uuids.len(), lines.len());
}

#[test]
fn a_refused_call_is_named_in_the_result() {
    let scenario = r#"{"turns": [
        {"calls": [{"id": "c", "name": "bash", "input": {"command": "touch x"}}]}, {"text": "no"}]}"#;
    let ran = World::new(scenario).run(&["-p", "go", "--output-format", "stream-json"]);
    let denied =
        json!([{"tool_name": "Bash", "tool_use_id": "c", "tool_input": {"command": "touch x"}}]);
    assert_eq!(ran.result()["permission_denials"], denied);
    assert!(
        ran.lines()
            .iter()
            .any(|line| line["subtype"] == "permission_denied")
    );
}

/// A long command is in the refusal's way, and the remedy stands behind it.
#[test]
fn a_refusal_is_shown_with_the_rule_and_the_mode_that_would_allow_it() {
    let command = format!("touch {}", "x".repeat(150));
    let scenario = format!(
        r#"{{"turns": [{{"calls": [{{"name": "bash", "input": {{"command": "{command}"}}}}]}}, {{"text": "no"}}]}}"#
    );
    let ran = World::new(&scenario).run(&["-p", "go"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let rule = format!("--allowed-tools 'Bash({command})' or --permission-mode full-auto");
    assert!(ran.err.contains(&rule), "{ran:?}");
    assert!(
        ran.err
            .ends_with("--allowed-tools or --permission-mode allows it\n"),
        "{ran:?}"
    );
}

#[test]
fn journal_prints_the_journals_own_lines() {
    let world = world();
    let ran = world.run(&[
        "-p",
        "go",
        "--permission-mode",
        "full-auto",
        "--output-format",
        "journal",
    ]);
    let id = world.session_ids().pop().unwrap();
    let file = std::fs::read_to_string(world.sessions().join(format!("{id}.jsonl"))).unwrap();
    let (_, entries) = file.split_once('\n').unwrap();
    assert_eq!(ran.out, entries);
}

#[test]
fn the_run_log_has_a_line_a_turn() {
    let world = world();
    assert_eq!(
        world
            .run(&["-p", "go", "--permission-mode", "full-auto"])
            .code,
        0
    );
    let id = world.session_ids().pop().unwrap();
    let log = std::fs::read_to_string(world.sessions().join(format!("{id}.run.jsonl"))).unwrap();
    let turns: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0]["tool_call"][1]["name"], "bash");
    assert_eq!(turns[1]["end_cause"], "completed");
}

#[test]
fn a_run_log_that_cannot_be_written_changes_nothing() {
    let world = World::new(HELLO);
    let ran = world.run(&["-p", "go", "--log", "/nowhere/log"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "Hello, this is the answer.\n"),
        "{ran:?}"
    );
    assert!(ran.err.contains("/nowhere/log"), "{ran:?}");
}

/// A reader that has gone does not leave the loop working unseen.
#[cfg(unix)]
#[test]
fn fault_h02_a_closed_stdout_interrupts_the_run() {
    use std::{io::Read, process::Stdio};
    let scenario = r#"{"turns": [{"repeat": true, "calls": [{"name": "bash", "input": {"command": "date +%N; sleep 0.01"}}]}]}"#;
    let world = World::new(scenario);
    let args = [
        "-p",
        "go",
        "--permission-mode",
        "full-auto",
        "--output-format",
        "stream-json",
        "--max-turns",
        "190",
    ];
    let mut hames = world.spawn(&args, Stdio::null());
    let mut out = hames.stdout.take().unwrap();
    let mut first = [0; 16];
    out.read_exact(&mut first).unwrap();
    drop(out);
    assert_eq!(hames.wait().unwrap().code(), Some(130));
    assert_eq!(
        world.entries().pop().unwrap()["outcome"]["outcome"],
        "interrupted"
    );
}
