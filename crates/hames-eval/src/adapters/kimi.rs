//! `kimi`: Moonshot's Kimi Code, read from the messages that `-p` prints as JSON lines.
//!
//! Its own sign-in is not in its private home: it is given a model, an address and a key by variables.

use serde_json::Value;

use super::{
    json_lines::{arguments, content, items, objects, text},
    launch,
    retelling::{Retelling, call},
};
use crate::{
    adapter::{About, Adapter, Choice, CommandLine, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
    trajectory::Source,
};

pub struct Kimi;

const INSTALL: &str = "npm install -g @moonshot-ai/kimi-code (Node 22.15 or later)";

impl Adapter for Kimi {
    fn name(&self) -> &'static str {
        "kimi"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["kimi-code", "kimi-cli"]
    }

    fn passes(&self) -> &'static [&'static str] {
        &[
            "KIMI_API_KEY",
            "KIMI_MODEL_API_KEY",
            "KIMI_MODEL_BASE_URL",
            "KIMI_MODEL_NAME",
            "KIMI_MODEL_PROVIDER_TYPE",
            "MOONSHOT_API_KEY",
            "OPENAI_API_KEY",
        ]
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "assistant and tool messages as JSON lines; it tells no usage and no cost",
            stops: "ends at once, killed after 5 s",
            takes: &[
                Choice::Model,
                Choice::BaseUrl,
                Choice::Temperature,
                Choice::ExtraArgs,
            ],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "kimi", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "kimi", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        launch::set_all(
            &mut line,
            &[
                ("KIMI_CODE_NO_AUTO_UPDATE", "1"),
                ("KIMI_DISABLE_TELEMETRY", "1"),
            ],
        );
        name_the_model(&mut line, host, options);
        let prompt = launch::prompt_argument(&mut line, task, place);
        launch::add(&mut line, ["-p", &prompt, "--output-format", "stream-json"]);
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
            message(&mut told, line);
        }
        told.finish(left, &self.about())
    }
}

/// Its own variables are the only ones from which it takes a key.
fn name_the_model(line: &mut CommandLine, host: &Host, options: &Options) {
    if !options.model.is_empty() {
        launch::set(line, "KIMI_MODEL_NAME", &options.model);
    }
    let keys = match &options.base_url {
        Some(url) => {
            launch::set(line, "KIMI_MODEL_BASE_URL", launch::openai_address(url));
            launch::set_if_absent(line, "KIMI_MODEL_PROVIDER_TYPE", "openai");
            ["OPENAI_API_KEY", "KIMI_API_KEY"]
        }
        None => ["KIMI_API_KEY", "MOONSHOT_API_KEY"],
    };
    let key = keys.iter().find_map(|name| host.variables.get(*name));
    match key {
        Some(key) => launch::set_if_absent(line, "KIMI_MODEL_API_KEY", key),
        None if options.base_url.is_some() => {
            launch::set_if_absent(line, "KIMI_MODEL_API_KEY", launch::NO_KEY);
        }
        None => {}
    }
    if let Some(temperature) = options.temperature {
        launch::set(line, "KIMI_MODEL_TEMPERATURE", temperature.to_string());
    }
}

fn message(told: &mut Retelling, line: &Value) {
    match text(line, "/role").unwrap_or_default() {
        "assistant" => {
            let turn = told.turn(Source::Agent);
            turn.text = content(&line["content"]);
            turn.reasoning = text(line, "/reasoning_content").map(str::to_owned);
            for made in items(line, "/tool_calls") {
                let id = text(made, "/id").unwrap_or_default();
                let name = text(made, "/function/name").unwrap_or_default();
                turn.calls
                    .push(call(id, name, arguments(&made["function"]["arguments"])));
            }
        }
        "tool" => {
            let id = text(line, "/tool_call_id").unwrap_or_default();
            let answer = content(&line["content"]);
            let failed =
                answer.starts_with("Process exited with code") || answer.starts_with("ERROR");
            told.answer(id, answer, failed);
        }
        "user" => told.say(Source::User, content(&line["content"])),
        "meta" => meta(told, line),
        _ => {}
    }
}

fn meta(told: &mut Retelling, line: &Value) {
    match text(line, "/type").unwrap_or_default() {
        "system.version" => {
            told.trajectory.agent_version = text(line, "/version").map(str::to_owned);
        }
        "session.resume_hint" => {
            told.trajectory.session_id = text(line, "/session_id").map(str::to_owned);
        }
        kind if kind.contains("error") => {
            told.error = text(line, "/content").map(str::to_owned);
        }
        _ => {}
    }
}
