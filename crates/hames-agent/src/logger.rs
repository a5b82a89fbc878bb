//! The run log: one JSON line a turn, beside the loop, for whoever asks later why it went wrong.
//!
//! It reads what the journal says and steers nothing; when it fails, the run does not notice.

use std::{
    io::{self, Write},
    sync::Arc,
};

use hames_types::{Content, Entry, EventKind, Message, RawJson, ToolResult, Usage};
use serde::Serialize;

use crate::{Transcript, events::Events};

/// How many messages a line shows, and how many bytes of each.
const SNAPSHOT: usize = 3;
const LONGEST: usize = 2_000;

/// One line: what a turn saw, asked for, got and took.
#[derive(Debug, Serialize)]
struct Line<'a> {
    turn: u32,
    /// Milliseconds since 1970.
    ts: u64,
    messages_snapshot: &'a [String],
    tool_call: &'a [Asked],
    tool_result: &'a [Got],
    usage: Usage,
    /// Seconds since the turn's request.
    wall_time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_cause: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Asked {
    id: String,
    name: String,
    input: RawJson,
}

#[derive(Debug, Serialize)]
struct Got {
    call: String,
    status: hames_types::ResultStatus,
    text: String,
}

/// Takes in a journal's entries and writes a line when a turn has ended.
pub struct RunLog<W> {
    out: W,
    /// Its own fold, so that it needs nothing of the loop's.
    transcript: Transcript,
    turn: Option<Turn>,
}

struct Turn {
    number: u32,
    began: u64,
    last: u64,
    snapshot: Vec<String>,
    asked: Vec<Asked>,
    got: Vec<Got>,
    usage: Usage,
}

impl<W: Write> RunLog<W> {
    pub fn new(out: W) -> Self {
        let (transcript, turn) = (Transcript::default(), None);
        Self {
            out,
            transcript,
            turn,
        }
    }

    /// `at` is the entry's time, in milliseconds since 1970.
    pub fn hear(&mut self, at: u64, entry: &Entry) -> io::Result<()> {
        match entry {
            Entry::TurnStarted { turn, .. } => {
                self.end_turn(None)?;
                self.transcript.close_round();
                self.turn = Some(self.begin_turn(*turn, at));
            }
            Entry::Assistant { message } => self.in_turn(at, |turn| {
                turn.usage = message.usage;
                turn.asked = message.tool_calls().map(asked).collect();
            }),
            Entry::ToolFinished { result } => self.in_turn(at, |turn| turn.got.push(got(result))),
            Entry::QueryFinished { outcome } => {
                self.in_turn(at, |_| {});
                self.end_turn(Some(outcome.end_cause()))?;
            }
            _ => {}
        }
        self.transcript.apply(entry);
        Ok(())
    }

    /// Until the journal's last holder is gone, or a line cannot be written.
    pub async fn follow(mut self, mut events: Events) -> io::Result<()> {
        loop {
            if let EventKind::Entry { entry, line, .. } = events.next().await.kind {
                self.hear(time_of(&line), &entry)?;
            }
        }
    }

    /// What is there now, without waiting for more.
    pub fn catch_up(&mut self, events: &mut Events) -> io::Result<()> {
        while let Some(event) = events.try_next() {
            if let EventKind::Entry { entry, line, .. } = event.kind {
                self.hear(time_of(&line), &entry)?;
            }
        }
        Ok(())
    }

    fn begin_turn(&self, number: u32, began: u64) -> Turn {
        let messages = self.transcript.messages();
        let last = messages.iter().rev().take(SNAPSHOT).rev();
        Turn {
            number,
            began,
            last: began,
            snapshot: last.map(show).collect(),
            asked: Vec::new(),
            got: Vec::new(),
            usage: Usage::default(),
        }
    }

    fn in_turn(&mut self, at: u64, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = &mut self.turn {
            turn.last = at;
            change(turn);
        }
    }

    fn end_turn(&mut self, end_cause: Option<&'static str>) -> io::Result<()> {
        let Some(turn) = self.turn.take() else {
            return Ok(());
        };
        let line = Line {
            turn: turn.number,
            ts: turn.last,
            messages_snapshot: &turn.snapshot,
            tool_call: &turn.asked,
            tool_result: &turn.got,
            usage: turn.usage,
            wall_time: turn.last.saturating_sub(turn.began) as f64 / 1e3,
            end_cause,
        };
        let mut line = serde_json::to_vec(&line)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

fn time_of(line: &str) -> u64 {
    #[derive(serde::Deserialize)]
    struct Dated {
        at: u64,
    }
    serde_json::from_str::<Dated>(line).map_or(0, |dated| dated.at)
}

fn asked(call: &hames_types::ToolCall) -> Asked {
    Asked {
        id: call.id.0.to_string(),
        name: call.name.clone(),
        input: RawJson(bounded(&call.input.0).into()),
    }
}

fn got(result: &Arc<ToolResult>) -> Got {
    Got {
        call: result.call.0.to_string(),
        status: result.status,
        text: bounded(&texts(&result.content)),
    }
}

fn show(message: &Message) -> String {
    let (who, text) = match message {
        Message::User(message) => ("user", message.plain_text()),
        Message::Assistant(message) => {
            let calls = message.tool_calls().map(|call| format!("[{}]", call.name));
            ("assistant", message.text() + &calls.collect::<String>())
        }
        Message::Tool(results) => {
            let results = results.iter().map(|result| texts(&result.content));
            ("tool", results.collect::<Vec<_>>().join("\n"))
        }
    };
    format!("{who}: {}", bounded(&text))
}

fn texts(content: &[Content]) -> String {
    content.iter().filter_map(Content::as_text).collect()
}

/// Its head, at most, so that a log of many turns stays small.
fn bounded(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    let (head, rest) = text.split_at(end);
    if rest.is_empty() {
        return head.to_owned();
    }
    format!("{head}… ({} bytes more)", rest.len())
}
