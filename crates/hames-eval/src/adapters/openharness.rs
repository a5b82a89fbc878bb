//! `openharness`: the reference system, read from its `stream-json`.
//!
//! It has no ids for its calls and tells no usage.

use serde_json::Value;

use super::{
    json_lines::{arguments, content, first_text, objects, text},
    launch,
    retelling::{Retelling, call},
};
use crate::{
    adapter::{About, Adapter, Choice, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
    trajectory::Source,
};

pub struct OpenHarness;

const INSTALL: &str = "pip install openharness-ai (or pipx, uv tool)";

impl Adapter for OpenHarness {
    fn name(&self) -> &'static str {
        "openharness"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["oh"]
    }

    fn passes(&self) -> &'static [&'static str] {
        &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
        ]
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "stream-json: assistant_complete, tool_started and tool_completed lines; it \
                    tells no usage and no cost",
            stops: "ends at once, killed after 5 s",
            takes: &[
                Choice::Model,
                Choice::BaseUrl,
                Choice::MaxTurns,
                Choice::ExtraArgs,
            ],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "oh", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "oh", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        launch::shield_python(&mut line, place);
        // What has no name of Anthropic's is served in OpenAI's way.
        let anthropic = options.model.is_empty() || options.model.starts_with("claude");
        let (format, interface) = if anthropic {
            ("anthropic", launch::ANTHROPIC)
        } else {
            ("openai", launch::OPENAI)
        };
        launch::add(&mut line, ["--api-format", format]);
        if let Some(url) = &options.base_url {
            launch::point_at(&mut line, options, interface);
            let url = if anthropic {
                launch::bare_address(url)
            } else {
                launch::openai_address(url)
            };
            launch::add(&mut line, ["--base-url", &url]);
        }
        launch::add_model(&mut line, "--model", options);
        launch::add(&mut line, ["--dangerously-skip-permissions"]);
        launch::add(&mut line, ["--output-format", "stream-json"]);
        if let Some(turns) = options.max_turns {
            launch::add(&mut line, ["--max-turns", &turns.to_string()]);
        }
        line.args.extend(options.extra_args.iter().cloned());
        let prompt = launch::prompt_argument(&mut line, task, place);
        launch::add(&mut line, ["-p", &prompt]);
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        let (lines, garbled) = objects(left.stdout);
        let mut told = Retelling {
            garbled,
            ..Retelling::default()
        };
        for (number, line) in lines.iter().enumerate() {
            read_line(&mut told, line, number);
        }
        told.finish(left, &self.about())
    }
}

fn read_line(told: &mut Retelling, line: &Value, number: usize) {
    match text(line, "/type").unwrap_or_default() {
        "assistant_complete" => {
            told.error = None;
            told.say(Source::Agent, content(&line["text"]));
        }
        "tool_started" => {
            let name = text(line, "/tool_name").unwrap_or_default();
            let made = call(number.to_string(), name, arguments(&line["tool_input"]));
            match told.trajectory.turns.last_mut() {
                Some(last) => last.calls.push(made),
                None => told.turn(Source::Agent).calls.push(made),
            }
        }
        "tool_completed" => {
            let name = text(line, "/tool_name").unwrap_or_default();
            let is_error = line.get("is_error").and_then(Value::as_bool) == Some(true);
            answer(told, name, content(&line["output"]), is_error);
        }
        "error" => {
            let said = first_text(line, &["/message", "/error"]);
            told.error = said.map(str::to_owned);
        }
        _ => {}
    }
}

/// Results come in the order of their calls.
fn answer(told: &mut Retelling, name: &str, text: String, is_error: bool) {
    let Some(last) = told.trajectory.turns.last_mut() else {
        return;
    };
    let mut calls = last.calls.iter_mut();
    let waits = calls.find(|call| call.name == name && call.result.is_none());
    if let Some(call) = waits {
        call.result = Some(text);
        call.is_error = is_error;
    }
}
