//! `--output-format journal`: the entries of the session's own journal, line for line as they stand
//! in its file.
//!
//! Children keep their journals to themselves; the last line is how the query ended.

use std::io::{self, BufWriter, Stdout, Write};

use hames_types::{Event, EventKind};

use crate::{report::Report, surface::Surface, tally::Tally};

pub struct JournalLines {
    out: BufWriter<Stdout>,
}

impl Default for JournalLines {
    fn default() -> Self {
        let out = BufWriter::new(io::stdout());
        Self { out }
    }
}

impl Surface for JournalLines {
    fn show(&mut self, event: &Event, tally: &Tally) -> io::Result<()> {
        match &event.kind {
            EventKind::Entry { line, .. } if tally.is_root(&event.journal) => {
                writeln!(self.out, "{line}")
            }
            EventKind::Entry { .. } | EventKind::Delta(_) => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(&mut self, _: &Report) -> io::Result<()> {
        Ok(())
    }
}
