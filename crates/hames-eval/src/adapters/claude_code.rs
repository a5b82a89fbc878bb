//! `claude-code`: Anthropic's command-line agent, read from its `stream-json`.
//!
//! Its own sign-in is not in its private home: it works by key, token, or a cloud's.

use super::{claude_stream, launch};
use crate::{
    adapter::{About, Adapter, Choice, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
};

pub struct ClaudeCode;

pub const PASSES: [&str; 10] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_REGION",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

/// No telemetry, no updates, and no question whether root may skip permissions.
pub const QUIET: [(&str, &str); 5] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("IS_SANDBOX", "1"),
];

const INSTALL: &str = "npm install -g @anthropic-ai/claude-code";

impl Adapter for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["claude"]
    }

    fn passes(&self) -> &'static [&'static str] {
        &PASSES
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "stream-json: assistant and user lines, sub-agents by their call; \
                    usage and cost from the result line",
            stops: "ends at once, killed after 5 s; a killed run's output tokens are too few, \
                    for lines before the result carry a message's first count",
            takes: &[
                Choice::Model,
                Choice::BaseUrl,
                Choice::MaxTurns,
                Choice::MaxCost,
                Choice::ExtraArgs,
            ],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "claude", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "claude", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        launch::set_all(&mut line, &QUIET);
        launch::point_at(&mut line, options, launch::ANTHROPIC);
        launch::add(
            &mut line,
            ["-p", "--output-format", "stream-json", "--verbose"],
        );
        launch::add(&mut line, ["--dangerously-skip-permissions"]);
        launch::add_model(&mut line, "--model", options);
        if let Some(turns) = options.max_turns {
            launch::add(&mut line, ["--max-turns", &turns.to_string()]);
        }
        if let Some(most) = options.max_cost {
            launch::add(&mut line, ["--max-budget-usd", &most.to_string()]);
        }
        line.args.extend(options.extra_args.iter().cloned());
        line.stdin = Some(task.prompt.clone());
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        claude_stream::read(left.stdout, claude_stream::CLAUDE).finish(left, &self.about())
    }
}
