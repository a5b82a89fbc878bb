//! Agents written with Python frameworks: how their runners are laid out and started, what they tell.
#![allow(clippy::unwrap_used)]

use std::fs;

use hames_eval::{adapter::Options, trajectory::Usage};
use serde_json::json;

use crate::adapters::{Machine, Ran, find, task, variable};

const RUNNERS: [(&str, &str, &str); 4] = [
    ("autogen", "autogen_agent.py", "autogen_agentchat"),
    ("claude-agent-sdk", "claude_agent.py", "claude_agent_sdk"),
    ("langchain", "langchain_agent.py", "langchain"),
    ("langgraph", "langgraph_agent.py", "langgraph"),
];

#[test]
fn a_runner_lies_in_the_private_home_and_runs_isolated() {
    let machine = Machine::new();
    let python = machine.stub("python3", "");
    let options = Options {
        model: "m-1".to_owned(),
        base_url: Some("http://127.0.0.1:9".to_owned()),
        max_turns: Some(5),
        temperature: Some(0.5),
        extra_args: vec!["--demo".to_owned(), "weather".to_owned()],
        ..Options::default()
    };
    for (name, file, _) in RUNNERS {
        let line = machine.line(find(name).as_ref(), &task(), &options);
        assert_eq!(line.program, python);
        let program = machine.place.home.join("runners").join(file);
        let anthropic = name == "claude-agent-sdk";
        let temperature = if anthropic { "" } else { "--temperature 0.5 " };
        assert_eq!(
            line.args.join(" "),
            format!(
                "-I {} --model m-1 --max-turns 5 {temperature}--demo weather",
                program.display()
            )
        );
        assert_eq!(line.stdin, Some(task().prompt));
        let files: Vec<_> = line
            .files
            .iter()
            .map(|(file, _)| file.to_str().unwrap())
            .collect();
        assert_eq!(files, ["runners/telling.py", &format!("runners/{file}")]);
        let (address, value) = if anthropic {
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        } else {
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        };
        assert_eq!(variable(&line, address), Some(value), "{name}");
    }
}

#[test]
fn req_a04_a_python_without_the_framework_is_refused_before_anything_is_built() {
    let mut machine = Machine::new();
    let root = machine.root.path().to_owned();
    for (name, _, module) in RUNNERS {
        let agent = find(name);
        let venv = root.join(name);
        let packages = venv.join("lib/python3.12/site-packages");
        fs::create_dir_all(&packages).unwrap();
        fs::create_dir_all(venv.join("bin")).unwrap();
        fs::write(
            venv.join("pyvenv.cfg"),
            "include-system-site-packages = false\n",
        )
        .unwrap();
        let python = venv.join("bin/python");
        machine.variable("HAMES_EVAL_PYTHON", python.to_str().unwrap());
        let check = |machine: &Machine| agent.check(&machine.host, &Options::default());
        let refused = check(&machine).unwrap_err().to_string();
        assert!(
            refused.ends_with(&format!("is missing: {}", agent.about().install)),
            "{refused}"
        );
        fs::write(&python, "").unwrap();
        let refused = check(&machine).unwrap_err().to_string();
        let missing = format!("{name} for {} is missing: pip install ", python.display());
        assert!(refused.starts_with(&missing), "{refused}");
        fs::create_dir_all(packages.join(module)).unwrap();
        assert_eq!(check(&machine), Ok(()));
    }
}

#[test]
fn a_runner_says_what_is_missing_and_it_is_not_the_agents_failure() {
    for (name, _, _) in RUNNERS {
        let mut machine = Machine::new();
        let Some(python) = ["/usr/bin/python3", "/usr/local/bin/python3"]
            .into_iter()
            .find(|python| std::path::Path::new(python).is_file())
        else {
            println!("skipped: there is no python3 in /usr");
            return;
        };
        machine.variable("HAMES_EVAL_PYTHON", python);
        let agent = find(name);
        let ran = machine.run(agent.as_ref(), &task(), &Options::default());
        if ran.returncode != Some(3) {
            println!("skipped: {python} has {name}");
            continue;
        }
        let reading = machine.read(agent.as_ref(), &ran, &Options::default());
        let said = reading.infrastructure.unwrap();
        assert!(
            said.contains("is not installed for") && said.contains("pip install"),
            "{said}"
        );
        assert_eq!(reading.failure, None);
    }
}

#[test]
fn a_runners_lines_become_turns() {
    let machine = Machine::new();
    let stream = r#"{"type": "start", "framework": "langgraph", "version": "1.2", "model": "m-1"}
some library's warning
{"type": "thought", "text": "hm"}
{"type": "turn", "part_of": "m1/10", "text": "Let me look.", "calls": [], "usage": {"input": 10, "output": 1}}
{"type": "turn", "part_of": "m1/10", "text": "", "calls": [{"id": "c1", "name": "bash", "arguments": "{\"command\":\"ls\"}"}], "usage": {"input": 10, "output": 4, "cache_read": 2}}
{"type": "result", "id": "c1", "text": "no rule(exit code 2)", "is_error": true}
{"type": "turn", "text": "Done.", "calls": [], "usage": {"input": 20, "output": 3, "reasoning": 1}}
{"type": "end", "answer": "Done."}
"#;
    let reading = machine.read(
        find("langgraph").as_ref(),
        &Ran::printed(stream),
        &Options::default(),
    );
    let told = reading.trajectory;
    assert_eq!(told.agent_version.as_deref(), Some("1.2"));
    assert_eq!(told.model.as_deref(), Some("m-1"));
    assert_eq!(told.turns.len(), 2);
    assert_eq!(told.turns[0].text, "Let me look.");
    assert_eq!(told.turns[0].reasoning.as_deref(), Some("hm"));
    assert_eq!(told.turns[0].calls[0].arguments, json!({"command": "ls"}));
    assert!(told.turns[0].calls[0].is_error);
    assert_eq!(told.final_answer.as_deref(), Some("Done."));
    let usage = Usage {
        input: 30,
        output: 7,
        cache_read: 2,
        reasoning: 1,
        calls: 2,
        ..Usage::default()
    };
    assert_eq!(told.usage, usage);
    assert_eq!(reading.notes, [""; 0]);
}

#[test]
fn a_runners_error_is_the_services_or_the_agents() {
    let machine = Machine::new();
    let ended = |message: &str| {
        let ran = Ran {
            returncode: Some(1),
            ..Ran::printed(&format!(
                "{}\n",
                json!({"type": "error", "message": message})
            ))
        };
        let reading = machine.read(find("autogen").as_ref(), &ran, &Options::default());
        (reading.infrastructure, reading.failure)
    };
    let service = "RateLimitError: Error code: 429 - slow down".to_owned();
    assert_eq!(ended(&service), (Some(service), None));
    let own = "the limit of 5 turns was reached".to_owned();
    assert_eq!(ended(&own), (None, Some(own)));
}
