//! A reader's place in one journal: it never makes the loop wait, and never misses a fact.
//!
//! A reader that falls behind reads entries back from the journal; nothing is written here.

use std::sync::Arc;

use hames_journal::{Records, Written};
use hames_types::{Event, EventKind, Seq};
use tokio::sync::watch;

use crate::{
    feed::{Heard, Unseen},
    journal::Journal,
};

impl Journal {
    /// Every event from `from` on, however late or slow the reader is.
    pub fn events(&self, from: Seq) -> Events {
        Events::new(self.clone(), from)
    }
}

/// One reader's place in one journal.
pub struct Events {
    journal: Journal,
    changed: watch::Receiver<()>,
    next: Seq,
    behind: Option<Records>,
    heard: Heard,
}

impl Events {
    pub(crate) fn new(journal: Journal, from: Seq) -> Self {
        let changed = journal.feed().changes();
        let behind = journal.read(from).ok();
        Self {
            journal,
            changed,
            next: from,
            behind,
            heard: Heard::new(),
        }
    }

    pub async fn next(&mut self) -> Event {
        loop {
            self.changed.borrow_and_update();
            if let Some(event) = self.try_next() {
                return event;
            }
            // It cannot close: this reader holds the journal.
            let _ = self.changed.changed().await;
        }
    }

    /// What is there now, without waiting for more.
    pub fn try_next(&mut self) -> Option<Event> {
        let kind = self.read_back().or_else(|| self.look())?;
        let journal = self.journal.id().clone();
        Some(Event { journal, kind })
    }

    fn read_back(&mut self) -> Option<EventKind> {
        let records = self.behind.as_mut()?;
        let next = self.next;
        let Some(record) = records.flatten().find(|record| record.seq >= next) else {
            self.behind = None;
            return None;
        };
        self.next = record.seq + 1;
        let line = serde_json::to_string(&record).ok()?.into();
        let (seq, entry) = (record.seq, Arc::new(record.entry));
        Some(EventKind::Entry { seq, entry, line })
    }

    fn look(&mut self) -> Option<EventKind> {
        let (written, entry) = match self.journal.feed().unseen(self.next, &mut self.heard)? {
            Unseen::Text(delta) => return Some(EventKind::Delta(delta)),
            Unseen::Entry(written, entry) => (written, entry),
        };
        if written.seq > self.next.max(1) {
            self.behind = self.journal.read(self.next).ok();
            if let Some(missed) = self.read_back() {
                return Some(missed);
            }
        }
        self.next = written.seq + 1;
        let Written { seq, line } = written;
        Some(EventKind::Entry { seq, entry, line })
    }
}
