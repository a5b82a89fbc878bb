//! A turn as it happens: events, waits, and how it ends.

use std::time::Duration;

use hames_types::{ModelEvent, ProviderErrorKind as Kind, StopReason, Usage};
use serde_json::Value;

use super::{Call, Defaults, Fault, History, Place, Turn, format::Part};
use crate::request::Refusal;

#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Wait(Duration),
    Event(ModelEvent),
    /// Bytes that say nothing.
    KeepAlive,
    /// The connection is closed.
    Cut,
    /// Nothing more comes, and the connection stays open.
    Hang,
    Fail(Failure),
}

/// A scripted error: what it is, and how HTTP is to say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub refusal: Refusal,
    /// `retry-after` as a date.
    pub as_date: bool,
    /// HTTP says nothing: the connection is closed.
    pub closes: bool,
    /// Instead of the wire's own error object.
    pub body: Option<String>,
}

impl Reply {
    pub(super) fn of(turn: &Turn, defaults: &Defaults, history: &History<'_>) -> Self {
        let mut writing = Writing::new(turn, defaults, history);
        writing.wait(turn.delay.unwrap_or(defaults.delay));
        writing.say(turn);
        let (usage, stop) = (writing.usage(turn), writing.stop(turn));
        writing.push(ModelEvent::Usage(usage));
        writing.push(ModelEvent::Finished(stop));
        let mut steps = writing.steps;
        end(&mut steps, turn);
        Self { steps }
    }

    /// The events alone, as they would come if nothing ended them early.
    pub fn events(&self) -> impl Iterator<Item = &ModelEvent> {
        self.steps.iter().filter_map(|step| match step {
            Step::Event(event) => Some(event),
            Step::Wait(_) | Step::KeepAlive | Step::Cut | Step::Hang | Step::Fail(_) => None,
        })
    }
}

struct Writing<'a> {
    history: &'a History<'a>,
    steps: Vec<Step>,
    piece: usize,
    pace: u64,
    block: u32,
    calls: usize,
    written: usize,
}

impl<'a> Writing<'a> {
    fn new(turn: &Turn, defaults: &Defaults, history: &'a History<'a>) -> Self {
        Self {
            history,
            steps: Vec::new(),
            piece: turn.piece.unwrap_or(defaults.piece).max(1),
            pace: turn.pace.unwrap_or(defaults.pace),
            block: 0,
            calls: 0,
            written: 0,
        }
    }

    fn say(&mut self, turn: &Turn) {
        for part in &turn.parts {
            match part {
                Part::Think(texts) => self.think(&texts.0),
                Part::Text(texts) => self.text(&texts.0),
                Part::Call(call) => self.call(call),
                Part::Wait(milliseconds) => self.wait(*milliseconds),
                Part::KeepAlive(_) => self.steps.push(Step::KeepAlive),
            }
        }
        if let Some(texts) = &turn.think {
            self.think(&texts.0);
        }
        if let Some(texts) = &turn.text {
            self.text(&texts.0);
        }
        for call in &turn.calls {
            self.call(call);
        }
    }

    fn think(&mut self, texts: &[String]) {
        let block = self.next_block();
        for text in self.pieces(texts) {
            self.paced(ModelEvent::ReasoningDelta { block, text });
        }
    }

    fn text(&mut self, texts: &[String]) {
        let block = self.next_block();
        for text in self.pieces(texts) {
            self.paced(ModelEvent::TextDelta { block, text });
        }
    }

    fn call(&mut self, call: &Call) {
        let block = self.next_block();
        let digest = self.history.digest();
        let named = || format!("call_{:08x}_{}", digest as u32, self.calls);
        let (id, name) = (call.id.clone().unwrap_or_else(named), call.name.clone());
        self.calls += 1;
        self.paced(ModelEvent::CallStarted { block, id, name });
        let input = match (&call.raw, &call.input) {
            (Some(raw), _) => raw.clone(),
            (None, Some(input)) => filled_in(input, self.history).to_string(),
            (None, None) => "{}".to_owned(),
        };
        self.written += input.len();
        for json in cut_up(&input, self.piece) {
            self.paced(ModelEvent::CallInputDelta { block, json });
        }
    }

    /// A list's texts are pieces as they stand; a single text is cut up.
    fn pieces(&mut self, texts: &[String]) -> Vec<String> {
        let filled = texts.iter().map(|text| fill_in(text, self.history));
        let pieces: Vec<String> = match texts {
            [_] => filled.flat_map(|text| cut_up(&text, self.piece)).collect(),
            _ => filled.collect(),
        };
        self.written += pieces.iter().map(String::len).sum::<usize>();
        pieces
    }

    fn next_block(&mut self) -> u32 {
        self.block += 1;
        self.block - 1
    }

    fn wait(&mut self, milliseconds: u64) {
        if milliseconds > 0 {
            self.steps
                .push(Step::Wait(Duration::from_millis(milliseconds)));
        }
    }

    fn paced(&mut self, event: ModelEvent) {
        if self.steps.iter().any(|step| matches!(step, Step::Event(_))) {
            self.wait(self.pace);
        }
        self.push(event);
    }

    fn push(&mut self, event: ModelEvent) {
        self.steps.push(Step::Event(event));
    }

    /// Estimated where it is not given, so that budgets and costs move as with a real model.
    fn usage(&self, turn: &Turn) -> Usage {
        turn.usage.unwrap_or_else(|| Usage {
            input: self.history.estimated_tokens().max(1),
            output: (self.written as u64 / 4).max(1),
            ..Usage::default()
        })
    }

    fn stop(&self, turn: &Turn) -> StopReason {
        let asks = if self.calls > 0 {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        };
        turn.stop.unwrap_or(asks)
    }
}

/// Cuts off what does not come any more, and says how it ends.
fn end(steps: &mut Vec<Step>, turn: &Turn) {
    let (place, last) = match (turn.cut, turn.hang, &turn.error) {
        (Some(place), ..) => (place, Step::Cut),
        (_, Some(place), _) => (place, Step::Hang),
        (.., Some(fault)) => (Place::BeforeEnd, Step::Fail(Failure::of(fault))),
        (None, None, None) => return,
    };
    let kept = match place {
        Place::After(events) => after(steps, events),
        Place::InCall => in_last_call(steps),
        Place::BeforeEnd => steps.len() - 2,
    };
    steps.truncate(kept);
    steps.push(last);
}

/// The place after that many events.
fn after(steps: &[Step], events: usize) -> usize {
    if events == 0 {
        return steps
            .iter()
            .position(|step| matches!(step, Step::Event(_)))
            .unwrap_or(0);
    }
    let mut places = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| matches!(step, Step::Event(_)));
    places
        .nth(events - 1)
        .map_or(steps.len(), |(place, _)| place + 1)
}

/// Half of the last call's arguments stay; a single piece of them is halved first.
fn in_last_call(steps: &mut [Step]) -> usize {
    let is_start = |step: &Step| matches!(step, Step::Event(ModelEvent::CallStarted { .. }));
    let Some(start) = steps.iter().rposition(is_start) else {
        return steps.len();
    };
    let is_input = |step: &Step| matches!(step, Step::Event(ModelEvent::CallInputDelta { .. }));
    let inputs: Vec<usize> = (start..steps.len())
        .filter(|&at| is_input(&steps[at]))
        .collect();
    match inputs.as_slice() {
        [] => start + 1,
        [only] => {
            if let Step::Event(ModelEvent::CallInputDelta { json, .. }) = &mut steps[*only] {
                let half = json.floor_char_boundary(json.len() / 2);
                json.truncate(half);
            }
            only + 1
        }
        [.., _] => inputs[inputs.len() / 2 - 1] + 1,
    }
}

impl Failure {
    fn of(fault: &Fault) -> Self {
        let kind = fault
            .kind
            .unwrap_or_else(|| kind_of(fault.status.unwrap_or(500)));
        let status = fault.status.unwrap_or_else(|| status_of(kind));
        let default = || format!("scripted {kind:?}");
        let refusal = Refusal {
            status,
            kind,
            message: fault.message.clone().unwrap_or_else(default),
            param: None,
            retry_after: fault.retry_after.map(Duration::from_secs_f64),
        };
        Self {
            refusal,
            as_date: fault.as_date,
            closes: kind == Kind::Transport && fault.status.is_none(),
            body: fault.body.clone(),
        }
    }
}

fn kind_of(status: u16) -> Kind {
    match status {
        401 | 403 => Kind::Auth,
        408 | 409 => Kind::Transport,
        429 => Kind::RateLimited,
        500.. => Kind::Overloaded,
        _ => Kind::Rejected,
    }
}

fn status_of(kind: Kind) -> u16 {
    match kind {
        Kind::Transport => 408,
        Kind::RateLimited | Kind::QuotaExceeded => 429,
        Kind::Overloaded => 503,
        Kind::Malformed => 200,
        Kind::ContextOverflow | Kind::Rejected => 400,
        Kind::Auth => 401,
    }
}

fn cut_up(text: &str, piece: usize) -> Vec<String> {
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(piece)
            .map_or(rest.len(), |(at, _)| at);
        let (head, tail) = rest.split_at(end);
        pieces.push(head.to_owned());
        rest = tail;
    }
    pieces
}

fn fill_in(text: &str, history: &History<'_>) -> String {
    if !text.contains("{{") {
        return text.to_owned();
    }
    text.replace("{{last_result}}", &history.last_result())
        .replace("{{last}}", &history.last())
        .replace("{{prompt}}", &history.prompt())
        .replace("{{answers}}", &history.answers().to_string())
        .replace("{{results}}", &history.results().to_string())
}

fn filled_in(input: &Value, history: &History<'_>) -> Value {
    match input {
        Value::String(text) => fill_in(text, history).into(),
        Value::Array(values) => values
            .iter()
            .map(|value| filled_in(value, history))
            .collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (key.clone(), filled_in(value, history)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => input.clone(),
    }
}
