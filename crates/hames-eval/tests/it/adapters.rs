//! The list of agents, and those that need no program of somebody else's.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    io::{ErrorKind, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

use hames_eval::{
    adapter::{Adapter, CommandLine, Left, Options, Place, Plan, Reading},
    adapters,
    host::Host,
    instance::Task,
    stage::StageError,
};

/// A machine of the test's own: a folder with `home`, `temp`, `tree` and `bin`, which is on the path.
pub struct Machine {
    pub root: tempfile::TempDir,
    pub host: Host,
    pub place: Place,
}

impl Machine {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = root.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            folder
        };
        let path = format!("{}:/usr/bin:/bin", folder("bin").display());
        let host = Host {
            variables: [("PATH".to_owned(), path.clone())].into(),
            cache: folder("cache"),
            hames: root.path().join("bin/hames"),
            version: "0.0.0".to_owned(),
        };
        let place = Place {
            tree: folder("tree"),
            home: folder("home"),
            temp: folder("temp"),
            env: vec![("PATH".to_owned(), path)],
        };
        Self { root, host, place }
    }

    /// A program of this name that is a shell script.
    pub fn stub(&self, name: &str, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let file = self.root.path().join("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    pub fn variable(&mut self, name: &str, value: &str) {
        self.host
            .variables
            .insert(name.to_owned(), value.to_owned());
    }

    pub fn line(&self, adapter: &dyn Adapter, task: &Task, options: &Options) -> CommandLine {
        match adapter
            .plan(task, &self.place, &self.host, options)
            .unwrap()
        {
            Plan::Subprocess(line) => line,
            Plan::Patch(patch) => panic!("a patch instead of a process: {patch}"),
        }
    }

    /// Runs the plan as S4 does, without its limits.
    pub fn run(&self, adapter: &dyn Adapter, task: &Task, options: &Options) -> Ran {
        let line = self.line(adapter, task, options);
        for (file, text) in &line.files {
            let file = self.place.home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let mut command = Command::new(&line.program);
        command
            .args(&line.args)
            .env_clear()
            .current_dir(&self.place.tree);
        command
            .envs(self.place.env.iter().cloned())
            .envs(line.env.iter().cloned());
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .stdin(Stdio::piped());
        // Another test's child may hold a stub open that has just been written, until it has become
        // its own program.
        let mut child = loop {
            match command.spawn() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now();
                }
                spawned => break spawned.unwrap(),
            }
        };
        let mut stdin = child.stdin.take().unwrap();
        // A program need not read it.
        let _ = stdin.write_all(line.stdin.as_deref().unwrap_or_default().as_bytes());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        Ran {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            returncode: output.status.code(),
        }
    }

    pub fn read(&self, adapter: &dyn Adapter, ran: &Ran, options: &Options) -> Reading {
        adapter.read(&Left {
            stdout: &ran.stdout,
            stderr: &ran.stderr,
            returncode: ran.returncode,
            killed: ran.returncode.is_some_and(|code| code < 0),
            place: &self.place,
            options,
        })
    }
}

#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub returncode: Option<i32>,
}

impl Ran {
    /// What an agent printed that ended well.
    pub fn printed(stdout: &str) -> Self {
        Self {
            stdout: stdout.to_owned(),
            stderr: String::new(),
            returncode: Some(0),
        }
    }
}

pub fn task() -> Task {
    Task {
        instance_id: "acme__greet-7".to_owned(),
        repo: "acme/greet".to_owned(),
        version: "1.0".to_owned(),
        problem_statement: "It says Helo, see greet.py.".to_owned(),
        prompt: "Fix it: it says \"Helo\" — it's in $HOME/greet.py `now`.\nAll of it.".to_owned(),
        gold_patch: None,
    }
}

pub fn find(name: &str) -> Box<dyn Adapter> {
    adapters::find(name).unwrap()
}

pub fn variable<'a>(line: &'a CommandLine, name: &str) -> Option<&'a str> {
    let mut found = line.env.iter().filter(|(known, _)| known == name);
    let value = found.next().map(|(_, value)| value.as_str());
    assert!(found.next().is_none(), "{name} is set twice");
    value
}

#[test]
fn req_a01_names_and_aliases_find_one_adapter_each() {
    let mut seen = std::collections::BTreeSet::new();
    for adapter in adapters::all() {
        for name in [adapter.name()].iter().chain(adapter.aliases()) {
            assert!(seen.insert(*name), "{name} is there twice");
            assert_eq!(find(name).name(), adapter.name());
            assert_eq!(
                find(&name.replace('-', "_").to_uppercase()).name(),
                adapter.name()
            );
        }
    }
    assert_eq!(find("command:true").name(), "command");
}

#[test]
fn an_unknown_name_is_told_what_is_near_and_what_there_is() {
    let StageError::BadInput(said) = adapters::find("hamse").err().unwrap() else {
        panic!("another error");
    };
    assert!(said.starts_with("there is no adapter hamse (did you mean hames?); there are hames,"));
    let said = adapters::find("zzzzzzzz").err().unwrap().to_string();
    assert!(!said.contains("did you mean"), "{said}");
    assert!(said.contains("replay"), "{said}");
}

#[test]
fn req_a05_a_list_of_models_is_a_chain_of_tries_for_oneshot_alone() {
    let options = Options {
        model: "openai/a, ollama/b".to_owned(),
        max_turns: Some(3),
        ..Options::default()
    };
    let names = ["hames".to_owned(), "oneshot".to_owned()];
    let chain = adapters::chain(&names, &options).unwrap();
    let tries: Vec<_> = chain
        .iter()
        .map(|(adapter, options)| (adapter.name(), options.model.as_str(), options.max_turns))
        .collect();
    assert_eq!(
        tries,
        [
            ("hames", "openai/a, ollama/b", Some(3)),
            ("oneshot", "openai/a", Some(3)),
            ("oneshot", "ollama/b", Some(3)),
        ]
    );
    assert!(adapters::chain(&["nobody".to_owned()], &options).is_err());
}

#[test]
fn req_w18_replay_plays_gold_and_refuses_without_it() {
    let machine = Machine::new();
    let replay = find("replay");
    assert!(replay.plays_gold());
    assert!(
        adapters::all()
            .iter()
            .filter(|one| one.plays_gold())
            .count()
            == 1
    );
    let gold = Task {
        gold_patch: Some("--- a/x\n".to_owned()),
        ..task()
    };
    let plan = |task| replay.plan(task, &machine.place, &machine.host, &Options::default());
    assert_eq!(plan(&gold), Ok(Plan::Patch("--- a/x\n".to_owned())));
    let refused = plan(&task()).unwrap_err().to_string();
    assert_eq!(refused, "acme__greet-7: there is no gold patch to replay");
}

#[test]
fn a_command_gets_the_prompt_word_for_word_however_its_place_is_quoted() {
    let machine = Machine::new();
    let options = Options {
        model: "m 1".to_owned(),
        ..Options::default()
    };
    for template in [
        "printf '%s|' {prompt} {model} {tree}",
        "printf '%s|' \"{prompt}\" \"{model}\" \"{tree}\"",
        "printf '%s|' '{prompt}' '{model}' '{tree}'",
        "printf '%s|' \"$(cat {prompt_file})\" {model} {tree}",
    ] {
        let agent = find(&format!("command:{template}"));
        let ran = machine.run(agent.as_ref(), &task(), &options);
        let tree = machine.place.tree.display();
        assert_eq!(
            ran.stdout,
            format!("{}|m 1|{tree}|", task().prompt),
            "{template}"
        );
        assert_eq!(ran.stderr, "");
        assert_eq!(machine.line(agent.as_ref(), &task(), &options).stdin, None);
    }
    let agent = find("command:cat; echo; pwd");
    let ran = machine.run(agent.as_ref(), &task(), &options);
    let tree = machine.place.tree.display();
    assert_eq!(ran.stdout, format!("{}\n{tree}\n", task().prompt));
}

#[test]
fn a_command_gets_those_variables_alone_that_it_names() {
    let mut machine = Machine::new();
    machine.variable("ACME_KEY", "k1");
    machine.variable("ACME_KEY_2", "k2");
    machine.variable("OPENAI_API_KEY", "k3");
    machine.variable("HOME", "/root");
    let agent = find("command:agent --key ${ACME_KEY_2} --home $HOME {prompt}");
    let line = machine.line(agent.as_ref(), &task(), &Options::default());
    assert_eq!(variable(&line, "ACME_KEY_2"), Some("k2"));
    assert_eq!(variable(&line, "ACME_KEY"), None);
    assert_eq!(variable(&line, "OPENAI_API_KEY"), None);
    assert_eq!(variable(&line, "HOME"), machine.place.home.to_str());
}

#[test]
fn a_command_is_refused_where_it_is_empty_missing_or_too_long() {
    let machine = Machine::new();
    let check = |name: &str| find(name).check(&machine.host, &Options::default());
    let said = check("command").unwrap_err().to_string();
    assert!(said.contains("{prompt_file}"), "{said}");
    assert_eq!(
        check("command:KEY=1 no-such-agent {prompt}")
            .unwrap_err()
            .to_string(),
        "the program no-such-agent is missing: install it, or give its path"
    );
    assert_eq!(check("command:cd x && \"$AGENT\" {prompt}"), Ok(()));
    let long = Task {
        prompt: "x".repeat(200_000),
        ..task()
    };
    let agent = find("command:echo {prompt}");
    let plan = agent.plan(&long, &machine.place, &machine.host, &Options::default());
    let said = plan.unwrap_err().to_string();
    assert!(
        said.contains("acme__greet-7") && said.contains("{prompt_file}"),
        "{said}"
    );
    let agent = find("command:wc -c < {prompt_file}");
    let ran = machine.run(agent.as_ref(), &long, &Options::default());
    assert_eq!(ran.stdout.trim(), "200000");
}

#[test]
fn a_commands_output_is_kept_and_a_diff_in_it_is_found() {
    let machine = Machine::new();
    let diff = "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+b\n";
    let agent = find("command:agent");
    let ran = Ran::printed(&format!("Here it is.\n\n```diff\n{diff}```\nDone.\n"));
    let reading = machine.read(agent.as_ref(), &ran, &Options::default());
    assert_eq!(reading.diff.as_deref(), Some(diff));
    assert_eq!(
        reading.trajectory.final_answer.as_deref(),
        Some(ran.stdout.trim())
    );
    assert_eq!((reading.infrastructure, reading.failure), (None, None));
}

#[test]
fn req_n05_a_services_failure_is_told_apart_from_the_agents_own() {
    let machine = Machine::new();
    let agent = find("command:agent");
    let ended = |stderr: &str, returncode| {
        let ran = Ran {
            stdout: String::new(),
            stderr: stderr.to_owned(),
            returncode,
        };
        let reading = machine.read(agent.as_ref(), &ran, &Options::default());
        (reading.infrastructure, reading.failure)
    };
    for services in [
        "Error: 429 Too Many Requests",
        "API Error: 529 overloaded_error",
        "error: status code: 503",
        "openai.AuthenticationError: Incorrect API key provided: sk-1",
        "connect ECONNREFUSED 127.0.0.1:1",
        "litellm.APIConnectionError: Connection error.",
        "Please run /login",
        "getaddrinfo ENOTFOUND api.example",
        "The OPENAI_API_KEY environment variable is missing",
        "You exceeded your current quota",
    ] {
        let wanted = (Some(services.to_owned()), None);
        assert_eq!(
            ended(&format!("starting\n{services}\n"), Some(1)),
            wanted,
            "{services}"
        );
    }
    for own in [
        "TypeError: undefined is not a function",
        "reached the limit of 30 turns",
        "line 429: syntax error",
        "took 500 steps",
    ] {
        assert_eq!(ended(own, Some(1)), (None, Some(own.to_owned())), "{own}");
    }
    // Said by a test or a model, where an agent prints whatever it likes.
    let ran = Ran {
        returncode: Some(1),
        ..Ran::printed("FAILED test_net: 429 Too Many Requests")
    };
    let reading = machine.read(agent.as_ref(), &ran, &Options::default());
    assert_eq!(reading.infrastructure, None);
    assert_eq!(reading.failure, Some(ran.stdout));
    // Said on the way, by an agent that ended well or that we ended.
    assert_eq!(
        ended("429 Too Many Requests, again in 1 s", Some(0)),
        (None, None)
    );
    assert_eq!(
        ended("429 Too Many Requests, again in 1 s", Some(-15)),
        (None, None)
    );
}

#[test]
fn what_an_agent_cannot_be_told_is_said() {
    let machine = Machine::new();
    let options = Options {
        seed: Some(1),
        temperature: Some(0.0),
        model: "m".to_owned(),
        ..Options::default()
    };
    let reading = machine.read(find("command:x").as_ref(), &Ran::printed(""), &options);
    assert_eq!(
        reading.notes,
        [
            "temperature: this agent cannot be told, so its own choice holds",
            "seed: this agent cannot be told, so its own choice holds",
        ]
    );
}
