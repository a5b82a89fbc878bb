//! Every flag does what it says (G11): none is parsed and then forgotten.

use serde_json::{Value, json};

use crate::world::{HELLO, Ran, World};

const SOURCES: &[&str] = &[
    include_str!("exit_codes.rs"),
    include_str!("flags.rs"),
    include_str!("formats.rs"),
    include_str!("keys.rs"),
    include_str!("prompts.rs"),
    include_str!("sessions.rs"),
    include_str!("conversation.rs"),
];

#[test]
fn fault_g11_every_flag_has_a_test() {
    let help = World::new(HELLO).run(&["--help"]);
    let words = help.out.split([' ', ',', '\n', '=']);
    let flags: std::collections::BTreeSet<_> =
        words.filter(|word| word.starts_with("--")).collect();
    assert!(flags.len() > 30, "{flags:?}");
    for flag in flags.difference(&["--help", "--print", "--version"].into()) {
        let quoted = format!("\"{flag}\"");
        assert!(
            SOURCES.iter().any(|source| source.contains(&quoted)),
            "no test uses {flag}"
        );
    }
}

/// The head of the session's first epoch.
fn head(world: &World) -> Value {
    world.entries()[0]["head"].clone()
}

fn run(world: &World, flags: &[&str]) -> Ran {
    let mut args = vec!["-p", "go"];
    args.extend(flags);
    world.run(&args)
}

fn of<'a>(entries: &'a [Value], kind: &str) -> Vec<&'a Value> {
    entries
        .iter()
        .filter(|entry| entry["entry"] == kind)
        .collect()
}

#[test]
fn system_prompts_are_replaced_and_added_to() {
    let world = World::new(HELLO);
    assert_eq!(
        run(&world, &["--append-system-prompt", "Speak Latin."]).code,
        0
    );
    let system = head(&world)["system"].as_str().unwrap().to_owned();
    assert!(
        system.starts_with("You are Hames") && system.ends_with("\n\nSpeak Latin."),
        "{system}"
    );
    let world = World::new(HELLO);
    assert_eq!(run(&world, &["--system-prompt", "You are a fish."]).code, 0);
    assert_eq!(head(&world)["system"], "You are a fish.");
}

#[test]
fn instructions_of_the_project_are_in_the_system_prompt() {
    let world = World::new(HELLO);
    world.file("AGENTS.md", "Use tabs.");
    world.file("CLAUDE.md", "@more.md");
    world.file("more.md", "Use Rust.");
    assert_eq!(run(&world, &[]).code, 0);
    let system = head(&world)["system"].as_str().unwrap().to_owned();
    let (tabs, rust) = (system.find("Use tabs."), system.find("Use Rust."));
    assert!(tabs.is_some() && tabs < rust, "{system}");
}

#[test]
fn effort_and_output_cap_are_in_the_request() {
    let world = World::new(HELLO);
    assert_eq!(
        run(&world, &["--effort", "high", "--max-output-tokens", "77"]).code,
        0
    );
    let options = head(&world)["options"].clone();
    assert_eq!(options, json!({"max_tokens": 77, "effort": "high"}));
}

#[test]
fn a_fallback_model_takes_over() {
    let world =
        World::new(r#"{"turns": [{"error": {"status": 401, "kind": "auth"}, "repeat": true}]}"#);
    std::fs::write(
        world.path("other.json"),
        r#"{"turns": [{"text": "the other one"}]}"#,
    )
    .unwrap();
    let other = format!("script:{}", world.path("other.json").display());
    let ran = run(&world, &["--fallback-model", &other]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "the other one\n"),
        "{ran:?}"
    );
}

#[test]
fn a_critic_has_criteria_and_a_model_of_its_own() {
    let world = World::new(
        r#"{"turns": [{"when": {"prompt": "does not rhyme"}, "text": "the better work"}, {"text": "the work"}]}"#,
    );
    let critic = r#"{"conversations": [
        {"when": {"prompt": "Does it rhyme?", "absent": "the better work"},
         "turns": [{"text": "{\"verdict\": \"revise\", \"reasons\": \"it does not rhyme\"}"}]},
        {"when": {"prompt": "Does it rhyme?"}, "turns": [{"text": "{\"verdict\": \"approve\"}"}]}]}"#;
    std::fs::write(world.path("critic.json"), critic).unwrap();
    let critic = format!("critic=script:{}", world.path("critic.json").display());
    let flags = [
        "--shape",
        "reflection",
        "--criteria",
        "Does it rhyme?",
        "--model-for",
        &critic,
    ];
    let ran = run(&world, &flags);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out, "the work\nthe better work\n", "{ran:?}");
    let labels: Vec<_> = of(&world.entries(), "child_opened")
        .iter()
        .map(|entry| entry["label"].clone())
        .collect();
    assert_eq!(labels, ["critic", "critic"]);
}

#[test]
fn a_check_that_passes_after_a_repair_completes() {
    let scenario = r#"{"turns": [{"text": "done"}, {"when": {"last": "no marker"},
        "calls": [{"name": "write", "input": {"path": "marker", "content": "x"}}]}, {"text": "now it is"}]}"#;
    let world = World::new(scenario);
    let ran = run(
        &world,
        &[
            "--check",
            "test -e marker || { echo no marker; exit 1; }",
            "--permission-mode",
            "accept-edits",
        ],
    );
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "done\nnow it is\n"),
        "{ran:?}"
    );
}

#[test]
fn req_c10_what_a_model_does_not_know_is_said_on_demand() {
    let world = World::new(HELLO);
    assert_eq!(run(&world, &["--inform", "turns,budget,time"]).code, 0);
    let entries = world.entries();
    let notes: Vec<_> = of(&entries, "user")
        .into_iter()
        .filter(|entry| entry["message"]["origin"] == "inform")
        .collect();
    let text = notes[0]["message"]["content"][0]["text"].as_str().unwrap();
    for word in ["turns", "tokens", "seconds"] {
        assert!(text.contains(word), "{text}");
    }
    let silent = World::new(HELLO);
    assert_eq!(run(&silent, &[]).code, 0);
    assert_eq!(of(&silent.entries(), "user").len(), 1);
}

/// Two calls that meet if they run at once.
const MEET: &str = r#"{"turns": [{"calls": [
    {"name": "bash", "input": {"command": "touch one; for i in 1 2 3 4 5 6 7 8 9 10; do test -e two && echo met && exit; sleep 0.05; done; echo alone"}},
    {"name": "bash", "input": {"command": "touch two; test -e one && echo met"}}
]}, {"text": "done"}]}"#;

#[test]
fn tool_concurrency_bounds_what_runs_at_once() {
    for (flags, says) in [(&[][..], "met"), (&["--tool-concurrency", "1"], "alone")] {
        let world = World::new(MEET);
        let mut args = vec!["--permission-mode", "full-auto"];
        args.extend(flags);
        assert_eq!(run(&world, &args).code, 0);
        let entries = world.entries();
        let first = of(&entries, "tool_finished")[0]["result"]["content"][0]["text"].clone();
        assert_eq!(first.as_str().unwrap().trim(), says, "{flags:?}");
    }
}

#[test]
fn compact_at_moves_the_threshold() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "seq 1 4000"}}]},
        {"calls": [{"name": "bash", "input": {"command": "seq 4001 8000"}}]},
        {"text": "done", "repeat": true}
    ]}"#;
    for (flags, compacted) in [(&[][..], false), (&["--compact-at", "3"], true)] {
        let world = World::new(scenario);
        let mut args = vec!["--permission-mode", "full-auto"];
        args.extend(flags);
        let ran = run(&world, &args);
        assert_eq!(ran.code, 0, "{ran:?}");
        let entries = world.entries();
        let causes: Vec<_> = of(&entries, "epoch_started")
            .iter()
            .map(|entry| entry["cause"].clone())
            .collect();
        assert_eq!(
            causes.contains(&json!("compaction")),
            compacted,
            "{causes:?}"
        );
    }
}

#[test]
fn both_durabilities_are_taken_and_no_third() {
    for durability in ["os", "disk"] {
        assert_eq!(
            run(&World::new(HELLO), &["--durability", durability]).code,
            0
        );
    }
    assert_eq!(run(&World::new(HELLO), &["--durability", "paper"]).code, 2);
}

#[test]
fn a_workspaces_hooks_run_once_it_is_trusted() {
    let settings = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch hooked"}]}]}}"#;
    for (flags, ran_it) in [(&[][..], false), (&["--trust-workspace"], true)] {
        let world = World::new(HELLO);
        world.file(".hames/settings.json", settings);
        let ran = run(&world, flags);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(world.workspace().join("hooked").exists(), ran_it, "{ran:?}");
        assert_eq!(ran.err.contains("--trust-workspace"), !ran_it, "{ran:?}");
    }
}

#[test]
fn a_further_folder_is_like_the_workspace() {
    let world = World::new("{}");
    std::fs::create_dir(world.path("beside")).unwrap();
    std::fs::write(world.path("beside/notes"), "fish").unwrap();
    let path = world.path("beside/notes");
    let scenario = json!({"turns": [
        {"calls": [{"name": "read", "input": {"path": path}}]}, {"text": "done"}]});
    std::fs::write(world.path("scenario.json"), scenario.to_string()).unwrap();
    assert_eq!(run(&world, &[]).code, 4);
    assert_eq!(run(&world, &["--add-dir", "../beside"]).code, 0);
}

const TOUCHES: &str = r#"{"turns": [
    {"calls": [{"name": "bash", "input": {"command": "touch marker"}}]}, {"text": "done"}]}"#;

#[test]
fn rules_allow_and_deny_and_deny_wins() {
    let touch = "Bash(touch *)";
    let table: [(&[&str], i32, bool); 5] = [
        (&["--allowed-tools", touch], 0, true),
        (&["--allowedTools", "Read,Bash(touch *)"], 0, true),
        (
            &["--allowed-tools", touch, "--disallowed-tools", "Bash"],
            0,
            false,
        ),
        (
            &[
                "--permission-mode",
                "bypassPermissions",
                "--disallowedTools",
                touch,
            ],
            0,
            false,
        ),
        (&["--dangerously-skip-permissions"], 0, true),
    ];
    for (flags, code, touched) in table {
        let world = World::new(TOUCHES);
        let ran = run(&world, flags);
        let was = (ran.code, world.workspace().join("marker").exists());
        assert_eq!(was, (code, touched), "{flags:?}: {ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn commands_run_in_the_shell_that_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(TOUCHES);
    let shell = world.path("shell");
    std::fs::write(&shell, "#!/bin/sh\necho \"$@\" > asked\n").unwrap();
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = run(
        &world,
        &[
            "--shell",
            shell.to_str().unwrap(),
            "--permission-mode",
            "full-auto",
        ],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let asked = std::fs::read_to_string(world.workspace().join("asked")).unwrap();
    assert_eq!(asked, "-c touch marker\n");
}

const SCHEMA: &str =
    r#"{"type": "object", "required": ["fish"], "properties": {"fish": {"type": "integer"}}}"#;

#[test]
fn an_answer_fits_its_schema_or_is_repaired_once() {
    let table = [
        (
            r#"["```json\n{\"fish\": 3}\n```"]"#,
            0,
            json!({"fish": 3}),
            1,
        ),
        (
            r#"["three fish", "{\"fish\": 3}"]"#,
            0,
            json!({"fish": 3}),
            2,
        ),
        (
            r#"["{\"fish\": \"three\"}", "still three", "{\"fish\": 3}"]"#,
            5,
            Value::Null,
            2,
        ),
    ];
    for (texts, code, structured, turns) in table {
        let texts: Vec<String> = serde_json::from_str(texts).unwrap();
        let repaired = texts.get(1).unwrap_or(&texts[0]);
        let scenario = json!({"turns": [
            {"when": {"prompt": "does not fit"}, "text": repaired}, {"text": texts[0]}]});
        let world = World::new(&scenario.to_string());
        world.file("schema.json", SCHEMA);
        let ran = run(
            &world,
            &["--json-schema", "schema.json", "--output-format", "json"],
        );
        let result = ran.result();
        assert_eq!(
            (ran.code, &result["structured_output"]),
            (code, &structured),
            "{ran:?}"
        );
        assert_eq!(result["num_turns"], turns);
        assert_eq!(
            result["end_cause"],
            if code == 0 {
                "completed"
            } else {
                "schema_failed"
            }
        );
        let system = head(&world)["system"].as_str().unwrap().to_owned();
        assert!(system.contains("\"fish\""), "{system}");
    }
}

#[test]
fn the_run_log_goes_where_it_is_asked() {
    let world = World::new(HELLO);
    assert_eq!(run(&world, &["--log", "here.jsonl"]).code, 0);
    let log = std::fs::read_to_string(world.workspace().join("here.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 1);
}

#[test]
fn settings_fill_what_the_command_line_leaves_open() {
    let world = World::new(TOUCHES);
    let config = world.path("config/hames");
    std::fs::create_dir_all(&config).unwrap();
    let settings = json!({"model": world.model(), "permission_mode": "full-auto", "max_turns": 1, "effort": "low"});
    std::fs::write(config.join("settings.json"), settings.to_string()).unwrap();
    let ran = Ran::of(world.bare(&["-p", "go"]).output().unwrap());
    assert_eq!(ran.code, 3, "{ran:?}");
    let ran = Ran::of(
        world
            .bare(&["-p", "-c", "--max-turns", "5"])
            .output()
            .unwrap(),
    );
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{ran:?}");
    assert_eq!(head(&world)["options"]["effort"], "low");
}

#[test]
fn completions_are_printed_for_a_shell() {
    let ran = Ran::of(
        World::new(HELLO)
            .bare(&["completions", "bash"])
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("--permission-mode"), "{ran:?}");
}

/// A denial that is misspelt protects nothing, and its author has to hear it.
#[test]
fn a_rule_that_names_no_tool_is_said_to_hold_nothing_back() {
    let world = World::new(crate::world::HELLO);
    let ran = world.run(&["-p", "go", "--disallowed-tools", "Basch(rm *),mcp__x__y"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.err
            .contains("the rule `Basch(rm *)` holds nothing back"),
        "{ran:?}"
    );
    let known = world.run(&["-p", "go", "--disallowed-tools", "Bash(rm *),Read,edit"]);
    assert!(!known.err.contains("holds nothing back"), "{known:?}");
}
