//! `--output-format stream-json`: one JSON object a message, in Claude Code's shapes.
//!
//! Readers are told in its vocabulary what happened; what it has no word for is left out.

use std::{
    io::{self, BufWriter, Stdout, Write},
    sync::Arc,
    time::Duration,
};

use hames_types::{
    AssistantMessage, BlockKind, CallId, Content, Entry, EpochCause, Event, EventKind, JournalId,
    Origin, ProviderError, ProviderErrorKind, ResultStatus, ToolResult, UserMessage,
};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    claude_names,
    report::{About, Report, WireUsage, millis, stop_reason, uuid},
    surface::Surface,
    tally::Tally,
};

pub struct StreamJson {
    out: BufWriter<Stdout>,
    about: Arc<About>,
    lines: u64,
    /// Failures in a row of the call that is being made.
    attempt: u32,
}

/// What every line has.
#[derive(Serialize)]
struct Line<'a, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    body: T,
    session_id: &'a str,
    uuid: String,
}

impl StreamJson {
    pub fn new(about: Arc<About>) -> Self {
        let out = BufWriter::new(io::stdout());
        Self {
            out,
            about,
            lines: 0,
            attempt: 0,
        }
    }

    fn write(&mut self, kind: &'static str, body: impl Serialize) -> io::Result<()> {
        self.lines += 1;
        let session_id = self.about.session.as_str();
        let uuid = uuid(session_id, self.lines);
        let line = Line {
            kind,
            body,
            session_id,
            uuid,
        };
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")
    }

    fn entry(&mut self, entry: &Entry, tally: &Tally, journal: &JournalId) -> io::Result<()> {
        match entry {
            Entry::Assistant { message } => self.assistant(message, tally, journal),
            Entry::ToolFinished { result } => self.result(result, tally, journal),
            Entry::User { message, .. } if is_synthetic(message.origin) => {
                self.synthetic(message, tally, journal)
            }
            Entry::CallFailed {
                error,
                retry_after: Some(wait),
                ..
            } => self.retry(error, *wait),
            Entry::EpochStarted {
                cause: EpochCause::Compaction,
                ..
            } => self.write(
                "system",
                json!({"subtype": "compact_boundary", "compact_metadata": {"trigger": "auto"}}),
            ),
            Entry::PermissionDecided {
                call,
                allowed: false,
                reason,
                ..
            } => self.denied(call, reason, tally, journal),
            Entry::EpochStarted { .. }
            | Entry::TurnStarted { .. }
            | Entry::User { .. }
            | Entry::SteeringReceived { .. }
            | Entry::CallFailed { .. }
            | Entry::PermissionRequested { .. }
            | Entry::PermissionDecided { .. }
            | Entry::ToolStarted { .. }
            | Entry::ToolReturned { .. }
            | Entry::HookRan { .. }
            | Entry::ChildOpened { .. }
            | Entry::ShapeProgress { .. }
            | Entry::QueryFinished { .. }
            | Entry::Unknown => Ok(()),
        }
    }

    fn assistant(
        &mut self,
        message: &AssistantMessage,
        tally: &Tally,
        journal: &JournalId,
    ) -> io::Result<()> {
        self.attempt = 0;
        let message = Said {
            id: uuid(&journal.0, self.lines),
            kind: "message",
            role: "assistant",
            model: tally.model(journal),
            content: message
                .blocks
                .iter()
                .filter_map(|block| said(&block.kind))
                .collect(),
            stop_reason: stop_reason(message.stop),
            stop_sequence: None,
            usage: WireUsage::of(message.usage),
        };
        let agent_id = agent(tally, journal);
        self.write(
            "assistant",
            FromAgent {
                message,
                parent_tool_use_id: None,
                agent_id,
            },
        )
    }

    fn result(
        &mut self,
        result: &ToolResult,
        tally: &Tally,
        journal: &JournalId,
    ) -> io::Result<()> {
        let content = result.content.iter().map(block).collect::<Vec<_>>();
        let answer = json!({
            "type": "tool_result",
            "tool_use_id": result.call,
            "content": content,
            "is_error": result.status != ResultStatus::Ok,
        });
        let message = json!({"role": "user", "content": [answer]});
        let agent_id = agent(tally, journal);
        self.write(
            "user",
            FromAgent {
                message,
                parent_tool_use_id: None,
                agent_id,
            },
        )
    }

    fn synthetic(
        &mut self,
        message: &UserMessage,
        tally: &Tally,
        journal: &JournalId,
    ) -> io::Result<()> {
        let content = message.content.iter().map(block).collect::<Vec<_>>();
        let mut body = json!({
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": null,
            "isSynthetic": true,
        });
        if let Some(agent) = agent(tally, journal) {
            body["agent_id"] = agent.into();
        }
        self.write("user", body)
    }

    fn retry(&mut self, error: &ProviderError, wait: Duration) -> io::Result<()> {
        self.attempt += 1;
        let body = json!({
            "subtype": "api_retry",
            "attempt": self.attempt,
            "retry_delay_ms": millis(wait),
            "error_status": error.status,
            "error": error_name(error.kind),
        });
        self.write("system", body)
    }

    fn denied(
        &mut self,
        call: &CallId,
        reason: &str,
        tally: &Tally,
        journal: &JournalId,
    ) -> io::Result<()> {
        let tool = tally.call(journal, &call.0).map_or("", |(tool, _)| tool);
        let body = json!({
            "subtype": "permission_denied",
            "tool_name": claude_names::tool(tool),
            "tool_use_id": call,
            "reason": reason,
        });
        self.write("system", body)
    }
}

impl Surface for StreamJson {
    fn begin(&mut self) -> io::Result<()> {
        let about = self.about.clone();
        let tools: Vec<_> = about
            .tools
            .iter()
            .map(|tool| claude_names::tool(tool))
            .collect();
        let init = json!({
            "subtype": "init",
            "cwd": about.cwd,
            "tools": tools,
            "mcp_servers": [],
            "model": about.model,
            "permissionMode": about.permission_mode,
            "slash_commands": [],
            "apiKeySource": about.key_source,
            "claude_code_version": "",
            "hames_version": env!("CARGO_PKG_VERSION"),
            "output_style": "default",
            "skills": [],
            "plugins": [],
        });
        self.write("system", init)?;
        self.out.flush()
    }

    fn show(&mut self, event: &Event, tally: &Tally) -> io::Result<()> {
        match &event.kind {
            EventKind::Entry { entry, .. } => self.entry(entry, tally, &event.journal),
            EventKind::Delta(_) => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(&mut self, report: &Report) -> io::Result<()> {
        writeln!(self.out, "{}", report.line()?)
    }
}

/// A message of the Anthropic Messages API.
#[derive(Serialize)]
struct Said<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: Vec<Block<'a>>,
    stop_reason: &'static str,
    stop_sequence: Option<&'static str>,
    usage: WireUsage,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Thinking {
        thinking: &'a str,
        signature: &'static str,
    },
    ToolUse {
        id: &'a CallId,
        name: &'a str,
        input: Box<RawValue>,
    },
}

#[derive(Serialize)]
struct FromAgent<T> {
    message: T,
    parent_tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
}

fn said(block: &BlockKind) -> Option<Block<'_>> {
    match block {
        BlockKind::Text { text } => Some(Block::Text { text }),
        BlockKind::Reasoning { text } => Some(Block::Thinking {
            thinking: text,
            signature: "",
        }),
        BlockKind::ToolCall(call) => Some(Block::ToolUse {
            id: &call.id,
            name: claude_names::tool(&call.name),
            input: claude_names::input(&call.name, &call.input),
        }),
        BlockKind::Opaque => None,
    }
}

fn block(content: &Content) -> Value {
    match content {
        Content::Text { text } => json!({"type": "text", "text": text}),
        Content::Image { media_type, base64 } => source("image", media_type, base64),
        Content::Document { media_type, base64 } => source("document", media_type, base64),
        Content::Blob(blob) => {
            json!({"type": "text", "text": format!("[{} of {} bytes]", blob.media_type, blob.len)})
        }
        Content::Opaque(_) => json!({"type": "text", "text": ""}),
    }
}

fn source(kind: &str, media_type: &str, base64: &str) -> Value {
    json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": base64}})
}

fn agent(tally: &Tally, journal: &JournalId) -> Option<String> {
    (!tally.is_root(journal)).then(|| journal.0.to_string())
}

/// True for what no human has said.
fn is_synthetic(origin: Origin) -> bool {
    match origin {
        Origin::Human | Origin::Steering => false,
        Origin::Hook
        | Origin::StopHook
        | Origin::Nudge
        | Origin::Inform
        | Origin::Shape
        | Origin::Summary => true,
    }
}

fn error_name(kind: ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::RateLimited => "rate_limit",
        ProviderErrorKind::Overloaded => "overloaded",
        ProviderErrorKind::Auth => "authentication_failed",
        ProviderErrorKind::QuotaExceeded => "billing_error",
        ProviderErrorKind::Rejected | ProviderErrorKind::ContextOverflow => "invalid_request",
        ProviderErrorKind::Transport | ProviderErrorKind::Malformed => "server_error",
    }
}
