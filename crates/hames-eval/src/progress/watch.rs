//! The observer that keeps a run's progress, and `progress.json` for others to watch.
//!
//! It can break no run: what goes wrong with it is noted and asked for, never returned.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{Progress, Snapshot, block, line};
use crate::{
    clock,
    event::{Event, Observer},
    experiment::write_atomically,
};

/// Not more often than this, but at the beginning and the end.
const EVERY: Duration = Duration::from_secs(1);

pub fn progress_file(dir: &Path) -> PathBuf {
    dir.join("progress.json")
}

/// Lines of a log go to `tell`; a terminal's painter asks for [`Watch::block`] instead.
pub struct Watch<F: Fn(&str) + Send + Sync> {
    started: Instant,
    file: Option<PathBuf>,
    tell: F,
    state: Mutex<State>,
}

struct State {
    progress: Progress,
    written: Option<Duration>,
    is_stale: bool,
    notes: Vec<String>,
}

impl<F: Fn(&str) + Send + Sync> Watch<F> {
    /// `dir` is the run's folder; none, and no file is written.
    pub fn new(run_id: &str, silence: Duration, dir: Option<&Path>, tell: F) -> Self {
        Self {
            started: Instant::now(),
            file: dir.map(progress_file),
            tell,
            state: Mutex::new(State {
                progress: Progress::new(run_id, silence),
                written: None,
                is_stale: false,
                notes: Vec::new(),
            }),
        }
    }

    /// To be called every second or so: tells of agents that fell silent, and writes what waits.
    pub fn tick(&self) {
        let now = self.started.elapsed();
        let mut state = self.locked();
        let told = state.progress.fell_silent(now);
        self.write(&mut state, now, false);
        drop(state);
        for text in told {
            self.say(&text);
        }
    }

    /// At the end of a run, however it ended.
    pub fn finish(&self) {
        let mut state = self.locked();
        self.write(&mut state, self.started.elapsed(), true);
    }

    pub fn snapshot(&self) -> Snapshot {
        let state = self.locked();
        state
            .progress
            .snapshot(self.started.elapsed(), &clock::now())
    }

    pub fn block(&self, width: usize) -> Vec<String> {
        block(&self.snapshot(), width)
    }

    /// What went wrong with watching; each once.
    pub fn notes(&self) -> Vec<String> {
        self.locked().notes.clone()
    }

    fn write(&self, state: &mut State, now: Duration, at_once: bool) {
        let Some(file) = &self.file else {
            return;
        };
        let fresh = state
            .written
            .is_some_and(|at| now.saturating_sub(at) < EVERY);
        if !at_once && (fresh || !state.is_stale) {
            return;
        }
        state.written = Some(now);
        state.is_stale = false;
        let snapshot = state.progress.snapshot(now, &clock::now());
        let text = serde_json::to_vec_pretty(&snapshot).map_err(std::io::Error::other);
        if let Err(error) = text.and_then(|text| write_atomically(file, &text)) {
            state.note(format!("progress.json is not written: {error}"));
        }
    }

    fn say(&self, text: &str) {
        let told = catch_unwind(AssertUnwindSafe(|| (self.tell)(text)));
        if told.is_err() {
            let note = "a line of progress could not be told".to_owned();
            self.locked().note(note);
        }
    }

    /// Counters that a panic left half counted are still worth showing.
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}

impl<F: Fn(&str) + Send + Sync> Observer for Watch<F> {
    fn see(&self, event: &Event) {
        let now = self.started.elapsed();
        let mut state = self.locked();
        state.progress.see(event, now);
        state.is_stale = true;
        let at_once = matches!(event, Event::RunStarted { .. });
        self.write(&mut state, now, at_once);
        drop(state);
        if let Some(text) = line(event, now) {
            self.say(&text);
        }
    }
}
