//! `--output-format json`: one object at the end, and nothing before it.
//!
//! What happened in between is counted, not shown.

use std::io::{self, Write};

use hames_types::Event;

use crate::{report::Report, surface::Surface, tally::Tally};

pub struct Json;

impl Surface for Json {
    fn show(&mut self, _: &Event, _: &Tally) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }

    fn finish(&mut self, report: &Report) -> io::Result<()> {
        let line = report.line()?;
        io::stdout().write_all(format!("{line}\n").as_bytes())
    }
}
