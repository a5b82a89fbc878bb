//! Text: the answer on stdout as it comes, what the harness does about it on stderr.
//!
//! On a terminal a running tool has a live line; otherwise each fact is one plain line.

use std::io::{self, Stderr, Stdout, Write};

use hames_types::{
    Channel, Delta, Entry, EpochCause, Event, EventKind, JournalId, ProviderError, ResultStatus,
    ToolResult,
};

use crate::{
    environment::Environment,
    report::Report,
    surface::{Surface, words},
    tally::Tally,
};

pub struct Text {
    out: Stdout,
    err: Stderr,
    /// The answer goes to a terminal: what it holds must not command it.
    guarded: bool,
    live: bool,
    color: bool,
    verbose: bool,
    /// What stdout has of the message that is being written.
    shown: String,
    out_is_mid_line: bool,
    /// stderr holds a line that the next one takes the place of.
    live_line: Option<String>,
}

impl Text {
    pub fn new(environment: &Environment, verbose: bool) -> Self {
        let live = environment.stderr_is_terminal;
        Self {
            out: io::stdout(),
            err: io::stderr(),
            guarded: environment.stdout_is_terminal,
            live: live && environment.var("TERM") != Some("dumb"),
            color: live && environment.wants_color(),
            verbose,
            shown: String::new(),
            out_is_mid_line: false,
            live_line: None,
        }
    }

    fn delta(&mut self, delta: &Delta, tally: &Tally, journal: &JournalId) -> io::Result<()> {
        match &delta.channel {
            Channel::Text(_) if tally.is_root(journal) => {
                self.shown.push_str(&delta.text);
                self.say(&delta.text)
            }
            Channel::Tool(_) if self.live => self.progress(&delta.text),
            Channel::Text(_) | Channel::Reasoning(_) | Channel::Tool(_) => Ok(()),
        }
    }

    fn entry(&mut self, entry: &Entry, tally: &Tally, journal: &JournalId) -> io::Result<()> {
        match entry {
            Entry::Assistant { message } if tally.is_root(journal) => self.message(&message.text()),
            Entry::CallFailed {
                error, retry_after, ..
            } => {
                self.discard()?;
                self.failure(error, *retry_after)
            }
            Entry::ToolStarted { call, input, .. } => {
                let tool = tally
                    .call(journal, &call.0)
                    .map_or("tool", |(tool, _)| tool);
                let line = words::call(tool, input);
                self.activity(tally.label(journal), &line)
            }
            Entry::ToolFinished { result } => self.result(result, tally, journal),
            Entry::EpochStarted { cause, head, .. } => self.epoch(*cause, &head.model),
            Entry::PermissionRequested { call, reason, .. } => {
                let asked = tally.call(journal, &call.0);
                let line = asked.map_or(String::new(), |(tool, input)| words::call(tool, input));
                self.question(&line, reason)
            }
            Entry::ChildOpened { label, .. } => self.note(&format!("{label} begins")),
            Entry::Assistant { .. }
            | Entry::TurnStarted { .. }
            | Entry::User { .. }
            | Entry::SteeringReceived { .. }
            | Entry::PermissionDecided { .. }
            | Entry::ToolReturned { .. }
            | Entry::HookRan { .. }
            | Entry::ShapeProgress { .. }
            | Entry::QueryFinished { .. }
            | Entry::Unknown => Ok(()),
        }
    }

    /// The entry holds the message whole: what a slow reader has missed of it follows now.
    fn message(&mut self, text: &str) -> io::Result<()> {
        let shown = std::mem::take(&mut self.shown);
        match text.strip_prefix(shown.as_str()) {
            Some(rest) => self.say(rest)?,
            None => {
                self.end_line()?;
                self.say(text)?;
            }
        }
        self.end_line()
    }

    fn discard(&mut self) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        self.shown.clear();
        self.end_line()?;
        self.note("the text above belongs to a failed attempt and is discarded")
    }

    fn failure(
        &mut self,
        error: &ProviderError,
        retry_after: Option<std::time::Duration>,
    ) -> io::Result<()> {
        let what = words::failure(error);
        match retry_after {
            Some(wait) => self.note(&format!("{what}; next try in {}", words::seconds(wait))),
            None => self.note(&what),
        }
    }

    fn result(
        &mut self,
        result: &ToolResult,
        tally: &Tally,
        journal: &JournalId,
    ) -> io::Result<()> {
        let said = words::result(result);
        let what = words::first_line(&said);
        self.settle()?;
        let asked = tally.call(journal, &result.call.0);
        let tool = asked.map_or("tool", |(tool, _)| tool);
        match result.status {
            ResultStatus::Ok if self.verbose => self.note(&format!("{tool}: {what}")),
            ResultStatus::Ok => Ok(()),
            ResultStatus::Error => self.note(&format!("{tool} failed: {what}")),
            // Whole: the rule that would allow it stands at its end.
            ResultStatus::Denied => self.note(&format!("{tool} was refused: {}", said.trim())),
            ResultStatus::Interrupted => self.note(&format!("{tool}: {what}")),
        }
    }

    fn epoch(&mut self, cause: EpochCause, model: &str) -> io::Result<()> {
        match cause {
            EpochCause::Compaction => self.note("the conversation was compacted"),
            EpochCause::Model => self.note(&format!("{model} takes over")),
            EpochCause::Open
            | EpochCause::Resume
            | EpochCause::Tools
            | EpochCause::Quarantine
            | EpochCause::Rewind
            | EpochCause::Fork => Ok(()),
        }
    }

    /// The answer is typed behind it.
    fn question(&mut self, line: &str, reason: &str) -> io::Result<()> {
        self.note(line)?;
        let reason = words::harmless(reason);
        write!(
            self.err,
            "{reason}\nAllow it? y(es), n(o, because …), a(lways): "
        )?;
        self.err.flush()
    }

    /// What runs now: a live line on a terminal, until something else is said.
    fn activity(&mut self, label: &str, line: &str) -> io::Result<()> {
        let label = if label.is_empty() {
            String::new()
        } else {
            format!("[{label}] ")
        };
        let line = format!("{label}{line}");
        self.note(&line)?;
        if self.live {
            self.live_line = Some(line);
        }
        Ok(())
    }

    /// The last line of what a running tool has printed, behind its live line.
    fn progress(&mut self, text: &str) -> io::Result<()> {
        let Some(last) = text.lines().rev().find(|line| !line.trim().is_empty()) else {
            return Ok(());
        };
        if self.live_line.is_none() {
            return Ok(());
        }
        let last = words::first_line(last);
        write!(self.err, "\r\x1b[K{}", self.dim(&format!("  {last}")))?;
        self.err.flush()
    }

    fn settle(&mut self) -> io::Result<()> {
        if self.live_line.take().is_some() {
            write!(self.err, "\r\x1b[K")?;
        }
        Ok(())
    }

    /// One line on stderr.
    fn note(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        self.settle()?;
        let text = words::harmless(text);
        writeln!(self.err, "{}", self.dim(&format!("· {text}")))
    }

    fn dim(&self, text: &str) -> String {
        if self.color {
            format!("\x1b[2m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// On stdout.
    fn say(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.settle()?;
        self.out_is_mid_line = !text.ends_with('\n');
        if self.guarded {
            return self.out.write_all(words::harmless(text).as_bytes());
        }
        self.out.write_all(text.as_bytes())
    }

    fn end_line(&mut self) -> io::Result<()> {
        if !self.out_is_mid_line {
            return Ok(());
        }
        self.out_is_mid_line = false;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

impl Surface for Text {
    fn show(&mut self, event: &Event, tally: &Tally) -> io::Result<()> {
        match &event.kind {
            EventKind::Delta(delta) => self.delta(delta, tally, &event.journal),
            EventKind::Entry { entry, .. } => self.entry(entry, tally, &event.journal),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.err.flush()
    }

    fn finish(&mut self, report: &Report) -> io::Result<()> {
        self.end_line()?;
        self.settle()?;
        if !report.ending.message.is_empty() {
            let message = words::harmless(&report.ending.message);
            writeln!(self.err, "hames: {message}")?;
        }
        if self.verbose || self.live {
            let summary = summary(report);
            writeln!(self.err, "{}", self.dim(&summary))?;
        }
        Ok(())
    }
}

/// `3 turns, 1234 tokens, $0.0123, 2.1 s, session 2026…`
fn summary(report: &Report) -> String {
    let turns = report.tally.turns;
    let cost = report
        .cost()
        .map_or("cost unknown".to_owned(), |cost| format!("${cost:.4}"));
    format!(
        "{turns} turn{}, {} tokens, {cost}, {}, session {}",
        if turns == 1 { "" } else { "s" },
        report.tally.usage.total(),
        words::seconds(report.took),
        report.about.session,
    )
}
