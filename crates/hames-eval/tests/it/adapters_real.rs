//! Real agents from their registries, their model a scripted server: what they print is what is read.
//!
//! Each is ignored and named by a variable that says where it is installed.
#![allow(clippy::unwrap_used)]

use std::{fs, process::Command};

use hames_eval::{
    adapter::Options,
    atif,
    instance::Task,
    trajectory::{Source, Trajectory},
};
use hames_testkit::server::{Scenario, Server};

use serde_json::{Value, json};

use crate::adapters::{Machine, Ran, find, task};

/// Looks, edits, and says that it is done; tools have the agent's own names.
fn edit_scenario(tool: &str, last: &Value) -> String {
    let shell = |command: &str| json!({"name": tool, "input": {"command": command}});
    let scenario = json!({"turns": [
        {"text": "Let me look.", "calls": [shell("cat greet.py")]},
        {"calls": [shell("sed -i s/Helo/Hello/ greet.py")]},
        last,
    ]});
    scenario.to_string()
}

fn weather_scenario(tool: &str) -> String {
    let scenario = json!({"turns": [
        {"think": "hm", "text": "我查一下。", "calls": [{"name": tool, "input": {"city": "北京"}}]},
        {"think": "hm", "text": "今天：{{last_result}}"},
    ]});
    scenario.to_string()
}

struct Played {
    machine: Machine,
    ran: Ran,
    told: Trajectory,
    diff: Option<String>,
    requests: usize,
}

/// Runs the agent in a repository of one file, against a server that plays the scenario.
async fn play(
    name: &'static str,
    path: String,
    python: Option<String>,
    scenario: &str,
    more: &[&str],
) -> Played {
    let server = Server::start(Scenario::parse(scenario).unwrap())
        .await
        .unwrap();
    let options = Options {
        model: match name {
            "claude-agent-sdk" | "claude-code" => "claude-sonnet-4-5",
            "hames" | "oneshot" => "openai/m-1",
            _ => "m-1",
        }
        .to_owned(),
        base_url: Some(server.url()),
        max_turns: Some(9),
        extra_args: more.iter().map(|arg| (*arg).to_owned()).collect(),
        ..Options::default()
    };
    let mut machine = Machine::new();
    let path = format!("{path}:{}", std::env::var("PATH").unwrap());
    machine.variable("PATH", &path);
    machine.place.env = vec![("PATH".to_owned(), path)];
    if let Ok(hames) = std::env::var("HAMES_EVAL_HAMES") {
        machine.host.hames = hames.into();
    }
    if let Some(python) = python {
        machine.variable("HAMES_EVAL_PYTHON", &python);
    }
    let tree = machine.place.tree.clone();
    fs::write(tree.join("greet.py"), "print('Helo')\n").unwrap();
    let git = Command::new("git")
        .args(["init", "-q"])
        .current_dir(&tree)
        .status()
        .unwrap();
    assert!(git.success());
    let played = tokio::task::spawn_blocking(move || {
        let agent = find(name);
        agent.check(&machine.host, &options).unwrap();
        let task = Task {
            prompt: "Fix the greeting.".to_owned(),
            ..task()
        };
        let ran = machine.run(agent.as_ref(), &task, &options);
        let reading = machine.read(agent.as_ref(), &ran, &options);
        assert_eq!(
            (&reading.infrastructure, &reading.failure),
            (&None, &None),
            "{ran:?}"
        );
        (machine, ran, reading)
    });
    let (machine, ran, reading) = played.await.unwrap();
    let requests = server.chats().len();
    Played {
        machine,
        ran,
        told: reading.trajectory,
        diff: reading.diff,
        requests,
    }
}

fn calls(told: &Trajectory) -> Vec<(String, String)> {
    let turns = told
        .turns
        .iter()
        .filter(|turn| turn.source == Source::Agent);
    let calls = turns.flat_map(|turn| &turn.calls).map(|call| {
        let command = call.arguments["command"].as_str().unwrap_or_default();
        (command.to_owned(), call.result.clone().unwrap_or_default())
    });
    calls.collect()
}

fn is_fixed(played: &Played, name: &str) {
    let file = fs::read_to_string(played.machine.place.tree.join("greet.py")).unwrap();
    assert_eq!(file, "print('Hello')\n", "{:?}", played.ran);
    let told = &played.told;
    let made = calls(told);
    assert_eq!(made[0].0, "cat greet.py");
    assert!(made[0].1.contains("print('Helo')"), "{made:?}");
    assert_eq!(made[1].0, "sed -i s/Helo/Hello/ greet.py");
    let agents = told
        .turns
        .iter()
        .filter(|turn| turn.source == Source::Agent)
        .count();
    assert_eq!((agents, told.usage.calls), (3, 3), "{told:?}");
    assert_eq!(played.requests, 3);
    assert!(
        told.usage.input > 100 && told.usage.output > 10,
        "{:?}",
        told.usage
    );
    let document = atif::export(told, name);
    println!(
        "{name} {}: {}",
        document["agent"]["version"], document["final_metrics"]
    );
}

fn place_of(variable: &str) -> Option<String> {
    let place = std::env::var(variable).ok();
    if place.is_none() {
        println!("skipped: {variable} does not say where the agent is");
    }
    place
}

/// `cargo build -p hames`; `HAMES_EVAL_HAMES=target/debug/hames`, as a whole path.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs this workspace's program"]
async fn req_a06_hames_edits_and_oneshot_prints_a_diff() {
    if place_of("HAMES_EVAL_HAMES").is_none() {
        return;
    }
    let scenario = edit_scenario("bash", &json!({"text": "Fixed the greeting."}));
    let played = play("hames", String::new(), None, &scenario, &[]).await;
    is_fixed(&played, "hames");
    assert_eq!(played.told.turns[0].source, Source::System);
    assert!(played.told.turns[2].at.is_some());
    let diff = "--- a/greet.py\n+++ b/greet.py\n@@ -1,9 +1,7 @@\n-print('Helo')\n+print('Hello')\n";
    let answer = format!("Here you are:\n```diff\n{diff}```\n");
    let scenario =
        json!({"turns": [{"when": {"last": ["# greet.py", "print('Helo')"]}, "text": answer}]});
    let played = play("oneshot", String::new(), None, &scenario.to_string(), &[]).await;
    assert_eq!((played.requests, played.told.usage.calls), (1, 1));
    let right = diff.replace("-1,9 +1,7", "-1,1 +1,1");
    assert_eq!(played.diff.as_deref(), Some(right.as_str()));
}

/// `npm install @qwen-code/qwen-code` in a folder F; `HAMES_EVAL_QWEN=F/node_modules/.bin`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs an agent from npm"]
async fn req_a02_the_real_qwen_code_edits_and_is_read() {
    let Some(place) = place_of("HAMES_EVAL_QWEN") else {
        return;
    };
    let scenario = edit_scenario("run_shell_command", &json!({"text": "Fixed the greeting."}));
    let played = play("qwen-code", place, None, &scenario, &[]).await;
    is_fixed(&played, "qwen-code");
    assert_eq!(
        played.told.final_answer.as_deref(),
        Some("Fixed the greeting.")
    );
}

/// `npm install @anthropic-ai/claude-code` in a folder F; `HAMES_EVAL_CLAUDE=F/node_modules/.bin`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs an agent from npm"]
async fn req_a02_the_real_claude_code_edits_and_is_read() {
    let Some(place) = place_of("HAMES_EVAL_CLAUDE") else {
        return;
    };
    let scenario = edit_scenario("Bash", &json!({"text": "Fixed the greeting."}));
    // It asks for thinking, and an answer to that begins with some.
    let mut scenario: Value = serde_json::from_str(&scenario).unwrap();
    for turn in scenario["turns"].as_array_mut().unwrap() {
        turn["think"] = "hm".into();
    }
    let played = play("claude-code", place, None, &scenario.to_string(), &[]).await;
    is_fixed(&played, "claude-code");
    assert_eq!(
        played.told.final_answer.as_deref(),
        Some("Fixed the greeting.")
    );
}

/// `python3 -m venv V && V/bin/pip install mini-swe-agent`; `HAMES_EVAL_MINI=V/bin`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs an agent from the Python registry"]
async fn req_a03_the_real_mini_swe_agent_edits_and_is_read() {
    let Some(place) = place_of("HAMES_EVAL_MINI") else {
        return;
    };
    let submit =
        json!({"name": "bash", "input": {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}});
    let scenario = edit_scenario("bash", &json!({"text": "Done.", "calls": [submit]}));
    let played = play("mini-swe-agent", place, None, &scenario, &[]).await;
    is_fixed(&played, "mini-swe-agent");
}

/// `HAMES_EVAL_OPENCODE`, `HAMES_EVAL_KIMI`: folders of the programs; `HAMES_EVAL_OPENHARNESS` too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs agents from npm and the Python registry"]
async fn req_a03_other_real_brands_edit_and_are_read() {
    let brands = [
        ("opencode", "HAMES_EVAL_OPENCODE", "bash"),
        ("kimi", "HAMES_EVAL_KIMI", "Bash"),
        ("openharness", "HAMES_EVAL_OPENHARNESS", "bash"),
    ];
    for (name, variable, tool) in brands {
        let Some(place) = place_of(variable) else {
            continue;
        };
        let scenario = edit_scenario(tool, &json!({"text": "Fixed the greeting."}));
        let played = play(name, place, None, &scenario, &[]).await;
        let file = fs::read_to_string(played.machine.place.tree.join("greet.py")).unwrap();
        assert_eq!(file, "print('Hello')\n", "{:?}", played.ran);
        assert_eq!(calls(&played.told).len(), 2, "{name}");
        assert_eq!(
            played.told.final_answer.as_deref(),
            Some("Fixed the greeting."),
            "{name}"
        );
        println!("{name}: {:?}", played.told.usage);
    }
}

/// A venv with each framework, its Python named: `HAMES_EVAL_LANGGRAPH`, `_LANGCHAIN`, `_AUTOGEN`, `_CLAUDE_SDK`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs frameworks from the Python registry"]
async fn req_c11_frameworks_run_the_weather_demo_and_an_edit() {
    for (name, variable, tool) in [
        ("langgraph", "HAMES_EVAL_LANGGRAPH", "get_weather"),
        ("langchain", "HAMES_EVAL_LANGCHAIN", "get_weather"),
        ("autogen", "HAMES_EVAL_AUTOGEN", "get_weather"),
        (
            "claude-agent-sdk",
            "HAMES_EVAL_CLAUDE_SDK",
            "mcp__weather__get_weather",
        ),
    ] {
        let Some(python) = place_of(variable) else {
            continue;
        };
        let scenario = weather_scenario(tool);
        let demo = ["--demo", "weather"];
        let played = play(name, String::new(), Some(python.clone()), &scenario, &demo).await;
        let answer = played.told.final_answer.as_deref().unwrap_or_default();
        assert!(answer.starts_with("今天：北京 25°C 晴"), "{name}: {answer}");
        assert_eq!(played.told.turns.len(), 2, "{name}");
        assert_eq!(played.told.turns[0].text, "我查一下。", "{name}");
        assert_eq!(
            played.told.turns[0].calls[0].result.as_deref(),
            Some("北京 25°C 晴")
        );
        println!("{name} {:?}: {answer}", played.told.agent_version);
        if name != "claude-agent-sdk" {
            let scenario = edit_scenario("bash", &json!({"text": "Fixed the greeting."}));
            let played = play(name, String::new(), Some(python), &scenario, &[]).await;
            is_fixed(&played, name);
        }
    }
}
