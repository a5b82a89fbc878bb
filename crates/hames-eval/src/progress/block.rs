//! Progress as the lines that a terminal repaints.
//!
//! It moves no cursor; whoever paints it does. No line is wider than it may be.

use unicode_width::UnicodeWidthStr;

use super::{Snapshot, WorkerSnapshot};
use crate::report::{
    clean, figures,
    table::{Align, pad, shortened},
};

const BAR: usize = 24;

/// The first line is the run, then a line for each worker.
pub fn block(snapshot: &Snapshot, width: usize) -> Vec<String> {
    let mut lines = vec![bar(snapshot), spent(snapshot)];
    let name = |held: &WorkerSnapshot| match held.trial {
        0 | 1 => clean::line(&held.instance),
        trial => clean::line(&format!("{}~{trial}", held.instance)),
    };
    let widths = snapshot.workers.iter().map(|held| name(held).width());
    let longest = widths.max().unwrap_or(0).min(48);
    for held in &snapshot.workers {
        let stage = held.stage.map_or("between stages", |stage| stage.name());
        let mut line = format!(
            "  w{:<2} {}  {stage:<14} {:>11}",
            held.worker,
            pad(&name(held), longest, Align::Left),
            figures::seconds(held.stage_seconds),
        );
        if let Some(quiet) = held.silent_seconds {
            line += &format!("  ! silent for {}", figures::seconds(quiet));
        }
        lines.push(line);
    }
    lines
        .iter()
        .map(|line| shortened(line, width.max(20)))
        .collect()
}

fn bar(snapshot: &Snapshot) -> String {
    let (done, trials) = (snapshot.tally.done, snapshot.trials);
    let full = (BAR * done.min(trials)).checked_div(trials).unwrap_or(0);
    let left = match snapshot.eta_seconds {
        Some(_) if done >= trials => String::new(),
        Some(eta) => format!(", about {} left", figures::seconds(eta)),
        None => String::new(),
    };
    format!(
        "{}{} {done}/{trials} done, {}{left}",
        "█".repeat(full),
        "░".repeat(BAR - full),
        figures::seconds(snapshot.elapsed_seconds),
    )
}

fn spent(snapshot: &Snapshot) -> String {
    let tally = &snapshot.tally;
    let left_out = match tally.done - tally.counted.min(tally.done) {
        0 => String::new(),
        left => format!(", {left} left out"),
    };
    format!(
        "  {} of {} resolved{left_out}; {}, {} tokens in, {} out",
        tally.resolved,
        tally.counted,
        figures::dollars((tally.cost_usd > 0.0).then_some(tally.cost_usd)),
        figures::count(tally.tokens_in),
        figures::count(tally.tokens_out),
    )
}
