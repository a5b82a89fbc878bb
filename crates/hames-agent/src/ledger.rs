//! Ledger: what a session took, turn by turn, as a fold over its journal.
//!
//! It asks nobody and stores nothing: whoever reads a journal can tell where time and tokens went.

use std::{sync::Arc, time::Duration};

use hames_journal::Record;
use hames_types::{Entry, Outcome, Prices, Usage};

/// Who a stretch of wall time belongs to; each moment has one owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Owners {
    pub harness: Duration,
    /// From the request to the whole answer, failed attempts included.
    pub model: Duration,
    /// While at least one tool runs.
    pub tool: Duration,
    /// Waits between attempts, and for a human's answer.
    pub waiting: Duration,
}

impl Owners {
    pub fn total(&self) -> Duration {
        self.harness + self.model + self.tool + self.waiting
    }

    fn add(&mut self, owner: Owner, time: Duration) {
        let share = match owner {
            Owner::Harness => &mut self.harness,
            Owner::Model => &mut self.model,
            Owner::Tool => &mut self.tool,
            Owner::Waiting | Owner::Nobody => &mut self.waiting,
        };
        *share += time;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Harness,
    Model,
    Tool,
    Waiting,
    /// Nothing was being worked on.
    Nobody,
}

/// One turn: a model call that was answered, and the calls it asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// As counted by its submission.
    pub number: u32,
    pub model: Arc<str>,
    pub usage: Usage,
    /// Tokens of attempts that failed.
    pub failed: Usage,
    pub attempts: u32,
    pub calls: u32,
    pub call_errors: u32,
    pub prefix_bytes: u64,
    pub time: Owners,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    pub turns: Vec<Turn>,
    /// How each query ended, the newest last.
    pub ends: Vec<Outcome>,
    pub compactions: u32,
    pub children: u32,
    pub refused_unasked: u32,
    /// Work outside any turn: opening, prompts, hooks.
    pub outside: Owners,
}

impl Ledger {
    /// Of one journal; children have their own.
    pub fn of(records: impl IntoIterator<Item = Record>) -> Self {
        let mut reader = Reader::default();
        for record in records {
            reader.read(&record);
        }
        reader.ledger
    }

    /// All tokens, failed attempts included.
    pub fn usage(&self) -> Usage {
        let both = self.turns.iter().flat_map(|turn| [turn.usage, turn.failed]);
        both.fold(Usage::default(), sum)
    }

    /// In US dollars; `None` when a model that answered has no price.
    pub fn cost(&self, prices: impl Fn(&str) -> Option<Prices>) -> Option<f64> {
        let cost = |turn: &Turn| {
            let prices = prices(&turn.model)?;
            Some(prices.cost(sum(turn.usage, turn.failed)))
        };
        self.turns.iter().map(cost).sum()
    }

    pub fn time(&self) -> Owners {
        let turns = self.turns.iter().map(|turn| turn.time);
        turns.fold(self.outside, |mut all, turn| {
            all.harness += turn.harness;
            all.model += turn.model;
            all.tool += turn.tool;
            all.waiting += turn.waiting;
            all
        })
    }

    pub fn tool_calls(&self) -> u32 {
        self.turns.iter().map(|turn| turn.calls).sum()
    }

    /// A server that counts far fewer tokens than were sent has cut the request in silence.
    pub fn looks_cut(&self) -> Option<&Turn> {
        const BYTES_A_TOKEN_AT_MOST: u64 = 12;
        self.turns.iter().find(|turn| {
            let heard = turn.usage.input + turn.usage.cache_read + turn.usage.cache_write;
            heard > 0
                && turn.prefix_bytes > 8_000
                && heard * BYTES_A_TOKEN_AT_MOST < turn.prefix_bytes
        })
    }
}

fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input + other.input,
        output: one.output + other.output,
        reasoning: one.reasoning + other.reasoning,
        cache_read: one.cache_read + other.cache_read,
        cache_write: one.cache_write + other.cache_write,
    }
}

struct Reader {
    ledger: Ledger,
    model: Arc<str>,
    at: Option<u64>,
    owner: Owner,
    running: u32,
    in_turn: bool,
    /// The last turn has its message: the same number again is another call, after a kill.
    answered: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            ledger: Ledger::default(),
            model: "".into(),
            at: None,
            owner: Owner::Nobody,
            running: 0,
            in_turn: false,
            answered: false,
        }
    }
}

impl Reader {
    /// The time since the last record belongs to whoever was at work since then.
    fn read(&mut self, record: &Record) {
        let since = record.at.saturating_sub(self.at.unwrap_or(record.at));
        let time = Duration::from_millis(since);
        self.at = Some(record.at);
        match (self.in_turn, self.ledger.turns.last_mut()) {
            (true, Some(turn)) => turn.time.add(self.owner, time),
            _ => self.ledger.outside.add(self.owner, time),
        }
        self.take_in(&record.entry);
    }

    fn take_in(&mut self, entry: &Entry) {
        self.owner = match entry {
            Entry::EpochStarted { cause, head, .. } => {
                self.model = head.model.clone();
                self.ledger.compactions += u32::from(*cause == hames_types::EpochCause::Compaction);
                Owner::Harness
            }
            Entry::TurnStarted {
                turn, prefix_bytes, ..
            } => self.begin_turn(*turn, *prefix_bytes),
            Entry::Assistant { message } => {
                self.in_last(|turn| turn.usage = message.usage);
                self.answered = true;
                Owner::Harness
            }
            Entry::CallFailed {
                usage, retry_after, ..
            } => {
                self.in_last(|turn| {
                    turn.failed = sum(turn.failed, *usage);
                    turn.attempts += 1;
                });
                retry_after.map_or(Owner::Harness, |_| Owner::Waiting)
            }
            Entry::PermissionRequested { .. } => Owner::Waiting,
            Entry::PermissionDecided { by, .. } => {
                let nobody = *by == hames_types::DecidedBy::Nobody;
                self.ledger.refused_unasked += u32::from(nobody);
                Owner::Harness
            }
            Entry::ToolStarted { .. } => {
                self.running += 1;
                Owner::Tool
            }
            Entry::ToolReturned { .. } => self.owner,
            Entry::ToolFinished { result } => self.finish_call(result.status),
            Entry::ChildOpened { .. } => {
                self.ledger.children += 1;
                self.owner
            }
            Entry::QueryFinished { outcome } => {
                self.ledger.ends.push(outcome.clone());
                (self.in_turn, self.running) = (false, 0);
                Owner::Nobody
            }
            Entry::User { .. } | Entry::HookRan { call: None, .. } => Owner::Harness,
            Entry::SteeringReceived { .. }
            | Entry::HookRan { .. }
            | Entry::ShapeProgress { .. }
            | Entry::Unknown => self.owner,
        };
    }

    fn begin_turn(&mut self, number: u32, prefix_bytes: u64) -> Owner {
        let again = self.in_turn
            && !self.answered
            && self
                .ledger
                .turns
                .last()
                .is_some_and(|turn| turn.number == number);
        if !again {
            self.ledger.turns.push(Turn {
                number,
                model: self.model.clone(),
                attempts: 1,
                ..Turn::default()
            });
        }
        (self.in_turn, self.running, self.answered) = (true, 0, false);
        let model = self.model.clone();
        self.in_last(|turn| (turn.prefix_bytes, turn.model) = (prefix_bytes, model));
        Owner::Model
    }

    fn finish_call(&mut self, status: hames_types::ResultStatus) -> Owner {
        let failed = status != hames_types::ResultStatus::Ok;
        self.in_last(|turn| {
            turn.calls += 1;
            turn.call_errors += u32::from(failed);
        });
        self.running = self.running.saturating_sub(1);
        if self.running > 0 {
            Owner::Tool
        } else {
            Owner::Harness
        }
    }

    fn in_last(&mut self, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = self.ledger.turns.last_mut() {
            change(turn);
        }
    }
}
