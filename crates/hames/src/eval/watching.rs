//! Those who watch a run: a block of lines on a terminal, plain lines in a log.
//!
//! What is shown is `hames_eval::progress`'s; this prints it. A screen that is gone stops nothing.

use std::{
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hames_eval::{
    event::{Event, Observer},
    experiment::Experiment,
    progress,
};

use crate::environment::Environment;

/// An agent that says nothing for so long is told of.
const SILENCE: Duration = Duration::from_secs(120);
/// Where nobody knows how wide a terminal is.
const WIDTH: usize = 100;

pub(super) struct Watch {
    watch: progress::Watch<fn(&str)>,
    /// Lines of the block that stands on the terminal; none where there is no terminal.
    shown: Option<Mutex<usize>>,
}

impl Watch {
    pub fn new(environment: &Environment, experiment: &Experiment) -> Self {
        let live = environment.stderr_is_terminal && environment.wants_color();
        let tell: fn(&str) = if live { |_| {} } else { put };
        Self {
            watch: progress::Watch::new(&experiment.id, SILENCE, Some(&experiment.dir), tell),
            shown: live.then(Mutex::default),
        }
    }

    /// Above the block, where there is one.
    pub fn say(&self, text: &str) {
        self.clear();
        put(text);
    }

    /// To be called every second or so.
    pub fn tick(&self) {
        self.watch.tick();
        self.draw();
    }

    pub fn finish(&self) {
        self.watch.finish();
        self.clear();
        for note in self.watch.notes() {
            put(&note);
        }
    }

    fn draw(&self) {
        let Some(shown) = &self.shown else { return };
        self.clear();
        let block = self.watch.block(width());
        block.iter().for_each(|line| put(line));
        *shown.lock().unwrap_or_else(PoisonError::into_inner) = block.len();
    }

    /// Up to where the block began, and everything below it gone.
    fn clear(&self) {
        let Some(shown) = &self.shown else { return };
        let lines = std::mem::take(&mut *shown.lock().unwrap_or_else(PoisonError::into_inner));
        if lines > 0 {
            let _ = write!(io::stderr(), "\x1b[{lines}A\x1b[J");
        }
    }
}

impl Observer for Watch {
    fn see(&self, event: &Event) {
        self.watch.see(event);
        match event {
            Event::Note { .. } if self.shown.is_some() => self.say(&noted(event)),
            Event::AgentSpoke { .. } => {}
            _ => self.draw(),
        }
    }
}

fn noted(event: &Event) -> String {
    match event {
        Event::Note {
            trial: Some(trial),
            text,
        } => format!("{trial}: {text}"),
        Event::Note { trial: None, text } => text.clone(),
        _ => String::new(),
    }
}

/// A line that the terminal breaks in two is two to be taken back.
fn width() -> usize {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stderr())
        && size.ws_col > 0
    {
        return size.ws_col.into();
    }
    WIDTH
}

fn put(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// How far a run says that it is, for somebody else.
pub(super) fn told(dir: &Path) -> io::Result<Option<String>> {
    let snapshot = progress::Snapshot::read(dir)?;
    Ok(snapshot.map(|snapshot| {
        let updated = format!("As of {}:\n", snapshot.updated_at);
        updated + &progress::block(&snapshot, WIDTH).join("\n") + "\n"
    }))
}
