//! Claude Code's `stream-json`, which Qwen Code, the Claude Agent SDK and Hames speak as well.
//!
//! Lines may be missing at any place: what is there is told.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    json_lines::{arguments, content, count, first_text, items, objects, text},
    retelling::{Retelling, call},
};
use crate::trajectory::{Source, Turn, Usage};

/// In what the speakers differ.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// `input_tokens` counts what was read from a cache, too.
    pub input_has_cache: bool,
    /// Of the `init` line.
    pub version: &'static str,
}

pub const CLAUDE: Dialect = Dialect {
    input_has_cache: false,
    version: "/claude_code_version",
};

pub fn read(stdout: &str, dialect: Dialect) -> Retelling {
    let (lines, garbled) = objects(stdout);
    let mut stream = Stream {
        dialect,
        main: Speaker::default(),
        others: BTreeMap::new(),
    };
    stream.main.told.garbled = garbled;
    for line in &lines {
        stream.line(line);
    }
    stream.end()
}

struct Stream {
    dialect: Dialect,
    main: Speaker,
    /// By the call that started them.
    others: BTreeMap<String, Speaker>,
}

/// One agent of the stream.
#[derive(Default)]
struct Speaker {
    told: Retelling,
    /// A message comes in several lines, with answers between them, all with its id and the
    /// tokens that went in: some servers give every message the same id.
    places: BTreeMap<(String, u64), usize>,
    /// The line before was a part of a message that goes on under another id.
    goes_on: bool,
}

impl Stream {
    fn line(&mut self, line: &Value) {
        match text(line, "/type").unwrap_or_default() {
            "system" => self.system(line),
            "assistant" => {
                let dialect = self.dialect;
                self.speaker(line).assistant(line, dialect);
            }
            "user" => self.speaker(line).user(line),
            "result" => self.result(line),
            _ => {}
        }
    }

    fn speaker(&mut self, line: &Value) -> &mut Speaker {
        match first_text(line, &["/parent_tool_use_id", "/agent_id"]) {
            Some(parent) => self.others.entry(parent.to_owned()).or_default(),
            None => &mut self.main,
        }
    }

    fn system(&mut self, line: &Value) {
        let told = &mut self.main.told;
        match text(line, "/subtype") {
            Some("init") => {
                let seen = &mut told.trajectory;
                seen.session_id = text(line, "/session_id").map(str::to_owned);
                seen.model = text(line, "/model").map(str::to_owned);
                seen.agent_version = text(line, self.dialect.version).map(str::to_owned);
            }
            Some("api_retry") => {
                let status = line.get("error_status").map(content).unwrap_or_default();
                let name = text(line, "/error").unwrap_or_default();
                told.error = Some(format!("status {status} {name}"));
            }
            Some(_) | None => {}
        }
    }

    fn result(&mut self, line: &Value) {
        let told = &mut self.main.told;
        let answer = text(line, "/result").map(str::to_owned);
        told.error = None;
        if line.get("is_error").and_then(Value::as_bool) == Some(true) {
            let errors: Vec<_> = items(line, "/errors").map(content).collect();
            let errors = (!errors.is_empty()).then(|| errors.join("\n"));
            let subtype = text(line, "/subtype").map(str::to_owned);
            told.error = errors
                .or_else(|| text(line, "/error/message").map(str::to_owned))
                .or_else(|| answer.clone())
                .or(subtype);
        }
        told.trajectory.final_answer = answer;
        told.trajectory.cost_usd = line.get("total_cost_usd").and_then(Value::as_f64);
        told.trajectory.usage = whole_usage(line, self.dialect);
    }

    fn end(self) -> Retelling {
        let mut told = self.main.told;
        for (parent, speaker) in self.others {
            let mut agent = speaker.told.trajectory;
            agent.session_id = Some(parent);
            for usage in agent.turns.iter().filter_map(|turn| turn.usage) {
                agent.usage += usage;
            }
            agent.usage.calls = agent.turns.len() as u64;
            told.trajectory.subagents.push(agent);
        }
        told
    }
}

impl Speaker {
    fn assistant(&mut self, line: &Value, dialect: Dialect) {
        // Another try has been answered.
        self.told.error = None;
        let Some(message) = line.get("message") else {
            return;
        };
        let usage = message.get("usage").map(|usage| usage_of(usage, dialect));
        let went_in = usage.map_or(0, |usage| {
            usage.input + usage.cache_read + usage.cache_write
        });
        let turn = self.place(text(message, "/id").unwrap_or_default(), went_in);
        for block in items(message, "/content") {
            add_block(turn, block);
        }
        let usage = usage.filter(|usage| *usage != Usage::default());
        if let Some(usage) = usage {
            turn.usage = Some(usage);
        }
        let ended = message
            .get("stop_reason")
            .is_some_and(|stop| !stop.is_null());
        self.goes_on = usage.is_none() && !ended;
    }

    /// The turn of this message.
    fn place(&mut self, id: &str, went_in: u64) -> &mut Turn {
        let key = (id.to_owned(), went_in);
        let known = self.places.get(&key).copied();
        let last = self.told.trajectory.turns.len().checked_sub(1);
        let place = match (known, last) {
            (Some(known), _) => known,
            (None, Some(last)) if self.goes_on => last,
            (None, _) => {
                self.told.turn(Source::Agent);
                self.told.trajectory.turns.len() - 1
            }
        };
        if !id.is_empty() {
            self.places.insert(key, place);
        }
        &mut self.told.trajectory.turns[place]
    }

    fn user(&mut self, line: &Value) {
        self.goes_on = false;
        let Some(said) = line.pointer("/message/content") else {
            return;
        };
        if said.is_string() {
            return self.told.say(Source::User, content(said));
        }
        for block in items(line, "/message/content") {
            match text(block, "/type") {
                Some("tool_result") => {
                    let id = text(block, "/tool_use_id").unwrap_or_default();
                    let answer = block.get("content").map(content).unwrap_or_default();
                    let is_error = block.get("is_error").and_then(Value::as_bool) == Some(true);
                    self.told.answer(id, answer, is_error);
                }
                Some("text") => self.told.say(Source::User, content(&block["text"])),
                Some(_) | None => {}
            }
        }
    }
}

fn add_block(turn: &mut Turn, block: &Value) {
    match text(block, "/type") {
        Some("text") => push(&mut turn.text, text(block, "/text").unwrap_or_default()),
        Some("thinking") => {
            let thought = text(block, "/thinking").unwrap_or_default();
            push(turn.reasoning.get_or_insert_default(), thought);
        }
        Some("tool_use" | "server_tool_use") => {
            let id = text(block, "/id").unwrap_or_default();
            let name = text(block, "/name").unwrap_or_default();
            turn.calls.push(call(id, name, arguments(&block["input"])));
        }
        Some(_) | None => {}
    }
}

fn push(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

fn usage_of(usage: &Value, dialect: Dialect) -> Usage {
    let cache_read = count(usage, "/cache_read_input_tokens");
    let input = count(usage, "/input_tokens");
    Usage {
        input: if dialect.input_has_cache {
            input.saturating_sub(cache_read)
        } else {
            input
        },
        output: count(usage, "/output_tokens"),
        cache_read,
        cache_write: count(usage, "/cache_creation_input_tokens"),
        reasoning: count(usage, "/output_tokens_details/thinking_tokens"),
        calls: 0,
    }
}

/// By model where it is told so, for sub-agents are in it; else the result's own.
fn whole_usage(result: &Value, dialect: Dialect) -> Usage {
    let Some(models) = result.get("modelUsage").and_then(Value::as_object) else {
        return result
            .get("usage")
            .map_or_else(Usage::default, |usage| usage_of(usage, dialect));
    };
    let mut whole = Usage::default();
    for model in models.values() {
        whole += Usage {
            input: count(model, "/inputTokens"),
            output: count(model, "/outputTokens"),
            cache_read: count(model, "/cacheReadInputTokens"),
            cache_write: count(model, "/cacheCreationInputTokens"),
            reasoning: 0,
            calls: 0,
        };
    }
    whole
}
