//! `hames explain`: what a journal or a run log alone can tell, and tables that point at what is there.

use std::{fs, path::Path};

use hames::explain::{Claim, claims};

use crate::world::{Ran, World};

const WORK: &str = r#"{"turns": [
    {"calls": [{"name": "read", "input": {"path": "absent"}}, {"name": "bash", "input": {"command": "echo hi"}}],
     "usage": {"input": 1000, "output": 20, "reasoning": 0, "cache_read": 300, "cache_write": 0}},
    {"attempts": [
        {"error": {"status": 503, "message": "busy"}},
        {"text": "done", "usage": {"input": 2000, "output": 30, "reasoning": 0, "cache_read": 0, "cache_write": 0}}
    ]}
]}"#;

fn explain(world: &World, what: &str) -> Ran {
    Ran::of(world.bare(&["explain", what]).output().unwrap())
}

#[test]
fn req_o03_a_journal_alone_says_how_it_ended_and_what_each_turn_took() {
    let world = World::new(WORK);
    let ran = world.run(&["-p", "go", "--permission-mode", "full-auto"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = world.session_ids().pop().unwrap();
    let by_start: String = id.chars().take(17).collect();
    let explained = explain(&world, &by_start);
    assert_eq!(explained.code, 0, "{explained:?}");
    let facts = [
        "ended      completed (exit code 0)",
        "turns      2\n",
        "tokens     3300 in (300 from the cache), 50 out",
        "cost       no price known",
        "tool calls 2, 1 failed or refused",
        "retries    1",
        "compacted  0 times",
        "wall time  ",
    ];
    for fact in facts {
        assert!(explained.out.contains(fact), "{fact}: {}", explained.out);
    }
    let rows: Vec<_> = explained
        .out
        .lines()
        .filter(|line| line.contains("scripted"))
        .collect();
    assert_eq!(rows.len(), 2, "{}", explained.out);
    // Calls, failed calls and retries of each turn.
    let counts = rows.iter().map(|row| {
        let words: Vec<_> = row.split_whitespace().collect();
        words[words.len() - 3..].join(" ")
    });
    assert_eq!(counts.collect::<Vec<_>>(), ["2 1 0", "0 0 1"]);
    let newest = Ran::of(world.bare(&["explain"]).output().unwrap());
    assert_eq!(newest.out, explained.out);
}

#[test]
fn req_o03_req_g04_each_end_is_named_from_the_journal_and_from_the_run_log_alone() {
    let endless = r#"{"turns": [{"calls": [{"name": "bash", "input": {"command": "echo {{answers}}"}}], "repeat": true}]}"#;
    let ends = [
        (endless, vec!["--max-turns", "3"], "turns"),
        (
            r#"{"turns": [{"text": "no", "stop": "refusal"}]}"#,
            vec![],
            "refused",
        ),
        (
            r#"{"turns": [{"text": "cut", "stop": "max_tokens"}]}"#,
            vec![],
            "truncated",
        ),
        (
            r#"{"turns": [{"error": {"status": 401, "message": "no"}}]}"#,
            vec![],
            "failed",
        ),
    ];
    for (scenario, flags, end) in ends {
        let world = World::new(scenario);
        let args = [vec!["-p", "go", "--permission-mode", "full-auto"], flags].concat();
        let ran = world.run(&args);
        let id = world.session_ids().pop().unwrap();
        let journal = explain(&world, &id);
        let said = format!("ended      {end} (exit code {})", ran.code);
        assert!(journal.out.contains(&said), "{said}: {journal:?}");
        let log = world.sessions().join(format!("{id}.run.jsonl"));
        let alone = world.path("alone.run.jsonl");
        fs::copy(log, &alone).unwrap();
        let log = explain(&world, alone.to_str().unwrap());
        assert!(
            log.out.contains(&format!("ended      {end}\n")),
            "{end}: {log:?}"
        );
    }
}

#[test]
fn a_session_that_was_killed_did_not_end_and_bad_lines_are_said() {
    let world = World::new(WORK);
    assert_eq!(
        world
            .run(&["-p", "go", "--permission-mode", "full-auto"])
            .code,
        0
    );
    let id = world.session_ids().pop().unwrap();
    let path = world.sessions().join(format!("{id}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    let until_call = text
        .lines()
        .take_while(|line| !line.contains("\"tool_finished\""));
    let mut cut = until_call.collect::<Vec<_>>().join("\n");
    cut += "\nthis is no record\n";
    let alone = world.path("cut.jsonl");
    fs::write(&alone, cut).unwrap();
    let explained = explain(&world, alone.to_str().unwrap());
    assert!(
        explained.out.contains("ended      not at all"),
        "{explained:?}"
    );
    assert!(
        explained.out.contains("2 tool calls were not answered"),
        "{explained:?}"
    );
    assert!(
        explained.out.contains("1 of the journal cannot be read"),
        "{explained:?}"
    );
}

#[test]
fn children_are_explained_by_their_own_journals() {
    let scenario = r#"{"turns": [{"text": "draft"}], "conversations": [
        {"when": {"prompt": "Now be the critic"}, "turns": [{"text": "{\"verdict\":\"approve\"}"}]}
    ]}"#;
    let world = World::new(scenario);
    let ran = world.run(&["-p", "go", "--shape", "reflection"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = world.session_ids().pop().unwrap();
    let explained = explain(&world, &id);
    assert!(explained.out.contains("children   1"), "{explained:?}");
    let row = explained
        .out
        .lines()
        .find(|line| line.starts_with("critic"))
        .unwrap();
    assert!(
        row.contains(&format!("{id}.1")) && row.contains("completed"),
        "{row}"
    );
}

#[test]
fn what_is_neither_a_session_nor_a_table_is_told_what_there_is() {
    let world = World::new(WORK);
    let ran = explain(&world, "nonsense");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .contains("loop, parts, protocol, guide, compare, knows and pipeline"),
        "{ran:?}"
    );
    let odd = world.file("odd.txt", "hello\n");
    assert_eq!(explain(&world, odd.to_str().unwrap()).code, 2);
}

/// The checkout that this was built from.
fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn req_l27_req_l28_req_p10_req_c09_every_file_test_and_line_that_a_table_names_is_there() {
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    let mut missing = Vec::new();
    let claims = claims();
    for claim in &claims {
        let (Claim::File(file) | Claim::Test { file, .. } | Claim::Line { file, .. }) = claim;
        let text = fs::read_to_string(top().join(file)).unwrap_or_default();
        let there = match claim {
            Claim::File(_) => !text.is_empty(),
            Claim::Test { test, .. } => {
                text.contains(&format!("fn {test}(")) && text.contains("#[")
            }
            Claim::Line { line, .. } => squeeze(&text).contains(&squeeze(line)),
        };
        if !there {
            missing.push(claim);
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(claims.len() > 60, "{}", claims.len());
}

/// What each table must say.
const TABLES: [(&str, &[&str]); 6] = [
    (
        "loop",
        &[
            "① ",
            "② ",
            "③ ",
            "④ ",
            "⑤ ",
            "13 lines of the harness, 1 of the model, 1 of the tools",
        ],
    ),
    (
        "parts",
        &[
            "State Manager",
            "Tool Registry",
            "Output Parser",
            "Loop Controller",
            "Error Handler",
            "Logger",
        ],
    ),
    (
        "protocol",
        &[
            "Endpoint",
            "Auth",
            "History",
            "Tool spec",
            "Tool call",
            "Tool result",
            "Stop",
            "Cap",
            "Stream",
            "Usage",
            "/v1/responses",
        ],
    ),
    (
        "guide",
        &[
            "plan_execute + multi_agent + reflection",
            "STEPS FORESEEABLE",
        ],
    ),
    (
        "compare",
        &[
            "循环位置",
            "模型调用",
            "退出条件",
            "上下文长度",
            "轮数安全",
            "QueryEngine.submit_message",
        ],
    ),
    ("knows", &["knows\n", "does not know", "--inform budget"]),
];

#[test]
fn req_c08_req_c10_req_s05_each_table_is_printed_whole() {
    let world = World::new(WORK);
    for (name, parts) in TABLES {
        let ran = explain(&world, name);
        assert_eq!(ran.code, 0, "{ran:?}");
        for part in parts {
            assert!(ran.out.contains(part), "{name}: {part}\n{}", ran.out);
        }
    }
}
