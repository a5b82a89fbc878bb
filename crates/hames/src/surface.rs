//! Surfaces: how a run shows itself. They read events on a thread of their own.
//!
//! A full pipe slows this thread and never the loop; nothing here can answer back.

mod journal;
mod json;
mod stream_json;
mod text;
mod words;

pub use text::Text;

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use hames_agent::journal::Journal;
use hames_types::{Event, Outcome, Seq};
use serde_json::Value;
use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    args::Format,
    environment::Environment,
    family::Family,
    report::{About, Report},
    tally::Tally,
};

pub trait Surface: Send {
    /// False where only the result is wanted: then nothing is read before the end.
    fn looks(&self) -> bool {
        true
    }

    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// `tally` has counted the event already.
    fn show(&mut self, event: &Event, tally: &Tally) -> io::Result<()>;

    /// Everything shown so far leaves the process.
    fn flush(&mut self) -> io::Result<()>;

    fn finish(&mut self, report: &Report) -> io::Result<()>;
}

/// The surface that `--output-format` names, on the process's own streams.
pub fn surface(
    format: Format,
    verbose: bool,
    about: &Arc<About>,
    environment: &Environment,
) -> Box<dyn Surface> {
    match format {
        Format::Text => Box::new(Text::new(environment, verbose)),
        Format::Json => Box::new(json::Json),
        Format::StreamJson => Box::new(stream_json::StreamJson::new(about.clone())),
        Format::Journal => Box::new(journal::JournalLines::default()),
    }
}

/// How a run ended, as the one who ran it knows.
pub struct Closing {
    pub outcome: Outcome,
    pub took: Duration,
    pub structured: Option<Value>,
}

/// A surface at work.
pub struct Watching {
    close: oneshot::Sender<Closing>,
    thread: JoinHandle<(Report, io::Result<()>)>,
}

/// What a surface watches.
pub struct Watched {
    pub journal: Journal,
    /// The first entry that belongs to this run.
    pub from: Seq,
    pub folder: PathBuf,
    pub about: Arc<About>,
}

impl Watching {
    /// `broken` is told once nobody reads any more.
    pub fn start(
        watched: Watched,
        mut surface: Box<dyn Surface>,
        broken: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (close, closing) = oneshot::channel();
        let runtime = Handle::current();
        let thread = thread::Builder::new()
            .name("surface".to_owned())
            .spawn(move || runtime.block_on(watch(watched, &mut *surface, closing, broken)))?;
        Ok(Self { close, thread })
    }

    /// Shows what is left and the result, and waits until it is out.
    pub fn close(self, closing: Closing) -> io::Result<Report> {
        let _ = self.close.send(closing);
        let joined = self.thread.join();
        let (report, written) = joined.map_err(|_| io::Error::other("the surface crashed"))?;
        written.map(|()| report)
    }
}

async fn watch(
    watched: Watched,
    surface: &mut dyn Surface,
    mut closing: oneshot::Receiver<Closing>,
    broken: impl FnOnce(),
) -> (Report, io::Result<()>) {
    let Watched {
        journal,
        from,
        folder,
        about,
    } = watched;
    let mut tally = Tally::of(journal.id().clone(), about.model.as_str().into());
    let mut family = Family::of(journal, from, folder);
    let mut shown = surface.begin();
    let mut broken = Some(broken);
    let closed = loop {
        if shown.is_err()
            && let Some(broken) = broken.take()
        {
            broken();
        }
        if !surface.looks() || shown.is_err() {
            break (&mut closing).await;
        }
        tokio::select! {
            biased;
            closed = &mut closing => break closed,
            event = family.next() => {
                shown = show_all(event, &mut family, &mut tally, surface);
            }
        }
    };
    while let Some(event) = family.try_next() {
        tally.take(&event);
        if shown.is_ok() {
            shown = surface.show(&event, &tally);
        }
    }
    let closed = closed.unwrap_or_else(|_| Closing {
        outcome: Outcome::failed("the run was dropped"),
        took: Duration::ZERO,
        structured: None,
    });
    let Closing {
        outcome,
        took,
        structured,
    } = closed;
    let report = Report::new(about, outcome, tally, took, structured);
    let shown = shown
        .and_then(|()| surface.finish(&report))
        .and_then(|()| surface.flush());
    (report, shown)
}

/// An event and all that came with it, then out.
fn show_all(
    event: Event,
    family: &mut Family,
    tally: &mut Tally,
    surface: &mut dyn Surface,
) -> io::Result<()> {
    let mut next = Some(event);
    while let Some(event) = next {
        tally.take(&event);
        surface.show(&event, tally)?;
        next = family.try_next();
    }
    surface.flush()
}
