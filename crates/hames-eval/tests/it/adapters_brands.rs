//! The brands: their command lines against stub programs, and what is read from what they print.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use hames_eval::{
    adapter::{Options, Place, Plan, Reading},
    adapters,
    instance::Task,
    stage::StageError,
    trajectory::{Source, Trajectory, Usage},
};

use crate::adapters::{Machine, Ran, find, task, variable};

/// A brand, the program it runs, and where its output is in `test_data/agents`.
const BRANDS: [(&str, &str, &str); 9] = [
    ("aider", "aider", "aider.txt"),
    ("claude-code", "claude", "claude-code.jsonl"),
    ("codex", "codex", "codex.jsonl"),
    ("gemini-cli", "gemini", "gemini-cli.jsonl"),
    ("kimi", "kimi", "kimi.jsonl"),
    ("mini-swe-agent", "mini", "mini-swe-agent.traj.json"),
    ("opencode", "opencode", "opencode.jsonl"),
    ("openharness", "oh", "openharness.jsonl"),
    ("qwen-code", "qwen", "qwen-code.jsonl"),
];

fn recorded(file: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test_data/agents")
        .join(file);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A program that notes what it was given and plays the brand's recording.
fn stub(machine: &Machine, program: &str, file: &str) {
    let recording = machine.root.path().join("recording");
    fs::write(&recording, recorded(file)).unwrap();
    let play = if file.ends_with(".traj.json") {
        format!("cp {} \"$HOME/run.traj.json\"", recording.display())
    } else {
        format!("cat {}", recording.display())
    };
    let script = format!(
        "for arg in \"$@\"; do printf '%s\\n' \"$arg\"; done > \"$HOME/args\"\n\
         env > \"$HOME/env\"\ncat > \"$HOME/stdin\"\npwd > \"$HOME/cwd\"\n{play}\n"
    );
    machine.stub(program, &script);
}

fn left(machine: &Machine, file: &str) -> String {
    fs::read_to_string(machine.place.home.join(file)).unwrap()
}

fn short_task() -> Task {
    Task {
        prompt: "fix it".to_owned(),
        ..task()
    }
}

fn chosen() -> Options {
    Options {
        model: "m-1".to_owned(),
        base_url: Some("http://127.0.0.1:9".to_owned()),
        max_turns: Some(5),
        max_cost: Some(1.5),
        temperature: Some(0.0),
        extra_args: vec!["--more".to_owned()],
        ..Options::default()
    }
}

/// One line a turn, with its calls and their answers.
fn story(told: &Trajectory) -> Vec<String> {
    let turns = told.turns.iter().map(|turn| {
        let calls = turn.calls.iter().map(|call| {
            let command = call.arguments["command"].as_str().unwrap_or_default();
            let result = call.result.as_deref().unwrap_or("?");
            let mark = if call.is_error { "!" } else { "=" };
            format!(" [{command} {mark} {result}]")
        });
        format!(
            "{:?}: {}{}",
            turn.source,
            turn.text,
            calls.collect::<String>()
        )
    });
    turns.collect()
}

fn usage(told: &Trajectory) -> (u64, u64, u64, u64, u64) {
    let Usage {
        input,
        output,
        cache_read,
        cache_write,
        calls,
        ..
    } = told.usage;
    (input, output, cache_read, cache_write, calls)
}

fn played(brand: &str, program: &str, file: &str) -> (Machine, Reading) {
    let machine = Machine::new();
    stub(&machine, program, file);
    let agent = find(brand);
    let ran = machine.run(agent.as_ref(), &short_task(), &chosen());
    assert_eq!(
        (ran.returncode, ran.stderr.as_str()),
        (Some(0), ""),
        "{brand}"
    );
    let reading = machine.read(agent.as_ref(), &ran, &Options::default());
    (machine, reading)
}

const LOOK: &str = "Agent: Let me look. [cat greet.py = Helo]";
const FIX: &str = "Agent:  [sed -i s/Helo/Hello/ greet.py = ] [make check ! no rule]";
const DONE: &str = "Agent: Fixed the greeting.";

#[test]
fn req_a03_every_brands_recording_tells_the_same_story() {
    for (brand, program, file) in BRANDS {
        let (_machine, reading) = played(brand, program, file);
        let told = &reading.trajectory;
        let mut said = story(told);
        match brand {
            "aider" => {
                let edit = "Fixed the greeting.\n\ngreet.py\n<<<<<<< SEARCH\nHelo\n=======\nHello\n>>>>>>> REPLACE";
                let done = format!("Agent: {edit} [ = Applied edit to greet.py]");
                assert_eq!(said, ["Agent: greet.py\n\nLet me look.".to_owned(), done]);
                continue;
            }
            "gemini-cli" => assert_eq!(said.remove(0), "User: fix it"),
            "mini-swe-agent" => {
                assert_eq!(said.remove(0), "System: You are a helpful assistant.");
                assert_eq!(said.remove(0), "User: Please solve this issue: fix it");
                let last = said.pop().unwrap();
                assert_eq!(
                    last,
                    "Agent: Done. [echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT = ?]"
                );
                said.push(DONE.to_owned());
            }
            "kimi" => said[1] = said[1].replace("Process exited with code 2: ", ""),
            _ => {}
        }
        assert_eq!(said, [LOOK, FIX, DONE], "{brand}");
        assert_eq!(
            told.final_answer.as_deref(),
            Some("Fixed the greeting."),
            "{brand}"
        );
        let thought = told.turns.iter().find_map(|turn| turn.reasoning.as_deref());
        let thinks = ["claude-code", "codex", "opencode", "qwen-code"].contains(&brand);
        assert_eq!(thought.is_some(), thinks, "{brand}");
        assert_eq!(
            (&reading.infrastructure, &reading.failure),
            (&None, &None),
            "{brand}"
        );
        assert_eq!(reading.notes, [""; 0], "{brand}");
    }
}

#[test]
fn req_w04_usage_and_cost_are_the_agents_own_totals() {
    let expected = [
        ("aider", (2700, 60, 1000, 0, 2), Some(0.03)),
        ("claude-code", (357, 63, 10, 5, 3), Some(0.0125)),
        ("codex", (350, 60, 10, 0, 3), None),
        ("gemini-cli", (350, 60, 10, 0, 3), None),
        ("kimi", (0, 0, 0, 0, 3), None),
        ("mini-swe-agent", (350, 60, 10, 0, 3), Some(0.0125)),
        ("opencode", (350, 60, 10, 0, 3), Some(0.0125)),
        ("openharness", (0, 0, 0, 0, 3), None),
        ("qwen-code", (350, 60, 10, 0, 3), None),
    ];
    for ((brand, program, file), (named, tokens, cost)) in BRANDS.into_iter().zip(expected) {
        assert_eq!(brand, named);
        let (_machine, reading) = played(brand, program, file);
        assert_eq!(usage(&reading.trajectory), tokens, "{brand}");
        let cents = |cost: Option<f64>| cost.map(|cost| (cost * 1e6).round());
        assert_eq!(cents(reading.trajectory.cost_usd), cents(cost), "{brand}");
    }
}

#[test]
fn sessions_models_and_versions_are_read() {
    let (_machine, reading) = played("claude-code", "claude", "claude-code.jsonl");
    let told = &reading.trajectory;
    assert_eq!(told.session_id.as_deref(), Some("s-1"));
    assert_eq!(told.model.as_deref(), Some("m-1"));
    assert_eq!(told.agent_version.as_deref(), Some("2.1.9"));
    assert_eq!(told.subagents.len(), 1);
    assert_eq!(told.subagents[0].session_id.as_deref(), Some("c3"));
    assert_eq!(story(&told.subagents[0]), ["Agent: I am another."]);
    let (_machine, reading) = played("mini-swe-agent", "mini", "mini-swe-agent.traj.json");
    let told = &reading.trajectory;
    assert_eq!(told.agent_version.as_deref(), Some("2.4.6"));
    assert_eq!(
        told.turns[2].at.as_deref(),
        Some("2026-12-01T10:05:15.250Z")
    );
}

#[test]
fn some_servers_give_every_message_the_same_id() {
    let machine = Machine::new();
    let stream = recorded("claude-code.jsonl");
    let stream = stream
        .replace("\"id\":\"m2\"", "\"id\":\"m1\"")
        .replace("\"id\":\"m3\"", "\"id\":\"m1\"");
    let agent = find("claude-code");
    let reading = machine.read(agent.as_ref(), &Ran::printed(&stream), &Options::default());
    assert_eq!(story(&reading.trajectory), [LOOK, FIX, DONE]);
}

#[test]
fn answers_to_calls_with_the_same_id_come_in_their_order() {
    let machine = Machine::new();
    let stream = recorded("kimi.jsonl")
        .replace("\"c3\"", "\"c1\"")
        .replace("\"c2\"", "\"c1\"");
    let reading = machine.read(
        find("kimi").as_ref(),
        &Ran::printed(&stream),
        &Options::default(),
    );
    let said = story(&reading.trajectory);
    assert_eq!(said[1].replace("Process exited with code 2: ", ""), FIX);
}

#[test]
fn req_a02_each_brand_is_started_as_its_program_wants_it() {
    let expected = [
        (
            "aider",
            "--model openai/m-1 --yes-always --no-auto-commits --no-dirty-commits --no-gitignore \
             --no-check-update --analytics-disable --no-show-model-warnings \
             --no-show-release-notes --no-detect-urls --no-suggest-shell-commands --no-pretty \
             --no-stream --chat-history-file HOME/aider.chat.md --input-history-file \
             HOME/aider.input --message-file HOME/prompt.md --more",
            "",
        ),
        (
            "claude-code",
            "-p --output-format stream-json --verbose --dangerously-skip-permissions --model m-1 \
             --max-turns 5 --max-budget-usd 1.5 --more",
            "fix it",
        ),
        (
            "codex",
            "exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --model \
             m-1 -c model_provider=\"asked\" -c model_providers.asked={name = \"asked\", base_url = \
             \"http://127.0.0.1:9/v1\", env_key = \"OPENAI_API_KEY\", wire_api = \"responses\"} \
             --more -",
            "fix it",
        ),
        (
            "gemini-cli",
            "-p fix it --output-format stream-json --yolo --model m-1 --more",
            "",
        ),
        ("kimi", "-p fix it --output-format stream-json --more", ""),
        (
            "mini-swe-agent",
            "-t fix it -y --exit-immediately -o HOME/run.traj.json -m openai/m-1 -l 1.5 -c \
             mini.yaml -c agent.confirm_exit=false -c agent.step_limit=5 -c \
             model.model_kwargs.temperature=0 --more",
            "",
        ),
        ("opencode", "run --format json --more fix it", ""),
        (
            "openharness",
            "--api-format openai --base-url http://127.0.0.1:9/v1 --model m-1 \
             --dangerously-skip-permissions --output-format stream-json --max-turns 5 --more -p \
             fix it",
            "",
        ),
        (
            "qwen-code",
            "-p fix it --output-format stream-json --yolo --auth-type openai --model m-1 \
             --max-session-turns 5 --more",
            "",
        ),
    ];
    for ((brand, program, file), (named, args, stdin)) in BRANDS.into_iter().zip(expected) {
        assert_eq!(brand, named);
        let (machine, _) = played(brand, program, file);
        let home = machine.place.home.to_str().unwrap();
        let given = left(&machine, "args")
            .replace(home, "HOME")
            .replace('\n', " ");
        assert_eq!(given.trim_end(), args, "{brand}");
        assert_eq!(left(&machine, "stdin"), stdin, "{brand}");
        assert_eq!(
            left(&machine, "cwd").trim_end(),
            machine.place.tree.to_str().unwrap()
        );
    }
}

#[test]
fn provider_keys_reach_those_agents_alone_that_name_them() {
    const FOREIGN: [&str; 5] = [
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "HF_TOKEN",
        "SSH_AUTH_SOCK",
        "XDG_CONFIG_HOME",
    ];
    for adapter in adapters::all() {
        let mut machine = Machine::new();
        for (_, program, _) in BRANDS {
            machine.stub(program, "");
        }
        machine.stub("python3", "");
        for name in FOREIGN.iter().chain(adapter.passes()) {
            machine.variable(name, &format!("value of {name}"));
        }
        machine.variable("HTTPS_PROXY", "http://proxy");
        let task = Task {
            gold_patch: Some(String::new()),
            ..task()
        };
        let options = Options {
            command: "true".to_owned(),
            ..Options::default()
        };
        if adapter.name() == "predictions" {
            continue;
        }
        let plan = adapter
            .plan(&task, &machine.place, &machine.host, &options)
            .unwrap();
        let Plan::Subprocess(line) = plan else {
            continue;
        };
        for name in adapter.passes() {
            let value = format!("value of {name}");
            assert_eq!(
                variable(&line, name),
                Some(value.as_str()),
                "{}",
                adapter.name()
            );
        }
        for name in FOREIGN {
            let value = variable(&line, name).unwrap_or_default();
            assert!(
                !value.starts_with("value of"),
                "{} gets {name}",
                adapter.name()
            );
        }
        assert_eq!(variable(&line, "HTTPS_PROXY"), Some("http://proxy"));
        assert_eq!(variable(&line, "HOME"), machine.place.home.to_str());
        assert!(!line.grace.is_zero());
    }
}

#[test]
fn a_server_of_the_users_own_needs_no_key() {
    let machine = Machine::new();
    for (brand, program, address, key) in [
        (
            "aider",
            "aider",
            "OPENAI_API_BASE=http://127.0.0.1:9/v1",
            "OPENAI_API_KEY",
        ),
        (
            "claude-code",
            "claude",
            "ANTHROPIC_BASE_URL=http://127.0.0.1:9",
            "ANTHROPIC_API_KEY",
        ),
        (
            "gemini-cli",
            "gemini",
            "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9",
            "GEMINI_API_KEY",
        ),
        (
            "kimi",
            "kimi",
            "KIMI_MODEL_BASE_URL=http://127.0.0.1:9/v1",
            "KIMI_MODEL_API_KEY",
        ),
        (
            "mini-swe-agent",
            "mini",
            "OPENAI_API_BASE=http://127.0.0.1:9/v1",
            "OPENAI_API_KEY",
        ),
        (
            "openharness",
            "oh",
            "OPENAI_BASE_URL=http://127.0.0.1:9/v1",
            "OPENAI_API_KEY",
        ),
        (
            "qwen-code",
            "qwen",
            "OPENAI_BASE_URL=http://127.0.0.1:9/v1",
            "OPENAI_API_KEY",
        ),
    ] {
        machine.stub(program, "");
        let line = machine.line(find(brand).as_ref(), &task(), &chosen());
        let (name, value) = address.split_once('=').unwrap();
        assert_eq!(variable(&line, name), Some(value), "{brand}");
        assert_eq!(variable(&line, key), Some("none"), "{brand}");
    }
}

#[test]
fn telemetry_and_updates_are_off_and_settings_lie_in_the_private_home() {
    let said = [
        ("claude-code", "claude", "DISABLE_TELEMETRY=1", ""),
        ("claude-code", "claude", "DISABLE_AUTOUPDATER=1", ""),
        (
            "codex",
            "codex",
            ".codex/config.toml",
            "check_for_update_on_startup = false",
        ),
        (
            "codex",
            "codex",
            ".codex/config.toml",
            "[analytics]\nenabled = false",
        ),
        (
            "gemini-cli",
            "gemini",
            ".gemini/settings.json",
            "\"usageStatisticsEnabled\":false",
        ),
        ("kimi", "kimi", "KIMI_DISABLE_TELEMETRY=1", ""),
        ("kimi", "kimi", "KIMI_CODE_NO_AUTO_UPDATE=1", ""),
        (
            "opencode",
            "opencode",
            ".config/opencode/opencode.json",
            "\"autoupdate\":false",
        ),
        (
            "opencode",
            "opencode",
            ".config/opencode/opencode.json",
            "\"permission\":\"allow\"",
        ),
        (
            "opencode",
            "opencode",
            ".config/opencode/opencode.json",
            "\"model\":\"asked/m-1\"",
        ),
        (
            "qwen-code",
            "qwen",
            ".qwen/settings.json",
            "\"usageStatisticsEnabled\":false",
        ),
        (
            "qwen-code",
            "qwen",
            ".qwen/settings.json",
            "\"disableAutoUpdate\":true",
        ),
    ];
    let machine = Machine::new();
    for (brand, program, place, text) in said {
        machine.stub(program, "");
        let line = machine.line(find(brand).as_ref(), &task(), &chosen());
        match place.split_once('=') {
            Some((name, value)) => assert_eq!(variable(&line, name), Some(value), "{brand}"),
            None => {
                let files = &line.files;
                let file = files.iter().find(|(path, _)| path == Path::new(place));
                assert!(file.unwrap().1.contains(text), "{brand}: {place}");
            }
        }
    }
}

#[test]
fn req_a04_a_program_that_is_absent_is_refused_with_how_to_install_it() {
    let mut machine = Machine::new();
    machine.variable("PATH", "/nowhere");
    for (brand, program, _) in BRANDS {
        let agent = find(brand);
        let refused = agent.check(&machine.host, &Options::default()).unwrap_err();
        let install = agent.about().install;
        assert!(install.contains("npm install -g ") || install.contains("pip install "));
        assert_eq!(
            refused,
            StageError::Missing {
                what: format!("the program {program}"),
                hint: install.to_owned(),
            }
        );
        let plan = agent.plan(&task(), &machine.place, &machine.host, &chosen());
        assert_eq!(plan, Err(refused));
    }
}

#[test]
fn what_is_cut_or_garbled_tells_what_is_there() {
    for (brand, _, file) in BRANDS {
        let machine = Machine::new();
        let agent = find(brand);
        let whole = recorded(file);
        let read = |text: &str, returncode| {
            fs::write(machine.place.home.join("run.traj.json"), text).unwrap();
            let ran = Ran {
                returncode,
                ..Ran::printed(text)
            };
            machine.read(agent.as_ref(), &ran, &Options::default())
        };
        let turns = read(&whole, Some(0)).trajectory.turns;
        for end in (0..whole.len()).step_by(47) {
            let Some(part) = whole.get(..end) else {
                continue;
            };
            let reading = read(part, Some(-15));
            let told = reading.trajectory.turns;
            assert!(told.len() <= turns.len(), "{brand} at {end}");
            // All but the last turn is as it will be.
            for (one, other) in told.iter().zip(&turns).take(told.len().saturating_sub(1)) {
                assert_eq!(one.text, other.text, "{brand} at {end}");
            }
            assert_eq!(reading.failure, None, "{brand} at {end}");
        }
        for seed in 0..40 {
            let mut garbled = whole.clone().into_bytes();
            let mut random = fastrand::Rng::with_seed(seed);
            for _ in 0..20 {
                let at = random.usize(..garbled.len());
                garbled[at] = random.u8(..);
            }
            let _ = read(&String::from_utf8_lossy(&garbled), Some(0));
        }
    }
}

#[test]
fn a_cut_stream_keeps_the_turns_before_the_cut() {
    let machine = Machine::new();
    for (brand, _, file) in BRANDS {
        if brand == "aider" {
            continue;
        }
        let whole = recorded(file);
        let is_mini = brand == "mini-swe-agent";
        let cut = if is_mini {
            "Done."
        } else {
            "Fixed the greeting."
        };
        let (before, _) = whole.split_once(cut).unwrap();
        fs::write(machine.place.home.join("run.traj.json"), before).unwrap();
        let ran = Ran {
            returncode: Some(-9),
            ..Ran::printed(before)
        };
        let reading = machine.read(find(brand).as_ref(), &ran, &Options::default());
        let agents = |told: &Trajectory| {
            let turns = told.turns.iter();
            turns
                .filter(|turn| turn.source == Source::Agent && !turn.calls.is_empty())
                .count()
        };
        assert_eq!(agents(&reading.trajectory), 2, "{brand}");
        let note = if is_mini {
            "its trajectory is cut"
        } else {
            "1 lines of its output could not be read"
        };
        assert_eq!(reading.notes, [note], "{brand}");
        assert_eq!(reading.trajectory.final_answer, None, "{brand}");
    }
}

fn ended(brand: &str, last_line: &str) -> (Option<String>, Option<String>) {
    let machine = Machine::new();
    let ran = Ran {
        returncode: Some(1),
        ..Ran::printed(last_line)
    };
    let reading = machine.read(find(brand).as_ref(), &ran, &Options::default());
    (reading.infrastructure, reading.failure)
}

#[test]
fn req_n05_a_services_refusal_in_a_stream_is_infrastructure() {
    let cases = [
        (
            "claude-code",
            r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 401 invalid x-api-key"}"#,
            "API Error: 401 invalid x-api-key",
        ),
        (
            "qwen-code",
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 429 rate limited]"}}"#,
            "[API Error: 429 rate limited]",
        ),
        (
            "codex",
            r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: no key"}}"#,
            "unexpected status 401 Unauthorized: no key",
        ),
        (
            "gemini-cli",
            r#"{"type":"result","status":"error","error":{"type":"Error","message":"RESOURCE_EXHAUSTED: quota"}}"#,
            "RESOURCE_EXHAUSTED: quota",
        ),
        (
            "opencode",
            r#"{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Too Many Requests"}}}"#,
            "Too Many Requests",
        ),
        (
            "openharness",
            r#"{"type": "error", "message": "API error: Connection error."}"#,
            "API error: Connection error.",
        ),
        (
            "aider",
            "litellm.AuthenticationError: OpenAIException - Incorrect API key provided",
            "litellm.AuthenticationError: OpenAIException - Incorrect API key provided",
        ),
    ];
    for (brand, line, said) in cases {
        assert_eq!(ended(brand, line), (Some(said.to_owned()), None), "{brand}");
    }
    let own = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["reached 5 turns"]}"#;
    assert_eq!(
        ended("claude-code", own),
        (None, Some("reached 5 turns".to_owned()))
    );
}

#[test]
fn mini_swe_agents_own_ending_is_told() {
    let machine = Machine::new();
    let ended = recorded("mini-swe-agent.traj.json").replace(
        "\"exit_status\": \"Submitted\",\n  \"submission\": \"Fixed the greeting.\"",
        "\"exit_status\": \"LimitsExceeded\"",
    );
    fs::write(machine.place.home.join("run.traj.json"), ended).unwrap();
    let agent = find("mini-swe-agent");
    let reading = machine.read(agent.as_ref(), &Ran::printed(""), &Options::default());
    assert_eq!(
        reading.failure.as_deref(),
        Some("it ended with LimitsExceeded")
    );
}

#[test]
fn a_long_prompt_lies_in_a_file_and_one_like_a_flag_is_none() {
    let machine = Machine::new();
    machine.stub("qwen", "");
    let line = |prompt: String| {
        let task = Task { prompt, ..task() };
        machine.line(find("qwen-code").as_ref(), &task, &Options::default())
    };
    let long = line("x".repeat(131_072));
    let file = machine.place.home.join("prompt.md");
    assert_eq!(
        long.args[1],
        format!("Read the file {} and do what it says.", file.display())
    );
    assert!(
        long.files
            .iter()
            .any(|(name, text)| name == Path::new("prompt.md") && text.len() == 131_072)
    );
    assert_eq!(line("--version".to_owned()).args[1], "\n--version");
}

#[test]
fn the_tasks_import_path_is_not_a_python_agents_own() {
    let machine = Machine::new();
    for (brand, program) in [
        ("mini-swe-agent", "mini"),
        ("aider", "aider"),
        ("openharness", "oh"),
    ] {
        machine.stub(program, "");
        let mut env = machine.place.env.clone();
        env.push(("PYTHONPATH".to_owned(), "/t/lib".to_owned()));
        let place = Place {
            env,
            ..machine.place.clone()
        };
        let plan = find(brand).plan(&task(), &place, &machine.host, &Options::default());
        let Ok(Plan::Subprocess(line)) = plan else {
            panic!("{brand}: {plan:?}");
        };
        assert_eq!(variable(&line, "PYTHONPATH"), Some(""), "{brand}");
        let told = line
            .args
            .contains(&"environment.env.PYTHONPATH=/t/lib".to_owned());
        assert_eq!(told, brand == "mini-swe-agent");
    }
}
