//! `codex`: OpenAI's command-line agent, read from `exec --json`.
//!
//! It works by key; a sign-in of the user's is not in its private home.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    json_lines::{content, count, first_text, objects, text},
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

pub struct Codex;

const INSTALL: &str = "npm install -g @openai/codex";

const CONFIG: &str = "check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false
";

impl Adapter for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn passes(&self) -> &'static [&'static str] {
        &[
            "CODEX_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_ORGANIZATION",
            "OPENAI_PROJECT",
        ]
    }

    fn about(&self) -> About {
        About {
            install: INSTALL,
            reads: "exec --json: one turn for each message of the model that it tells of; usage \
                    from turn.completed, no cost",
            stops: "ends at once, killed after 5 s",
            takes: &[Choice::Model, Choice::BaseUrl, Choice::ExtraArgs],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        launch::program(host, "codex", INSTALL).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let program = launch::program(host, "codex", INSTALL)?;
        let mut line = launch::command_line(self, program, place, host);
        line.files
            .push((PathBuf::from(".codex/config.toml"), CONFIG.to_owned()));
        // `exec` asks for the key under a name of its own.
        if let Some(key) = host.variables.get("OPENAI_API_KEY")
            && !launch::holds(&line, "CODEX_API_KEY")
        {
            launch::set(&mut line, "CODEX_API_KEY", key);
        }
        launch::add(&mut line, ["exec", "--json", "--skip-git-repo-check"]);
        launch::add(&mut line, ["--dangerously-bypass-approvals-and-sandbox"]);
        launch::add_model(&mut line, "--model", options);
        if let Some(url) = &options.base_url {
            let url = launch::openai_address(url);
            let provider = format!(
                "model_providers.asked={{name = \"asked\", base_url = {}, env_key = \"OPENAI_API_KEY\", wire_api = \"responses\"}}",
                json!(url)
            );
            launch::add(
                &mut line,
                ["-c", "model_provider=\"asked\"", "-c", &provider],
            );
            launch::set_if_absent(&mut line, "OPENAI_API_KEY", launch::NO_KEY);
        }
        line.args.extend(options.extra_args.iter().cloned());
        launch::add(&mut line, ["-"]);
        line.stdin = Some(task.prompt.clone());
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
    match text(line, "/type").unwrap_or_default() {
        "thread.started" => {
            told.trajectory.session_id = text(line, "/thread_id").map(str::to_owned);
        }
        "item.started" | "item.updated" | "item.completed" => {
            // Whatever failed before has been tried again.
            told.error = None;
            item(told, &line["item"]);
        }
        "turn.completed" => {
            told.error = None;
            told.trajectory.usage += usage(&line["usage"]);
        }
        "turn.failed" | "error" => {
            let said = first_text(line, &["/error/message", "/message"]);
            told.error = said.map(str::to_owned);
        }
        _ => {}
    }
}

fn item(told: &mut Retelling, item: &Value) {
    let id = text(item, "/id").unwrap_or_default();
    match text(item, "/type").unwrap_or_default() {
        "agent_message" => {
            let said = text(item, "/text").unwrap_or_default();
            // A second message without a call between them is another answer of the model.
            if told.agent().text.is_empty() {
                told.agent().text = said.to_owned();
            } else {
                told.say(Source::Agent, said);
            }
        }
        "reasoning" => {
            let thought = text(item, "/text").unwrap_or_default();
            told.agent().reasoning = Some(thought.to_owned());
        }
        "command_execution" => {
            let arguments = json!({"command": item["command"]});
            let failed = item.get("exit_code").is_some_and(|code| *code != json!(0));
            let answer = content(&item["aggregated_output"]);
            done(told, id, "shell", arguments, item, answer, failed);
        }
        "file_change" => {
            let arguments = json!({"changes": item["changes"]});
            done(
                told,
                id,
                "apply_patch",
                arguments,
                item,
                String::new(),
                false,
            );
        }
        "mcp_tool_call" => {
            let (server, tool) = (content(&item["server"]), content(&item["tool"]));
            let error = text(item, "/error/message");
            let answer = error.map_or_else(|| content(&item["result"]["content"]), str::to_owned);
            let name = format!("{server}.{tool}");
            let arguments = item["arguments"].clone();
            done(told, id, &name, arguments, item, answer, error.is_some());
        }
        "web_search" => {
            let arguments = json!({"query": item["query"]});
            done(
                told,
                id,
                "web_search",
                arguments,
                item,
                String::new(),
                false,
            );
        }
        "error" => told.notes.extend(text(item, "/message").map(str::to_owned)),
        _ => {}
    }
}

/// A call is told when it starts and again when it ends; a killed agent has told the first alone.
fn done(
    told: &mut Retelling,
    id: &str,
    name: &str,
    arguments: Value,
    item: &Value,
    answer: String,
    failed: bool,
) {
    let turns = &told.trajectory.turns;
    let known = turns
        .iter()
        .any(|turn| turn.calls.iter().any(|call| call.id == id));
    if !known {
        told.agent().calls.push(call(id, name, arguments));
    }
    let status = text(item, "/status");
    if status.is_none_or(|status| status == "in_progress") && name != "web_search" {
        return;
    }
    told.answer(id, answer, failed || status == Some("failed"));
}

fn usage(usage: &Value) -> Usage {
    let cache_read = count(usage, "/cached_input_tokens");
    let cache_write = count(usage, "/cache_write_input_tokens");
    let input = count(usage, "/input_tokens");
    Usage {
        input: input.saturating_sub(cache_read + cache_write),
        output: count(usage, "/output_tokens"),
        cache_read,
        cache_write,
        reasoning: count(usage, "/reasoning_output_tokens"),
        calls: 0,
    }
}
