//! A surface at work: events read, counted, logged and shown on a thread of its own.
//!
//! A full pipe slows this thread and never the loop; a run log that fails is let go.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::Arc,
    thread::{self, Thread},
    time::Duration,
};

use hames_agent::{journal::Journal, logger::RunLog};
use hames_types::{Event, EventKind, Outcome, Seq};
use serde_json::Value;
use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    family::{Family, written_at},
    report::{About, Report},
    surface::Surface,
    tally::Tally,
};

/// Between two looks, so that a fast stream costs a wake-up a frame and not one a word.
const FRAME: Duration = Duration::from_millis(10);

/// What is watched.
pub struct Watched {
    pub journal: Journal,
    /// The first entry that belongs to this run.
    pub from: Seq,
    /// Where the journals of children lie.
    pub folder: PathBuf,
    pub about: Arc<About>,
    /// Where the run log goes.
    pub log: Option<File>,
}

/// How a run ended, as the one who ran it knows.
pub struct Closing {
    pub outcome: Outcome,
    pub took: Duration,
    pub structured: Option<Value>,
}

pub struct Watching {
    close: oneshot::Sender<Closing>,
    thread: Thread,
    closed: oneshot::Receiver<(Report, io::Result<()>)>,
}

impl Watching {
    /// `unread` is told once nobody reads any more.
    pub fn start(
        watched: Watched,
        surface: Box<dyn Surface>,
        unread: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (close, closing) = oneshot::channel();
        let runtime = Handle::current();
        let about = watched.about.clone();
        let watcher = Watcher::new(watched, surface);
        let (closes, closed) = oneshot::channel();
        let thread = thread::Builder::new().name("surface".to_owned());
        let thread = thread.spawn(move || {
            // Whoever started it may be gone by then; what was to be written is written.
            let _ = closes.send(runtime.block_on(watcher.watch(about, closing, unread)));
        })?;
        let thread = thread.thread().clone();
        Ok(Self {
            close,
            thread,
            closed,
        })
    }

    /// Shows what is left and the result, and waits until it is out.
    pub async fn close(self, closing: Closing) -> io::Result<Report> {
        let _ = self.close.send(closing);
        self.thread.unpark();
        let crashed = |_| io::Error::other("the surface crashed");
        let (report, written) = self.closed.await.map_err(crashed)?;
        written.map(|()| report)
    }
}

struct Watcher {
    family: Family,
    tally: Tally,
    log: Option<RunLog<File>>,
    surface: Box<dyn Surface>,
}

impl Watcher {
    fn new(watched: Watched, surface: Box<dyn Surface>) -> Self {
        let Watched {
            journal,
            from,
            folder,
            about,
            log,
        } = watched;
        Self {
            tally: Tally::of(journal.id().clone(), about.model.as_str().into()),
            family: Family::of(journal, from, folder),
            log: log.map(RunLog::new),
            surface,
        }
    }

    async fn watch(
        mut self,
        about: Arc<About>,
        mut closing: oneshot::Receiver<Closing>,
        unread: impl FnOnce(),
    ) -> (Report, io::Result<()>) {
        let mut shown = self.surface.begin();
        let closed = loop {
            if shown.is_err() {
                unread();
                break closing.await;
            }
            tokio::select! {
                biased;
                closed = &mut closing => break closed,
                event = self.family.next() => shown = self.take_all(event),
            }
            thread::park_timeout(FRAME);
        };
        while let Some(event) = self.family.try_next() {
            let now = self.take(&event);
            shown = shown.and(now);
        }
        let Closing {
            outcome,
            took,
            structured,
        } = closed.unwrap_or_else(|_| dropped());
        let report = Report::new(about, outcome, self.tally, took, structured);
        let shown = shown.and_then(|()| self.surface.finish(&report));
        let shown = shown.and_then(|()| self.surface.flush());
        (report, shown)
    }

    /// An event and all that came with it, then out.
    fn take_all(&mut self, event: Event) -> io::Result<()> {
        let mut next = Some(event);
        while let Some(event) = next {
            self.take(&event)?;
            next = self.family.try_next();
        }
        self.surface.flush()
    }

    /// Counted first: a surface that cannot show an event does not change what the run came to.
    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.tally.take(event);
        self.log(event);
        self.surface.show(event, &self.tally)
    }

    fn log(&mut self, event: &Event) {
        let (Some(log), EventKind::Entry { entry, line, .. }) = (&mut self.log, &event.kind) else {
            return;
        };
        if !self.tally.is_root(&event.journal) {
            return;
        }
        let at = written_at(line).unwrap_or_default();
        if log.hear(at, entry).is_err() {
            self.log = None;
        }
    }
}

fn dropped() -> Closing {
    Closing {
        outcome: Outcome::failed("the run was dropped"),
        took: Duration::ZERO,
        structured: None,
    }
}
