//! A run told to people: what was resolved, at what price, where the time went, and what was left out.
//!
//! It reads what a run left and changes nothing; what is missing is shown as missing. It prints
//! nothing: four faces (terminal, Markdown, one HTML page, JSON for programs) are given back.

pub(crate) mod clean;
mod compare;
pub(crate) mod figures;
mod html;
mod load;
mod sections;
mod summary;
pub(crate) mod table;
mod turns;

pub use compare::Comparison;
pub use load::{Run, Trial};
pub use summary::{LeftOut, Outcome, Repository, StageTime, Summary};

use crate::store::RunRow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    /// Of the bootstrap.
    pub seed: u64,
    /// The text faces list so many trials; the page lists all.
    pub listed: usize,
    /// Bytes of trajectories and patches on the page, all trials together.
    pub page_budget: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 100,
            seed: 1,
            listed: 60,
            page_budget: 8 << 20,
        }
    }
}

pub fn terminal(run: &Run, options: &Options) -> String {
    let sections = sections::of_run(&Summary::of(run, options.seed), run, options);
    table::plain(&title(run), &sections, options.width)
}

pub fn markdown(run: &Run, options: &Options) -> String {
    let sections = sections::of_run(&Summary::of(run, options.seed), run, options);
    table::markdown(&title(run), &sections)
}

/// Self-contained: no script, no request. Links go to the run's files from a page in its folder.
pub fn html(run: &Run, options: &Options) -> String {
    html::page(run, &Summary::of(run, options.seed), options)
}

/// The figures as the other faces have them, under the names of [`Summary`], and every `result.json`.
pub fn json(run: &Run, options: &Options) -> serde_json::Value {
    let results = run.trials.iter();
    let results: Vec<_> = results.filter_map(|trial| trial.result.as_ref()).collect();
    serde_json::json!({"run": run.id, "figures": Summary::of(run, options.seed), "results": results})
}

/// All runs of a store, the oldest first.
pub fn runs(rows: &[RunRow], options: &Options) -> String {
    table::plain("Runs", &[sections::of_runs(rows)], options.width)
}

/// The instances that both have.
pub fn compare(first: &Run, second: &Run, options: &Options) -> Comparison {
    Comparison::of(first, second, options.seed)
}

fn title(run: &Run) -> String {
    format!("Run {}", clean::line(&run.id))
}
