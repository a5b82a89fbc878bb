//! `mini-swe-agent`: bash and nothing else, read from the trajectory that it writes after each step.
//!
//! Its configuration is its own, but for limits and what the task's environment needs.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    json_lines::{arguments, content, count, items, text},
    launch,
    retelling::{Retelling, call},
};
use crate::{
    adapter::{About, Adapter, Choice, CommandLine, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
    trajectory::{Source, Usage},
};

pub struct MiniSweAgent;

const INSTALL: &str = "pip install mini-swe-agent (or pipx, uv tool)";

/// In the home.
const TRAJECTORY: &str = "run.traj.json";

/// Keys of the providers that litellm knows by these names.
pub const LITELLM_PASSES: [&str; 14] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "DASHSCOPE_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "OLLAMA_API_BASE",
    "OPENAI_API_BASE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
];

impl Adapter for MiniSweAgent {
    fn name(&self) -> &'static str {
        "mini-swe-agent"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["mini"]
    }

    fn passes(&self) -> &'static [&'static str] {
        &LITELLM_PASSES
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "the .traj.json in its home: messages with the provider's own answers; usage \
                    from those, cost from model_stats",
            stops: "ends at once, killed after 5 s; the steps before are in its file",
            takes: &[
                Choice::Model,
                Choice::BaseUrl,
                Choice::MaxTurns,
                Choice::MaxCost,
                Choice::Temperature,
                Choice::Seed,
                Choice::ExtraArgs,
            ],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "mini", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "mini", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        launch::point_at(&mut line, options, launch::LITELLM);
        for (variable, value) in [
            ("MSWEA_CONFIGURED", "true"),
            ("MSWEA_SILENT_STARTUP", "1"),
            // A model without a price must not end the run.
            ("MSWEA_COST_TRACKING", "ignore_errors"),
        ] {
            launch::set(&mut line, variable, value);
        }
        launch::shield_python(&mut line, place);
        let prompt = launch::prompt_argument(&mut line, task, place);
        launch::add(&mut line, ["-t", &prompt, "-y", "--exit-immediately"]);
        let output = place.home.join(TRAJECTORY);
        launch::add(&mut line, ["-o", &output.to_string_lossy()]);
        let model = launch::litellm_model(options);
        if !model.is_empty() {
            launch::add(&mut line, ["-m", &model]);
        }
        let most = options.max_cost.unwrap_or(0.0);
        launch::add(&mut line, ["-l", &most.to_string()]);
        configure(&mut line, place, options);
        line.args.extend(options.extra_args.iter().cloned());
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        retell(&left.place.home.join(TRAJECTORY)).finish(left, &self.about())
    }
}

fn configure(line: &mut CommandLine, place: &Place, options: &Options) {
    let mut settings = vec![
        "mini.yaml".to_owned(),
        "agent.confirm_exit=false".to_owned(),
    ];
    if let Some(turns) = options.max_turns {
        settings.push(format!("agent.step_limit={turns}"));
    }
    if let Some(temperature) = options.temperature {
        settings.push(format!("model.model_kwargs.temperature={temperature}"));
    }
    if let Some(seed) = options.seed {
        settings.push(format!("model.model_kwargs.seed={seed}"));
    }
    // What the agent itself must not see, its commands must.
    if let Some((_, path)) = place.env.iter().find(|(name, _)| name == "PYTHONPATH") {
        settings.push(format!("environment.env.PYTHONPATH={path}"));
    }
    for setting in settings {
        launch::add(line, ["-c", &setting]);
    }
}

fn retell(file: &Path) -> Retelling {
    let mut told = Retelling::default();
    let Ok(whole) = fs::read_to_string(file) else {
        told.notes
            .push("there is no trajectory in its home".to_owned());
        return told;
    };
    let whole = serde_json::from_str::<Value>(&whole).unwrap_or_else(|_| {
        told.notes.push("its trajectory is cut".to_owned());
        json!({"messages": whole_messages(&whole)})
    });
    let info = &whole["info"];
    told.trajectory.agent_version = text(info, "/mini_version").map(str::to_owned);
    told.trajectory.model = text(info, "/config/model/model_name").map(str::to_owned);
    let cost = info.pointer("/model_stats/instance_cost");
    // Nothing is what it says where it knows no price.
    told.trajectory.cost_usd = cost.and_then(Value::as_f64).filter(|cost| *cost > 0.0);
    for said in items(&whole, "/messages") {
        message(&mut told, said);
    }
    let status = text(info, "/exit_status").unwrap_or_default();
    if !matches!(status, "" | "Submitted") {
        let why = text(info, "/exception_str").or_else(|| text(info, "/submission"));
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        told.error = Some(format!("it ended with {status}{why}"));
    }
    told.trajectory.final_answer = text(info, "/submission").map(str::to_owned);
    told
}

/// The messages before the place where a killed agent's file was cut.
fn whole_messages(cut: &str) -> Vec<Value> {
    let Some((_, mut rest)) = cut.split_once("\"messages\":") else {
        return Vec::new();
    };
    let mut messages = Vec::new();
    loop {
        rest =
            rest.trim_start_matches(|letter: char| letter.is_whitespace() || "[,".contains(letter));
        let mut next = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match next.next() {
            Some(Ok(message)) if message.is_object() => messages.push(message),
            Some(Ok(_) | Err(_)) | None => return messages,
        }
        rest = rest.get(next.byte_offset()..).unwrap_or_default();
    }
}

fn message(told: &mut Retelling, said: &Value) {
    let spoken = content(&said["content"]);
    let at = said
        .pointer("/extra/timestamp")
        .and_then(Value::as_f64)
        .map(launch::moment);
    match text(said, "/role").unwrap_or_default() {
        "system" => told.say(Source::System, spoken),
        "user" => told.say(Source::User, spoken),
        "assistant" => {
            let turn = told.turn(Source::Agent);
            turn.at = at;
            turn.text = spoken;
            turn.reasoning = text(said, "/reasoning_content").map(str::to_owned);
            turn.usage = said.pointer("/extra/response/usage").map(openai_usage);
            for made in items(said, "/tool_calls") {
                let id = text(made, "/id").unwrap_or_default();
                let name = text(made, "/function/name").unwrap_or_default();
                turn.calls
                    .push(call(id, name, arguments(&made["function"]["arguments"])));
            }
        }
        "tool" => {
            let id = text(said, "/tool_call_id").unwrap_or_default();
            let raw = said.pointer("/extra/raw_output").map(content);
            let code = said.pointer("/extra/returncode");
            told.answer(
                id,
                raw.unwrap_or(spoken),
                code.is_some_and(|code| *code != json!(0)),
            );
        }
        _ => {}
    }
}

/// As OpenAI-style answers have it: what was cached is a part of the prompt.
pub fn openai_usage(usage: &Value) -> Usage {
    let cache_read = count(usage, "/prompt_tokens_details/cached_tokens");
    Usage {
        input: count(usage, "/prompt_tokens").saturating_sub(cache_read),
        output: count(usage, "/completion_tokens"),
        cache_read,
        cache_write: 0,
        reasoning: count(usage, "/completion_tokens_details/reasoning_tokens"),
        calls: 1,
    }
}
