//! The demo's page: headings, output and a diff, as a terminal shows them best.
//!
//! Colour where stdout is a terminal that wants it; otherwise the same lines, plain.

use std::io::{self, Write};

use anyhow::Result;

use crate::environment::Environment;

pub(super) struct Page {
    color: bool,
}

impl Page {
    pub fn new(environment: &Environment) -> Self {
        let color = environment.stdout_is_terminal && environment.wants_color();
        Self { color }
    }

    pub fn title(&self, text: &str) -> Result<()> {
        self.line("1", text)
    }

    pub fn heading(&self, text: &str) -> Result<()> {
        self.line("", "")?;
        self.line("1;36", &format!("── {text} ──"))
    }

    pub fn note(&self, text: &str) -> Result<()> {
        self.line("", text)
    }

    /// What a command printed.
    pub fn block(&self, text: &str) -> Result<()> {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let style = match line.trim_start() {
                line if line.starts_with("OK") => "32",
                line if line.starts_with("FAIL") => "31",
                _ => "2",
            };
            self.line(style, &format!("  {line}"))?;
        }
        Ok(())
    }

    pub fn diff(&self, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return self.note("  (nothing)");
        }
        for line in text.lines() {
            let style = match line.as_bytes() {
                [b'+', b'+', ..] | [b'-', b'-', ..] => "1",
                [b'+', ..] => "32",
                [b'-', ..] => "31",
                [b'@', ..] => "36",
                _ => "2",
            };
            self.line(style, &format!("  {line}"))?;
        }
        Ok(())
    }

    fn line(&self, style: &str, text: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        match self.color && !style.is_empty() && !text.is_empty() {
            true => writeln!(out, "\x1b[{style}m{text}\x1b[0m")?,
            false => writeln!(out, "{text}")?,
        }
        // What the run prints on stderr stands below it.
        Ok(out.flush()?)
    }
}
