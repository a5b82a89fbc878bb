//! What a run came to: a fold over the entries of a session and its children.
//!
//! It knows no prices and no exit codes; it counts what the journal says.

use std::{collections::BTreeMap, sync::Arc};

use hames_types::{
    AssistantMessage, DecidedBy, Entry, Event, EventKind, JournalId, RawJson, Seq, StopReason,
    Usage,
};

use crate::family::written_at;

#[derive(Debug, Clone, Default)]
pub struct Tally {
    root: Option<JournalId>,
    /// Model calls, without those that only sum a conversation up.
    pub turns: u32,
    pub usage: Usage,
    pub by_model: BTreeMap<Arc<str>, Usage>,
    pub denied: Vec<Denied>,
    /// A call was refused because nobody could be asked.
    pub unasked: bool,
    /// The last thing that the session's own agent said.
    pub answer: String,
    pub stop: Option<StopReason>,
    /// The number of the last entry of the session's own journal.
    pub last_seq: Seq,
    /// Spent waiting for models, in milliseconds.
    pub api_ms: u64,
    agents: BTreeMap<JournalId, Agent>,
}

#[derive(Debug, Clone, Default)]
struct Agent {
    label: String,
    model: Option<Arc<str>>,
    turn: Option<u32>,
    asked_at: Option<u64>,
    said: Option<Arc<AssistantMessage>>,
}

/// A call that was not allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Denied {
    pub call: String,
    pub tool: String,
    pub input: RawJson,
}

impl Tally {
    /// Counts what the session `root` does from here on, while `model` serves it.
    pub fn of(root: JournalId, model: Arc<str>) -> Self {
        let agent = Agent {
            model: Some(model),
            ..Agent::default()
        };
        let agents = BTreeMap::from([(root.clone(), agent)]);
        Self {
            root: Some(root),
            agents,
            ..Self::default()
        }
    }

    pub fn take(&mut self, event: &Event) {
        let EventKind::Entry { seq, entry, line } = &event.kind else {
            return;
        };
        if self.is_root(&event.journal) {
            self.last_seq = *seq;
        }
        let at = written_at(line).unwrap_or_default();
        match &**entry {
            Entry::EpochStarted { head, .. } => {
                self.agent(&event.journal).model = Some(head.model.clone());
            }
            Entry::TurnStarted { turn, .. } => self.turn(&event.journal, *turn, at),
            Entry::Assistant { message } => self.said(&event.journal, message, at),
            Entry::CallFailed { usage, .. } => self.spent(&event.journal, *usage, at),
            Entry::PermissionDecided {
                call,
                allowed: false,
                by,
                ..
            } => {
                self.denied(&event.journal, &call.0, *by);
            }
            Entry::ChildOpened { journal, label } => {
                let model = self.agent(&event.journal).model.clone();
                let child = self.agent(journal);
                (child.label, child.model) = (label.clone(), model);
            }
            Entry::User { .. }
            | Entry::SteeringReceived { .. }
            | Entry::PermissionRequested { .. }
            | Entry::PermissionDecided { .. }
            | Entry::ToolStarted { .. }
            | Entry::ToolReturned { .. }
            | Entry::ToolFinished { .. }
            | Entry::HookRan { .. }
            | Entry::ShapeProgress { .. }
            | Entry::QueryFinished { .. }
            | Entry::Unknown => {}
        }
    }

    /// The call of an agent's last message with that id, as `(tool, input)`.
    pub fn call(&self, journal: &JournalId, id: &str) -> Option<(&str, &RawJson)> {
        let said = self.agents.get(journal)?.said.as_deref()?;
        let call = said.tool_calls().find(|call| &*call.id.0 == id)?;
        Some((&call.name, &call.input))
    }

    pub fn is_root(&self, journal: &JournalId) -> bool {
        self.root.as_ref() == Some(journal)
    }

    /// What a child was opened for; empty for the session itself.
    pub fn label(&self, journal: &JournalId) -> &str {
        self.agents.get(journal).map_or("", |agent| &agent.label)
    }

    pub fn model(&self, journal: &JournalId) -> &str {
        let agent = self.agents.get(journal);
        agent
            .and_then(|agent| agent.model.as_deref())
            .unwrap_or_default()
    }

    fn agent(&mut self, journal: &JournalId) -> &mut Agent {
        self.agents.entry(journal.clone()).or_default()
    }

    /// A turn that is announced again, after a compaction, is still one; a summary is turn zero.
    fn turn(&mut self, journal: &JournalId, turn: u32, at: u64) {
        let agent = self.agent(journal);
        let is_new = turn > 0 && agent.turn != Some(turn);
        (agent.turn, agent.asked_at) = (Some(turn), Some(at));
        self.turns += u32::from(is_new);
    }

    fn said(&mut self, journal: &JournalId, message: &Arc<AssistantMessage>, at: u64) {
        self.spent(journal, message.usage, at);
        self.agent(journal).said = Some(message.clone());
        if self.is_root(journal) {
            self.stop = Some(message.stop);
            if !message.says_nothing() {
                self.answer = message.text();
            }
        }
    }

    fn spent(&mut self, journal: &JournalId, usage: Usage, at: u64) {
        let agent = self.agent(journal);
        let asked_at = agent.asked_at.replace(at).unwrap_or(at);
        let model = agent.model.clone().unwrap_or_default();
        self.api_ms += at.saturating_sub(asked_at);
        add(&mut self.usage, usage);
        add(self.by_model.entry(model).or_default(), usage);
    }

    fn denied(&mut self, journal: &JournalId, call: &str, by: DecidedBy) {
        self.unasked |= by == DecidedBy::Nobody;
        let asked = self.call(journal, call);
        let (tool, input) = asked.map_or(("", RawJson::from("{}")), |(tool, input)| {
            (tool, input.clone())
        });
        let (call, tool) = (call.to_owned(), tool.to_owned());
        self.denied.push(Denied { call, tool, input });
    }
}

pub fn add(sum: &mut Usage, usage: Usage) {
    let Usage {
        input,
        output,
        reasoning,
        cache_read,
        cache_write,
    } = usage;
    sum.input += input;
    sum.output += output;
    sum.reasoning += reasoning;
    sum.cache_read += cache_read;
    sum.cache_write += cache_write;
}
