//! Surfaces: how a run shows itself, one file a format.
//!
//! They are handed events in order and write them down; nothing here can answer back.

mod journal;
mod json;
mod stream_json;
mod text;
mod words;

pub use text::Text;

use std::{io, sync::Arc};

use hames_types::Event;

use crate::{
    args::Format,
    environment::Environment,
    report::{About, Report},
    tally::Tally,
};

pub trait Surface: Send {
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
