//! `aider`: edits by blocks in its answers, no tools; read from the text that it prints.
//!
//! Its commits are switched off, and its histories lie in its home.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::{
    launch,
    mini_swe_agent::LITELLM_PASSES,
    retelling::{Retelling, call},
};
use crate::{
    adapter::{About, Adapter, Choice, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
    trajectory::{Source, Usage},
};

pub struct Aider;

const INSTALL: &str = "pip install aider-chat (or pipx, uv tool; Python 3.12 or earlier)";

impl Adapter for Aider {
    fn name(&self) -> &'static str {
        "aider"
    }

    fn passes(&self) -> &'static [&'static str] {
        &LITELLM_PASSES
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "stdout: a turn up to each `Tokens:` line, which has usage (rounded) and cost; \
                    `Applied edit to` lines as calls",
            stops: "ends at once, killed after 5 s",
            takes: &[Choice::Model, Choice::BaseUrl, Choice::ExtraArgs],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "aider", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "aider", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        launch::point_at(&mut line, options, launch::LITELLM);
        launch::shield_python(&mut line, place);
        let model = launch::litellm_model(options);
        if !model.is_empty() {
            launch::add(&mut line, ["--model", &model]);
        }
        launch::add(
            &mut line,
            [
                "--yes-always",
                "--no-auto-commits",
                "--no-dirty-commits",
                "--no-gitignore",
                "--no-check-update",
                "--analytics-disable",
                "--no-show-model-warnings",
                "--no-show-release-notes",
                "--no-detect-urls",
                "--no-suggest-shell-commands",
                "--no-pretty",
                "--no-stream",
            ],
        );
        for (flag, file) in [
            ("--chat-history-file", "aider.chat.md"),
            ("--input-history-file", "aider.input"),
        ] {
            launch::add(&mut line, [flag, &place.home.join(file).to_string_lossy()]);
        }
        let prompt = launch::prompt_file(&mut line, task, place);
        launch::add(&mut line, ["--message-file", &prompt.to_string_lossy()]);
        line.args.extend(options.extra_args.iter().cloned());
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        let mut told = Retelling::default();
        let mut said = String::new();
        for line in left.stdout.lines() {
            read_line(&mut told, &mut said, line);
        }
        let rest = said.trim();
        if told.trajectory.turns.is_empty() && left.returncode != Some(0) && !rest.is_empty() {
            told.say(Source::Agent, rest);
        }
        told.finish(left, &self.about())
    }
}

/// As `Tokens: 2.6k sent, 1.1k cache hit, 21 received. Cost: $0.01 message, $0.02 session.`
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?, ([\d.,]+[kM]?) received\.(?: Cost: .*\$([\d.]+) session)?",
    )
    .ok()
});

fn read_line(told: &mut Retelling, said: &mut String, line: &str) {
    // The last of its banner.
    if line.starts_with("Repo-map:") && told.trajectory.turns.is_empty() {
        return said.clear();
    }
    if let Some(version) = line.strip_prefix("Aider v") {
        told.trajectory.agent_version = Some(version.trim().to_owned());
    }
    if let Some(model) = line.strip_prefix("Model: ") {
        told.trajectory.model = model.split(" with ").next().map(str::to_owned);
    }
    if let Some(file) = line.strip_prefix("Applied edit to ") {
        if let Some(last) = told.trajectory.turns.last_mut() {
            let id = format!("edit_{}", last.calls.len() + 1);
            let mut made = call(id, "edit", json!({"path": file.trim()}));
            made.result = Some(line.to_owned());
            last.calls.push(made);
        }
        return;
    }
    if is_error(line) {
        told.error = Some(line.to_owned());
    }
    let Some(tokens) = TOKENS.as_ref().and_then(|tokens| tokens.captures(line)) else {
        said.push_str(line);
        said.push('\n');
        return;
    };
    let part = |index| tokens.get(index).map_or("", |part| part.as_str());
    let cache_read = number(part(3));
    let usage = Usage {
        input: number(part(1)).saturating_sub(cache_read),
        output: number(part(4)),
        cache_read,
        cache_write: number(part(2)),
        calls: 1,
        ..Usage::default()
    };
    told.error = None;
    let turn = told.turn(Source::Agent);
    turn.text = std::mem::take(said).trim().to_owned();
    turn.usage = Some(usage);
    if let Ok(cost) = part(5).parse() {
        told.trajectory.cost_usd = Some(cost);
    }
}

fn is_error(line: &str) -> bool {
    line.starts_with("litellm.") || line.starts_with("The API provider")
}

/// `21`, `1,204`, `2.6k`, `1.2M`.
fn number(text: &str) -> u64 {
    let text = text.replace(',', "");
    let (digits, scale) = match (text.strip_suffix('k'), text.strip_suffix('M')) {
        (Some(digits), _) => (digits, 1e3),
        (None, Some(digits)) => (digits, 1e6),
        (None, None) => (text.as_str(), 1.0),
    };
    digits
        .parse::<f64>()
        .map_or(0, |number| (number * scale).round() as u64)
}
