//! `qwen-code`: Qwen's command-line agent, read from its `stream-json`, a dialect of Claude Code's.
//!
//! It is used with a key of an OpenAI-style service; its own sign-in is not in its private home.

use std::path::PathBuf;

use serde_json::json;

use super::{
    claude_stream::{self, Dialect},
    launch,
};
use crate::{
    adapter::{About, Adapter, Choice, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
};

pub struct QwenCode;

const INSTALL: &str = "npm install -g @qwen-code/qwen-code";

const DIALECT: Dialect = Dialect {
    input_has_cache: true,
    version: "/qwen_code_version",
};

impl Adapter for QwenCode {
    fn name(&self) -> &'static str {
        "qwen-code"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["qwen-agent", "qwen"]
    }

    fn passes(&self) -> &'static [&'static str] {
        &[
            "DASHSCOPE_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_MODEL",
        ]
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "stream-json: assistant and user lines; usage from the result line, else from \
                    each message",
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
        launch::program(host, "qwen", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "qwen", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        launch::point_at(&mut line, options, launch::OPENAI);
        let settings = json!({
            "security": {"auth": {"selectedType": "openai"}},
            "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        line.files
            .push((PathBuf::from(".qwen/settings.json"), settings.to_string()));
        let prompt = launch::prompt_argument(&mut line, task, place);
        launch::add(
            &mut line,
            ["-p", &prompt, "--output-format", "stream-json", "--yolo"],
        );
        launch::add(&mut line, ["--auth-type", "openai"]);
        launch::add_model(&mut line, "--model", options);
        if let Some(turns) = options.max_turns {
            launch::add(&mut line, ["--max-session-turns", &turns.to_string()]);
        }
        line.args.extend(options.extra_args.iter().cloned());
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        claude_stream::read(left.stdout, DIALECT).finish(left, &self.about())
    }
}
