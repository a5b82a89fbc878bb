//! Agents that are written with a Python framework: a small program of ours for each, run by a Python
//! that has the framework.
//!
//! The programs are data; a framework is never a dependency. What they print is in `telling.py`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    claude_code, json_lines,
    json_lines::{arguments, count, items, objects, text},
    launch,
    retelling::{Retelling, call},
};
use crate::{
    adapter::{About, Adapter, Choice, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
    trajectory::{Source, Usage},
};

/// A framework, as data.
pub struct PythonRunner {
    name: &'static str,
    aliases: &'static [&'static str],
    /// What must be importable.
    module: &'static str,
    install: &'static str,
    file: &'static str,
    program: &'static str,
    passes: &'static [&'static str],
    interface: launch::Interface,
    /// Variables that keep it quiet.
    quiet: &'static [(&'static str, &'static str)],
    takes: &'static [Choice],
}

/// Names the Python that has the framework, where it is not `python3`.
pub const PYTHON: &str = "HAMES_EVAL_PYTHON";

const TELLING: &str = include_str!("../../runners/telling.py");

const OPENAI_PASSES: &[&str] = &["OPENAI_API_KEY", "OPENAI_BASE_URL"];

const OPENAI_TAKES: &[Choice] = &[
    Choice::Model,
    Choice::BaseUrl,
    Choice::MaxTurns,
    Choice::Temperature,
    Choice::ExtraArgs,
];

const LANGSMITH_OFF: &[(&str, &str)] = &[("LANGSMITH_TRACING", "false")];

pub const LANGGRAPH: PythonRunner = PythonRunner {
    name: "langgraph",
    aliases: &[],
    module: "langgraph",
    install: "pip install langgraph langchain-openai, and name that Python in HAMES_EVAL_PYTHON",
    file: "langgraph_agent.py",
    program: include_str!("../../runners/langgraph_agent.py"),
    passes: OPENAI_PASSES,
    interface: launch::OPENAI,
    quiet: LANGSMITH_OFF,
    takes: OPENAI_TAKES,
};

pub const LANGCHAIN: PythonRunner = PythonRunner {
    name: "langchain",
    aliases: &[],
    module: "langchain",
    install: "pip install langchain langchain-openai, and name that Python in HAMES_EVAL_PYTHON",
    file: "langchain_agent.py",
    program: include_str!("../../runners/langchain_agent.py"),
    passes: OPENAI_PASSES,
    interface: launch::OPENAI,
    quiet: LANGSMITH_OFF,
    takes: OPENAI_TAKES,
};

pub const AUTOGEN: PythonRunner = PythonRunner {
    name: "autogen",
    aliases: &["autogen-agentchat"],
    module: "autogen_agentchat",
    install: "pip install autogen-agentchat 'autogen-ext[openai]', and name that Python in HAMES_EVAL_PYTHON",
    file: "autogen_agent.py",
    program: include_str!("../../runners/autogen_agent.py"),
    passes: OPENAI_PASSES,
    interface: launch::OPENAI,
    quiet: &[],
    takes: OPENAI_TAKES,
};

pub const CLAUDE_AGENT_SDK: PythonRunner = PythonRunner {
    name: "claude-agent-sdk",
    aliases: &["claude-sdk"],
    module: "claude_agent_sdk",
    install: "pip install claude-agent-sdk, and name that Python in HAMES_EVAL_PYTHON",
    file: "claude_agent.py",
    program: include_str!("../../runners/claude_agent.py"),
    passes: &claude_code::PASSES,
    interface: launch::ANTHROPIC,
    quiet: &claude_code::QUIET,
    takes: &[
        Choice::Model,
        Choice::BaseUrl,
        Choice::MaxTurns,
        Choice::ExtraArgs,
    ],
};

impl Adapter for PythonRunner {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn passes(&self) -> &'static [&'static str] {
        self.passes
    }

    fn about(&self) -> About {
        About {
            install: self.install,
            reads: "JSON lines of its runner (`runners/telling.py`): turns with usage, results",
            stops: "ends at once, killed after 5 s",
            takes: self.takes,
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        let python = self.python(host)?;
        if lacks(&python, self.module) {
            return Err(StageError::Missing {
                what: format!("{} for {}", self.name, python.display()),
                hint: self.install.to_owned(),
            });
        }
        Ok(())
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let mut line = launch::command_line(self, self.python(host)?, place, host);
        launch::point_at(&mut line, options, self.interface);
        launch::set_all(&mut line, self.quiet);
        let folder = Path::new("runners");
        for (file, text) in [("telling.py", TELLING), (self.file, self.program)] {
            line.files.push((folder.join(file), text.to_owned()));
        }
        // Isolated: neither the task's import path nor its folder is the agent's.
        let program = place.home.join(folder).join(self.file);
        launch::add(&mut line, ["-I", &program.to_string_lossy()]);
        launch::add_model(&mut line, "--model", options);
        if let Some(turns) = options.max_turns {
            launch::add(&mut line, ["--max-turns", &turns.to_string()]);
        }
        if let Some(temperature) = options.temperature
            && self.takes.contains(&Choice::Temperature)
        {
            launch::add(&mut line, ["--temperature", &temperature.to_string()]);
        }
        line.args.extend(options.extra_args.iter().cloned());
        line.stdin = Some(task.prompt.clone());
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        let (lines, garbled) = objects(left.stdout);
        let mut runner = Runner::default();
        runner.told.garbled = garbled;
        for line in &lines {
            runner.line(line);
        }
        runner.told.finish(left, &self.about())
    }
}

impl PythonRunner {
    fn python(&self, host: &Host) -> Result<PathBuf, StageError> {
        let named = host.variables.get(PYTHON).map_or("python3", String::as_str);
        launch::program(host, named, self.install)
    }
}

/// Whether the interpreter's own folder of packages is there and the module is not in it. Where such
/// a folder is not beside it, the runner itself will tell.
fn lacks(python: &Path, module: &str) -> bool {
    let Some(prefix) = python.parent().and_then(Path::parent) else {
        return false;
    };
    let settings = fs::read_to_string(prefix.join("pyvenv.cfg"));
    let Ok(settings) = settings else {
        return false;
    };
    let shares = settings.lines().any(|line| {
        line.split_once('=').is_some_and(|(name, value)| {
            name.trim() == "include-system-site-packages" && value.trim() == "true"
        })
    });
    if shares {
        return false;
    }
    let Ok(versions) = fs::read_dir(prefix.join("lib")) else {
        return false;
    };
    let packages = versions
        .flatten()
        .map(|version| version.path().join("site-packages"));
    let packages: Vec<_> = packages.filter(|folder| folder.is_dir()).collect();
    !packages.is_empty() && !packages.iter().any(|folder| folder.join(module).is_dir())
}

#[derive(Default)]
struct Runner {
    told: Retelling,
    /// Of the last turn, where a message comes in parts.
    part_of: Option<String>,
    thought: Option<String>,
}

impl Runner {
    fn line(&mut self, line: &Value) {
        match text(line, "/type").unwrap_or_default() {
            "start" => {
                let told = &mut self.told.trajectory;
                told.agent_version = text(line, "/version").map(str::to_owned);
                told.model = text(line, "/model").map(str::to_owned);
            }
            "thought" => self.thought = text(line, "/text").map(str::to_owned),
            "turn" => self.turn(line),
            "result" => {
                let id = text(line, "/id").unwrap_or_default();
                let answer = json_lines::content(&line["text"]);
                let is_error = line.get("is_error").and_then(Value::as_bool) == Some(true);
                self.told.answer(id, answer, is_error);
            }
            "total" => {
                self.told.trajectory.usage = usage(&line["usage"]);
                self.told.trajectory.cost_usd = line.get("cost").and_then(Value::as_f64);
            }
            "end" => {
                self.told.trajectory.final_answer = text(line, "/answer").map(str::to_owned);
            }
            "error" => self.told.error = text(line, "/message").map(str::to_owned),
            "missing" => self.told.infrastructure = text(line, "/message").map(str::to_owned),
            _ => {}
        }
    }

    fn turn(&mut self, line: &Value) {
        let part_of = text(line, "/part_of").map(str::to_owned);
        let goes_on = part_of.is_some() && part_of == self.part_of;
        self.part_of = part_of;
        let thought = self.thought.take();
        let turns = &mut self.told.trajectory.turns;
        let turn = match turns.last_mut() {
            Some(last) if goes_on => last,
            Some(_) | None => self.told.turn(Source::Agent),
        };
        turn.text += text(line, "/text").unwrap_or_default();
        turn.reasoning = turn.reasoning.take().or(thought);
        turn.usage = line
            .get("usage")
            .filter(|usage| usage.is_object())
            .map(usage);
        for made in items(line, "/calls") {
            let id = text(made, "/id").unwrap_or_default();
            let name = text(made, "/name").unwrap_or_default();
            turn.calls
                .push(call(id, name, arguments(&made["arguments"])));
        }
    }
}

fn usage(usage: &Value) -> Usage {
    Usage {
        input: count(usage, "/input"),
        output: count(usage, "/output"),
        cache_read: count(usage, "/cache_read"),
        cache_write: count(usage, "/cache_write"),
        reasoning: count(usage, "/reasoning"),
        calls: 0,
    }
}
