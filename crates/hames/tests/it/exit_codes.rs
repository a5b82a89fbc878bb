//! Exit codes, and that every other word for how a run ended agrees with them.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::world::{HELLO, Ran, World};

/// A scenario, flags, and what must come of them: exit code, outcome, end cause, subtype.
struct Row {
    scenario: &'static str,
    flags: &'static [&'static str],
    code: i32,
    outcome: &'static str,
    end_cause: &'static str,
    subtype: &'static str,
}

const LOOPS: &str = r#"{"turns": [{"repeat": true, "calls": [{"name": "bash", "input": {"command": "date +%N"}}]}]}"#;
const HANGS: &str = r#"{"turns": [{"text": "wait", "hang": 1}]}"#;
const ACTS: &str = r#"{"turns": [
    {"calls": [{"name": "bash", "input": {"command": "touch marker"}}]},
    {"text": "I could not."}
]}"#;

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { scenario: HELLO, flags: &[], code: 0, outcome: "completed", end_cause: "completed", subtype: "success" },
    Row { scenario: r#"{"turns": [{"error": {"status": 401, "kind": "auth", "message": "no"}}]}"#, flags: &[],
        code: 1, outcome: "failed", end_cause: "failed", subtype: "error_during_execution" },
    Row { scenario: r#"{"turns": [{"text": "I will not.", "stop": "refusal"}]}"#, flags: &[],
        code: 1, outcome: "refused", end_cause: "refused", subtype: "error_during_execution" },
    Row { scenario: r#"{"turns": [{"empty": true, "repeat": true}]}"#, flags: &[],
        code: 1, outcome: "no_answer", end_cause: "no_answer", subtype: "error_during_execution" },
    Row { scenario: r#"{"turns": [{"text": "half an", "stop": "max_tokens"}]}"#, flags: &[],
        code: 3, outcome: "truncated", end_cause: "truncated", subtype: "error_during_execution" },
    Row { scenario: LOOPS, flags: &["--permission-mode", "full-auto", "--max-turns", "2"],
        code: 3, outcome: "limit_reached", end_cause: "turns", subtype: "error_max_turns" },
    Row { scenario: LOOPS, flags: &["--permission-mode", "full-auto", "--max-total-tokens", "1"],
        code: 3, outcome: "limit_reached", end_cause: "tokens", subtype: "error_during_execution" },
    Row { scenario: LOOPS, flags: &["--permission-mode", "full-auto", "--max-turns", "none", "--max-total-tokens", "9000"],
        code: 3, outcome: "limit_reached", end_cause: "tokens", subtype: "error_during_execution" },
    Row { scenario: LOOPS, flags: &["--permission-mode", "full-auto", "--max-cost", "0.000001"],
        code: 3, outcome: "limit_reached", end_cause: "cost", subtype: "error_max_budget_usd" },
    Row { scenario: HANGS, flags: &["--max-wall", "50ms"],
        code: 3, outcome: "limit_reached", end_cause: "wall_time", subtype: "error_during_execution" },
    Row { scenario: r#"{"turns": [{"repeat": true, "calls": [{"name": "bash", "input": {"command": "echo same"}}]}]}"#,
        flags: &["--permission-mode", "full-auto"],
        code: 3, outcome: "limit_reached", end_cause: "repeated_call", subtype: "error_during_execution" },
    Row { scenario: ACTS, flags: &[],
        code: 4, outcome: "completed", end_cause: "completed", subtype: "error_during_execution" },
    Row { scenario: ACTS, flags: &["--disallowed-tools", "bash"],
        code: 0, outcome: "completed", end_cause: "completed", subtype: "success" },
    Row { scenario: r#"{"turns": [{"text": "done", "repeat": true}]}"#, flags: &["--check", "echo broken; exit 7"],
        code: 5, outcome: "check_failed", end_cause: "check_failed", subtype: "error_during_execution" },
];

#[test]
fn req_g04_code_and_result_say_the_same() {
    for row in TABLE {
        let world = World::new(row.scenario);
        let mut args = vec!["-p", "go", "--output-format", "json"];
        args.extend(row.flags);
        let ran = world.run(&args);
        let result = ran.result();
        let said = [&result["outcome"], &result["end_cause"], &result["subtype"]];
        assert_eq!(said, [row.outcome, row.end_cause, row.subtype], "{ran:?}");
        assert_eq!(
            (ran.code, &result["exit_code"]),
            (row.code, &Value::from(row.code)),
            "{ran:?}"
        );
        assert_eq!(result["is_error"], row.code != 0, "{ran:?}");
        let journaled = world.entries().pop().unwrap();
        assert_eq!(journaled["outcome"]["outcome"], row.outcome, "{ran:?}");
    }
}

#[test]
fn req_l07_print_mode_has_200_turns() {
    let scenario = r#"{"turns": [{"repeat": true, "calls": [{"name": "glob", "input": {"pattern": "{{answers}}"}}]}]}"#;
    let ran =
        World::new(scenario).run(&["-p", "go", "--durability", "os", "--output-format", "json"]);
    let result = ran.result();
    assert_eq!(
        (ran.code, &result["num_turns"]),
        (3, &Value::from(200)),
        "{ran:?}"
    );
    assert_eq!(result["end_cause"], "turns");
}

/// The failure is on stderr in text mode, and stdout holds none of it.
#[test]
fn fault_h04_a_failure_is_never_reported_as_an_answer() {
    let scenario =
        r#"{"turns": [{"error": {"status": 401, "kind": "auth", "message": "bad key"}}]}"#;
    let ran = World::new(scenario).run(&["-p", "go"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("bad key"), "{ran:?}");
}

#[test]
fn fault_h05_fault_h06_nobody_to_ask_is_a_no_at_once() {
    let world = World::new(ACTS);
    let ran = world.run(&["-p", "go"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(!world.workspace().join("marker").exists());
    for remedy in ["--permission-mode", "--allowed-tools"] {
        assert!(
            ran.err.contains(remedy) || told(&world).contains(remedy),
            "{remedy}: {ran:?}"
        );
    }
}

/// What the model was told of its first call.
fn told(world: &World) -> String {
    let entries = world.entries();
    let finished = entries
        .iter()
        .find(|entry| entry["entry"] == "tool_finished")
        .unwrap();
    finished["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn req_l24_and_other_usage_errors_are_2_and_leave_no_session() {
    let table: &[(&[&str], &str)] = &[
        (&["-p", "go", "--max-turns", "none"], "--max-wall"),
        (&["-p", "go", "--max-turns", "0"], "from 1 on"),
        (&["-p", "go", "--no-such-flag"], "--no-such-flag"),
        (&["-p", "go", "-c"], "no session"),
        (&["-p", "go", "-r", "nothing"], "no session nothing"),
        (&["-p", "go", "--cwd", "nowhere"], "nowhere"),
        (&["-p", "go", "--add-dir", "nowhere"], "nowhere"),
        (&["-p", "go", "--shell", "/no/shell"], "/no/shell"),
        (&["-p", "go", "--json-schema", "none.json"], "none.json"),
        (&["-p", "go", "--allowed-tools", "Bash("], "Bash("),
        (
            &["-p", "go", "--model-for", "cook=script:x"],
            "no such role",
        ),
        (&["-p", "go", "--shape", "spiral"], "react"),
        (&["-p", "go", "--permission-mode", "yolo"], "full-auto"),
        (&["-p", "go", "-c", "-r", "x"], "--resume"),
    ];
    for (args, says) in table {
        let world = World::new(HELLO);
        let ran = world.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains(says), "{args:?}: {ran:?}");
        assert_eq!(world.session_ids(), [""; 0]);
    }
}

#[test]
fn no_model_is_2_with_the_four_ways_in_six_lines() {
    let world = World::new(HELLO);
    // Nothing listens there, so that no server of this machine is found.
    let mut hames = world.bare(&["-p", "go"]);
    let nowhere = "http://127.0.0.1:9";
    let ran = Ran::of(hames.env("OLLAMA_HOST", nowhere).output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 6, "{ran:?}");
}

#[test]
fn max_cost_is_refused_for_a_model_without_a_price() {
    let world = World::new(HELLO);
    let model = "http://127.0.0.1:9/v1#nobody-knows";
    let ran = Ran::of(
        world
            .bare(&["-p", "go", "--max-cost", "1", "--model", model])
            .output()
            .unwrap(),
    );
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("--max-total-tokens"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_well_and_the_journal_is_whole() {
    for signal in ["-INT", "-TERM"] {
        let world = World::new(HANGS);
        let hames = world.spawn(&["-p", "go", "--output-format", "json"], Stdio::null());
        until(|| said_something(&world));
        let pid = hames.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        let ran = Ran::of(hames.wait_with_output().unwrap());
        let result = ran.result();
        assert_eq!(
            (ran.code, &result["end_cause"]),
            (130, &Value::from("interrupted")),
            "{ran:?}"
        );
        assert_eq!(
            world.entries().pop().unwrap()["outcome"]["outcome"],
            "interrupted"
        );
    }
}

#[cfg(unix)]
fn said_something(world: &World) -> bool {
    let ids = world.session_ids();
    let turn_began = |id: &String| {
        let journal = std::fs::read_to_string(world.sessions().join(format!("{id}.jsonl")));
        journal.is_ok_and(|text| text.contains("turn_started"))
    };
    ids.first().is_some_and(turn_began)
}

/// Asks again and again, without a clock: the other process is at work meanwhile.
#[cfg(unix)]
fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

#[cfg(unix)]
#[test]
fn fault_h01_background_children_do_not_keep_it_alive() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "sleep 600 & echo $! > pid; echo started"}}]},
        {"text": "It runs."}
    ]}"#;
    let world = World::new(scenario);
    let args = [
        "-p",
        "go",
        "--permission-mode",
        "full-auto",
        "--output-format",
        "stream-json",
    ];
    let ran = world.run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.result()["result"], "It runs.");
    let pid = std::fs::read_to_string(world.workspace().join("pid")).unwrap();
    let alive = std::path::Path::new("/proc")
        .join(pid.trim())
        .join("cmdline");
    let cmdline = std::fs::read_to_string(alive).unwrap_or_default();
    assert!(!cmdline.contains("600"), "{cmdline}");
}

#[cfg(unix)]
#[test]
fn req_g02_the_wall_ends_a_hanging_tool_and_its_processes() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "echo $$ > pid; sleep 600"}}]}
    ]}"#;
    let world = World::new(scenario);
    let args = [
        "-p",
        "go",
        "--permission-mode",
        "full-auto",
        "--max-wall",
        "0.4",
        "--output-format",
        "json",
    ];
    let ran = world.run(&args);
    assert_eq!(
        (ran.code, &ran.result()["end_cause"]),
        (3, &Value::from("wall_time")),
        "{ran:?}"
    );
    let pid = std::fs::read_to_string(world.workspace().join("pid")).unwrap();
    let cmdline = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim()));
    assert!(!cmdline.unwrap_or_default().contains("600"));
}

/// A pipe that nobody empties keeps the last lines waiting, and not the user.
#[cfg(unix)]
#[test]
fn a_stuck_reader_does_not_make_it_deaf() {
    let long = "x".repeat(200_000);
    let world = World::new(&serde_json::json!({"turns": [{"text": long}]}).to_string());
    let mut hames = world.spawn(
        &["-p", "go", "--output-format", "stream-json"],
        Stdio::null(),
    );
    let done = |id: &String| {
        let journal = std::fs::read_to_string(world.sessions().join(format!("{id}.jsonl")));
        journal.is_ok_and(|text| text.contains("query_finished"))
    };
    until(|| world.session_ids().first().is_some_and(done));
    let pid = hames.id().to_string();
    let asked = (0..500).find(|_| {
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        hames.try_wait().unwrap().is_some()
    });
    let _ = hames.kill();
    assert_eq!(
        (asked.is_some(), hames.wait().unwrap().code()),
        (true, Some(130))
    );
}
