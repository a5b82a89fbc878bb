//! ATIF: what is exported of a trajectory, and that Harbor's own models take it.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, process::Command};

use hames_eval::{
    adapter::Options,
    atif,
    trajectory::{Call, Source, Trajectory, Turn, Usage},
};
use serde_json::{Value, json};

use crate::adapters::{Machine, Ran, find};

fn turn(source: Source, text: &str) -> Turn {
    Turn {
        source,
        at: None,
        text: text.to_owned(),
        reasoning: None,
        calls: Vec::new(),
        usage: None,
    }
}

fn call(id: &str, arguments: Value, result: Option<&str>) -> Call {
    Call {
        id: id.to_owned(),
        name: "bash".to_owned(),
        arguments,
        result: result.map(str::to_owned),
        is_error: result == Some("no rule"),
    }
}

fn told() -> Trajectory {
    let usage = Usage {
        input: 90,
        output: 20,
        cache_read: 10,
        cache_write: 5,
        reasoning: 4,
        calls: 1,
    };
    let mut first = turn(Source::Agent, "Let me look.");
    first.at = Some("2026-12-01T10:00:00.5Z".to_owned());
    first.reasoning = Some("hm".to_owned());
    first.usage = Some(usage);
    first.calls = vec![
        call("c", json!({"command": "ls"}), Some("greet.py")),
        call("c", json!("{\"comm"), Some("no rule")),
        call("", Value::Null, None),
    ];
    let mut user = turn(Source::User, "fix it");
    user.at = Some("yesterday".to_owned());
    Trajectory {
        session_id: Some("s".to_owned()),
        agent_version: Some("1.2".to_owned()),
        model: Some("m".to_owned()),
        turns: vec![
            turn(Source::System, "You are."),
            user,
            first,
            turn(Source::Agent, "Done."),
        ],
        usage,
        cost_usd: Some(0.5),
        final_answer: Some("Done.".to_owned()),
        subagents: vec![
            Trajectory {
                session_id: Some("c".to_owned()),
                turns: vec![turn(Source::Agent, "approve")],
                ..Trajectory::default()
            },
            Trajectory::default(),
        ],
    }
}

#[test]
fn a_trajectory_becomes_steps_without_gaps_with_answers_beside_their_calls() {
    let totals = |prompt: u64, completion: u64, cached: u64, steps: u64, calls: u64| {
        json!({
            "total_prompt_tokens": prompt,
            "total_completion_tokens": completion,
            "total_cached_tokens": cached,
            "total_steps": steps,
            "extra": {"model_calls": calls},
        })
    };
    let mut whole = totals(105, 20, 10, 4, 1);
    whole["total_cost_usd"] = json!(0.5);
    let expected = json!({
        "schema_version": "ATIF-v1.8",
        "session_id": "s",
        "trajectory_id": "s",
        "agent": {"name": "hames", "version": "1.2", "model_name": "m"},
        "steps": [
            {"step_id": 1, "source": "system", "message": "You are."},
            {"step_id": 2, "source": "user", "message": "fix it"},
            {
                "step_id": 3,
                "timestamp": "2026-12-01T10:00:00.5Z",
                "source": "agent",
                "message": "Let me look.",
                "reasoning_content": "hm",
                "tool_calls": [
                    {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "ls"}},
                    {"tool_call_id": "c+", "function_name": "bash", "arguments": {"raw": "{\"comm"}},
                    {"tool_call_id": "call-3", "function_name": "bash", "arguments": {}},
                ],
                "observation": {"results": [
                    {
                        "source_call_id": "c",
                        "content": "greet.py",
                        "subagent_trajectory_ref": [{"trajectory_id": "c"}],
                    },
                    {"source_call_id": "c+", "content": "no rule", "extra": {"is_error": true}},
                ]},
                "metrics": {
                    "prompt_tokens": 105,
                    "completion_tokens": 20,
                    "cached_tokens": 10,
                    "extra": {"cache_write_tokens": 5, "reasoning_tokens": 4},
                },
                "llm_call_count": 1,
            },
            {"step_id": 4, "source": "agent", "message": "Done."},
        ],
        "final_metrics": whole,
        "subagent_trajectories": [
            {
                "schema_version": "ATIF-v1.8",
                "trajectory_id": "c",
                "agent": {"name": "hames", "version": "unknown"},
                "steps": [{"step_id": 1, "source": "agent", "message": "approve"}],
                "final_metrics": totals(0, 0, 0, 1, 0),
            },
            {
                "schema_version": "ATIF-v1.8",
                "trajectory_id": "subagent-2",
                "agent": {"name": "hames", "version": "unknown"},
                "steps": [{"step_id": 1, "source": "system", "message": "the agent told nothing"}],
                "final_metrics": totals(0, 0, 0, 1, 0),
            },
        ],
    });
    assert_eq!(atif::export(&told(), "hames"), expected);
}

#[test]
fn an_agent_that_told_nothing_still_has_a_document() {
    let document = atif::export(&Trajectory::default(), "none");
    assert_eq!(document["steps"].as_array().unwrap().len(), 1);
    assert_eq!(document.get("session_id"), None);
}

/// `python3 -m venv V && V/bin/pip install harbor` (Python 3.12 or later), then
/// `HAMES_EVAL_HARBOR=V/bin/python cargo test -p hames-eval --test it -- --ignored harbors_own`.
#[test]
#[ignore = "needs Harbor's Python package"]
fn harbors_own_models_take_every_agents_trajectory() {
    let Ok(python) = std::env::var("HAMES_EVAL_HARBOR") else {
        println!("skipped: HAMES_EVAL_HARBOR does not name a Python that has harbor");
        return;
    };
    let machine = Machine::new();
    let mut documents = vec![
        ("made-up", atif::export(&told(), "hames")),
        ("nothing", atif::export(&Trajectory::default(), "none")),
    ];
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data");
    for brand in [
        "aider",
        "claude-code",
        "codex",
        "gemini-cli",
        "kimi",
        "mini-swe-agent",
        "opencode",
        "openharness",
        "qwen-code",
    ] {
        let recorded = |end: &str| fs::read_to_string(data.join(format!("agents/{brand}{end}")));
        let text = recorded(".jsonl")
            .or_else(|_| recorded(".txt"))
            .or_else(|_| recorded(".traj.json"));
        let text = text.unwrap();
        fs::write(machine.place.home.join("run.traj.json"), &text).unwrap();
        let reading = machine.read(
            find(brand).as_ref(),
            &Ran::printed(&text),
            &Options::default(),
        );
        documents.push((brand, atif::export(&reading.trajectory, brand)));
    }
    let files = documents.iter().map(|(name, document)| {
        let file = machine.root.path().join(format!("{name}.json"));
        fs::write(&file, document.to_string()).unwrap();
        file
    });
    let files: Vec<_> = files.collect();
    let validate = data.join("atif/validate.py");
    let output = Command::new(python)
        .arg(validate)
        .args(files)
        .output()
        .unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
