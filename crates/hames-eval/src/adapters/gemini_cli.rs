//! `gemini-cli`: Google's command-line agent, read from its `stream-json`.
//!
//! It works by key or by a cloud project; its own sign-in is not in its private home.

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

pub struct GeminiCli;

const INSTALL: &str = "npm install -g @google/gemini-cli";

impl Adapter for GeminiCli {
    fn name(&self) -> &'static str {
        "gemini-cli"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["gemini"]
    }

    fn passes(&self) -> &'static [&'static str] {
        &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_LOCATION",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ]
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "stream-json: message, tool_use and tool_result lines; usage from the result's \
                    stats, no cost",
            stops: "ends at once, killed after 5 s; a killed run has no usage",
            takes: &[
                Choice::Model,
                Choice::BaseUrl,
                Choice::MaxTurns,
                Choice::ExtraArgs,
            ],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "gemini", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "gemini", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        launch::point_at(&mut line, options, launch::GOOGLE);
        launch::set(&mut line, "GEMINI_CLI_TRUST_WORKSPACE", "true");
        let vertex = launch::holds(&line, "GOOGLE_GENAI_USE_VERTEXAI");
        let turns = options.max_turns.map_or(json!(-1), |turns| json!(turns));
        let settings = json!({
            "security": {
                "auth": {"selectedType": if vertex { "vertex-ai" } else { "gemini-api-key" }},
                "folderTrust": {"enabled": false},
            },
            "general": {"enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "model": {"maxSessionTurns": turns},
        });
        line.files
            .push((PathBuf::from(".gemini/settings.json"), settings.to_string()));
        let prompt = launch::prompt_argument(&mut line, task, place);
        launch::add(
            &mut line,
            ["-p", &prompt, "--output-format", "stream-json", "--yolo"],
        );
        launch::add_model(&mut line, "--model", options);
        line.args.extend(options.extra_args.iter().cloned());
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

fn read_line(told: &mut Retelling, line: &Value) {
    let at = text(line, "/timestamp").map(str::to_owned);
    match text(line, "/type").unwrap_or_default() {
        "init" => {
            told.trajectory.session_id = text(line, "/session_id").map(str::to_owned);
            told.trajectory.model = text(line, "/model").map(str::to_owned);
        }
        "message" if text(line, "/role") == Some("user") => {
            told.say(Source::User, content(&line["content"]));
        }
        "message" => {
            let turn = told.agent();
            turn.at = turn.at.take().or(at);
            turn.text += &content(&line["content"]);
        }
        "tool_use" => {
            let id = text(line, "/tool_id").unwrap_or_default();
            let name = text(line, "/tool_name").unwrap_or_default();
            let turn = told.agent();
            turn.at = turn.at.take().or(at);
            turn.calls
                .push(call(id, name, arguments(&line["parameters"])));
        }
        "tool_result" => {
            let id = text(line, "/tool_id").unwrap_or_default();
            let answer = first_text(line, &["/output", "/error/message"]).unwrap_or_default();
            told.answer(id, answer, text(line, "/status") == Some("error"));
        }
        "error" => told.notes.extend(text(line, "/message").map(str::to_owned)),
        "result" => {
            told.trajectory.usage = usage(&line["stats"]);
            if text(line, "/status") == Some("error") {
                let said = first_text(line, &["/error/message", "/error/type"]);
                told.error = Some(said.unwrap_or("it ended with an error").to_owned());
            }
        }
        _ => {}
    }
}

fn usage(stats: &Value) -> Usage {
    let cached = count(stats, "/cached");
    let whole = count(stats, "/input_tokens");
    Usage {
        input: whole.saturating_sub(cached),
        output: count(stats, "/output_tokens"),
        cache_read: cached,
        ..Usage::default()
    }
}
