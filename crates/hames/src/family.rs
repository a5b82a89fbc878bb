//! A session's journals read as one: the session's own, and its children's from where they open.
//!
//! It looks and never answers; a reader that is slow misses nothing.

use std::path::PathBuf;

use futures_util::future::select_all;
use hames_agent::{events::Events, journal::Journal};
use hames_journal::{Record, Records, file::read_records};
use hames_types::{Entry, Event, EventKind, JournalId, Seq};

pub struct Family {
    /// Where journals of children lie that ended before this reader came to them.
    folder: PathBuf,
    members: Vec<Member>,
}

enum Member {
    Live { journal: Journal, events: Events },
    Past { id: JournalId, records: Records },
}

impl Family {
    /// Reads the session's own journal from `from` on.
    pub fn of(journal: Journal, from: Seq, folder: PathBuf) -> Self {
        let events = journal.events(from);
        let members = vec![Member::Live { journal, events }];
        Self { folder, members }
    }

    /// What is there now, without waiting for more.
    pub fn try_next(&mut self) -> Option<Event> {
        let event = self.members.iter_mut().find_map(Member::try_next)?;
        Some(self.follow(event))
    }

    pub async fn next(&mut self) -> Event {
        if let Some(event) = self.try_next() {
            return event;
        }
        // What is past has been read, so only the living can still say something.
        self.members
            .retain(|member| matches!(member, Member::Live { .. }));
        let living = self.members.iter_mut().filter_map(|member| match member {
            Member::Live { events, .. } => Some(Box::pin(events.next())),
            Member::Past { .. } => None,
        });
        let (event, _, _) = select_all(living).await;
        self.follow(event)
    }

    fn follow(&mut self, event: Event) -> Event {
        if let EventKind::Entry { entry, .. } = &event.kind
            && let Entry::ChildOpened { journal, .. } = &**entry
        {
            let child = self.open(&event.journal, journal);
            self.members.extend(child);
        }
        event
    }

    fn open(&self, parent: &JournalId, id: &JournalId) -> Option<Member> {
        let live = self.members.iter().find_map(|member| match member {
            Member::Live { journal, .. } if journal.id() == parent => journal.child(id),
            Member::Live { .. } | Member::Past { .. } => None,
        });
        if let Some(journal) = live {
            let events = journal.events(0);
            return Some(Member::Live { journal, events });
        }
        let path = self.folder.join(format!("{}.jsonl", id.0));
        let records = read_records(&path, 0).ok()?;
        Some(Member::Past {
            id: id.clone(),
            records,
        })
    }
}

impl Member {
    fn try_next(&mut self) -> Option<Event> {
        match self {
            Self::Live { events, .. } => events.try_next(),
            Self::Past { id, records } => {
                let record = records.flatten().next()?;
                event(id.clone(), record)
            }
        }
    }
}

fn event(journal: JournalId, record: Record) -> Option<Event> {
    let line = serde_json::to_string(&record).ok()?.into();
    let (seq, entry) = (record.seq, record.entry.into());
    let kind = EventKind::Entry { seq, entry, line };
    Some(Event { journal, kind })
}

/// When a record was written, in milliseconds since 1970, read off its line.
pub fn written_at(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("\"at\":")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
    rest.get(..end)?.parse().ok()
}
