//! `opencode`: the agent of that name, read from `run --format json`.
//!
//! Its own sign-ins are not in its private home: it works by key.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    json_lines::{arguments, content, count, first_text, objects, text},
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

pub struct OpenCode;

const INSTALL: &str = "npm install -g opencode-ai";

/// The provider that stands for an address of the user's own.
const ASKED: &str = "asked";

impl Adapter for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn passes(&self) -> &'static [&'static str] {
        &[
            "ANTHROPIC_API_KEY",
            "DEEPSEEK_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "GROQ_API_KEY",
            "OPENAI_API_KEY",
            "OPENCODE_API_KEY",
            "OPENROUTER_API_KEY",
            "XAI_API_KEY",
        ]
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "run --format json: text, reasoning and tool_use parts; usage and cost from \
                    each step_finish",
            stops: "ends at once, killed after 5 s",
            takes: &[Choice::Model, Choice::BaseUrl, Choice::ExtraArgs],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "opencode", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "opencode", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        for variable in [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_SHARE",
        ] {
            launch::set(&mut line, variable, "1");
        }
        let config = config(&mut line, options);
        let file = PathBuf::from(".config/opencode/opencode.json");
        line.files.push((file, config.to_string()));
        let prompt = launch::prompt_argument(&mut line, task, place);
        launch::add(&mut line, ["run", "--format", "json"]);
        line.args.extend(options.extra_args.iter().cloned());
        line.args.push(prompt);
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        let (lines, garbled) = objects(left.stdout);
        let mut told = Retelling {
            garbled,
            ..Retelling::default()
        };
        for line in &lines {
            read_line(&mut told, line);
        }
        told.finish(left, &self.about())
    }
}

/// The model stands here and not on the command line, so that titles are written by it as well.
fn config(line: &mut crate::adapter::CommandLine, options: &Options) -> Value {
    let mut config = json!({"autoupdate": false, "share": "disabled", "permission": "allow"});
    let mut model = options.model.clone();
    if let Some(url) = &options.base_url {
        let own = format!("{ASKED}/");
        let name = model.strip_prefix(&own).unwrap_or(&model).to_owned();
        model = format!("{own}{name}");
        launch::set_if_absent(line, "OPENAI_API_KEY", launch::NO_KEY);
        // Nothing is asked of the list of models in the network.
        launch::set(line, "OPENCODE_DISABLE_MODELS_FETCH", "1");
        config["provider"] = json!({ASKED: {
            "npm": "@ai-sdk/openai-compatible",
            "name": ASKED,
            "options": {"baseURL": launch::openai_address(url), "apiKey": "{env:OPENAI_API_KEY}"},
            "models": {name: {"tool_call": true, "limit": {"context": 200_000, "output": 16_000}}},
        }});
    }
    if !model.is_empty() {
        config["model"] = json!(model);
        config["small_model"] = json!(model);
    }
    config
}

fn read_line(told: &mut Retelling, line: &Value) {
    let part = &line["part"];
    if told.trajectory.session_id.is_none() {
        told.trajectory.session_id = text(line, "/sessionID").map(str::to_owned);
    }
    match text(line, "/type").unwrap_or_default() {
        "step_start" => {
            told.error = None;
            told.turn(Source::Agent);
        }
        "text" => last(told).text += text(part, "/text").unwrap_or_default(),
        "reasoning" => {
            let thought = text(part, "/text").unwrap_or_default();
            last(told)
                .reasoning
                .get_or_insert_default()
                .push_str(thought);
        }
        "tool_use" => tool(told, part),
        "step_finish" => {
            let usage = usage(&part["tokens"]);
            last(told).usage = Some(usage);
            if let Some(cost) = part.get("cost").and_then(Value::as_f64) {
                *told.trajectory.cost_usd.get_or_insert(0.0) += cost;
            }
        }
        "error" => {
            let said = first_text(
                line,
                &["/error/data/message", "/error/message", "/error/name"],
            );
            told.error = Some(said.map_or_else(|| content(&line["error"]), str::to_owned));
        }
        _ => {}
    }
}

/// The step that is being told; its calls may be answered before it ends.
fn last(told: &mut Retelling) -> &mut crate::trajectory::Turn {
    if told.trajectory.turns.is_empty() {
        told.turn(Source::Agent);
    }
    let last = told.trajectory.turns.len() - 1;
    &mut told.trajectory.turns[last]
}

fn tool(told: &mut Retelling, part: &Value) {
    let id = text(part, "/callID").unwrap_or_default();
    let name = text(part, "/tool").unwrap_or_default();
    let made = call(id, name, arguments(&part["state"]["input"]));
    last(told).calls.push(made);
    let status = text(part, "/state/status").unwrap_or_default();
    if matches!(status, "completed" | "error") {
        let answer = first_text(part, &["/state/output", "/state/error"]).unwrap_or_default();
        let code = count(part, "/state/metadata/exit");
        told.answer(id, answer, status == "error" || code != 0);
    }
}

fn usage(tokens: &Value) -> Usage {
    Usage {
        input: count(tokens, "/input"),
        output: count(tokens, "/output"),
        cache_read: count(tokens, "/cache/read"),
        cache_write: count(tokens, "/cache/write"),
        reasoning: count(tokens, "/reasoning"),
        calls: 1,
    }
}
