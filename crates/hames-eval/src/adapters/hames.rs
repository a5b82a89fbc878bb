//! `hames`: this program as a subprocess, like any other agent; its turns are in its session's journal.
//!
//! It has no door that another agent has not.

use super::{
    claude_stream::{self, Dialect},
    journal, launch,
    retelling::Retelling,
};
use crate::{
    adapter::{About, Adapter, Choice, CommandLine, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
};

pub struct Hames;

/// Below the home; sessions lie in `hames/sessions` of it.
const STATE: &str = ".local/state";

/// Each vendor's address has a variable of its own.
const ADDRESSES: [(&str, &str); 12] = [
    ("anthropic", "ANTHROPIC_BASE_URL"),
    ("deepseek", "DEEPSEEK_BASE_URL"),
    ("groq", "GROQ_BASE_URL"),
    ("llamacpp", "LLAMACPP_BASE_URL"),
    ("lmstudio", "LMSTUDIO_BASE_URL"),
    ("mistral", "MISTRAL_BASE_URL"),
    ("ollama", "OLLAMA_HOST"),
    ("openai", "OPENAI_BASE_URL"),
    ("openrouter", "OPENROUTER_BASE_URL"),
    ("together", "TOGETHER_BASE_URL"),
    ("vllm", "VLLM_BASE_URL"),
    ("xai", "XAI_BASE_URL"),
];

pub const PASSES: [&str; 28] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "DEEPSEEK_API_KEY",
    "DEEPSEEK_BASE_URL",
    "GROQ_API_KEY",
    "GROQ_BASE_URL",
    "LLAMACPP_API_KEY",
    "LLAMACPP_BASE_URL",
    "LMSTUDIO_API_KEY",
    "LMSTUDIO_BASE_URL",
    "MISTRAL_API_KEY",
    "MISTRAL_BASE_URL",
    "OLLAMA_API_KEY",
    "OLLAMA_HOST",
    "OPENAI_API_KEY",
    "OPENAI_API_BASE",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "OPENAI_ORG_ID",
    "OPENROUTER_API_KEY",
    "TOGETHER_API_KEY",
    "VLLM_API_KEY",
    "VLLM_BASE_URL",
    "XAI_API_KEY",
    "XAI_BASE_URL",
];

const DIALECT: Dialect = Dialect {
    input_has_cache: false,
    version: "/hames_version",
};

impl Adapter for Hames {
    fn name(&self) -> &'static str {
        "hames"
    }

    fn passes(&self) -> &'static [&'static str] {
        &PASSES
    }

    fn about(&self) -> About {
        About {
            install: "part of hames",
            reads: "the session's journal in its state folder, with its sub-agents'; \
                    cost from the result line of stream-json",
            stops: "interrupts the run and writes its result; killed after 10 s",
            takes: &[
                Choice::Model,
                Choice::BaseUrl,
                Choice::Shape,
                Choice::MaxTurns,
                Choice::MaxCost,
                Choice::ExtraArgs,
            ],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        is_there(host)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let mut line = start(self, place, host, options);
        launch::add(&mut line, ["--permission-mode", "full-auto"]);
        if let Some(turns) = options.max_turns {
            launch::add(&mut line, ["--max-turns", &turns.to_string()]);
        }
        if let Some(shape) = &options.shape {
            launch::add(&mut line, ["--shape", shape]);
        }
        line.args.extend(options.extra_args.iter().cloned());
        launch::add(&mut line, ["-"]);
        line.stdin = Some(task.prompt.clone());
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        retell(left).finish(left, &self.about())
    }
}

/// Its exit code where no model, no key or a wrong flag let it send nothing at all.
const COULD_NOT_BEGIN: i32 = 2;

pub fn is_there(host: &Host) -> Result<(), StageError> {
    if host.hames.is_file() {
        return Ok(());
    }
    Err(StageError::Missing {
        what: format!("this program's own file, {}", host.hames.display()),
        hint: "it was moved or replaced while it ran; start it again".to_owned(),
    })
}

/// What every run of this program has; the prompt is read from stdin.
pub fn start(adapter: &dyn Adapter, place: &Place, host: &Host, options: &Options) -> CommandLine {
    let mut line = launch::command_line(adapter, &host.hames, place, host);
    line.grace = std::time::Duration::from_secs(10);
    let state = place.home.join(STATE);
    launch::set(&mut line, "XDG_STATE_HOME", state.to_string_lossy());
    launch::set(
        &mut line,
        "XDG_CONFIG_HOME",
        place.home.join(".config").to_string_lossy(),
    );
    if let Some(url) = &options.base_url {
        let vendor = options.model.split('/').next().unwrap_or_default();
        let known = ADDRESSES.iter().find(|(known, _)| *known == vendor);
        let variable = known.map_or("OPENAI_BASE_URL", |(_, variable)| variable);
        let url = match vendor {
            "anthropic" | "ollama" => launch::bare_address(url),
            _ => launch::openai_address(url),
        };
        launch::set(&mut line, variable, url);
    }
    launch::add(&mut line, ["-p", "--output-format", "stream-json"]);
    if !options.model.is_empty() {
        launch::add(&mut line, ["--model", &options.model]);
    }
    if let Some(most) = options.max_cost {
        launch::add(&mut line, ["--max-cost", &most.to_string()]);
    }
    line
}

/// The journal has more than the stream, and is whole at every moment.
pub fn retell(left: &Left<'_>) -> Retelling {
    let mut streamed = claude_stream::read(left.stdout, DIALECT);
    if left.returncode == Some(COULD_NOT_BEGIN) {
        let said = left.stderr.lines().find(|line| !line.trim().is_empty());
        let said = said.unwrap_or("it could not begin");
        let said = said.trim_start_matches("hames: ");
        streamed.infrastructure = Some(said.to_owned());
    }
    let sessions = left.place.home.join(STATE).join("hames/sessions");
    let Some(mut told) = journal::read(&sessions) else {
        streamed
            .notes
            .push("there is no session's journal in its home".to_owned());
        return streamed;
    };
    told.trajectory.agent_version = streamed.trajectory.agent_version;
    told.trajectory.cost_usd = streamed.trajectory.cost_usd;
    told.trajectory.final_answer = streamed.trajectory.final_answer;
    told.infrastructure = streamed.infrastructure;
    told.garbled += streamed.garbled;
    told
}
