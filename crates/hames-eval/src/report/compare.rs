//! Two runs on the instances that both have: who solves what the other does not, and whether that
//! can be chance.
//!
//! It compares no instance that only one of them has; those are counted and named.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    Options, Run, Summary, clean,
    figures::{self, NONE},
    html, sections,
    summary::{Outcome, graders, tallies},
    table::{self, Section, Table},
};
use crate::statistics::{Estimate, Pairing, difference};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub first: (String, Summary),
    pub second: (String, Summary),
    /// Instances with a trial that counts in both.
    pub instances: usize,
    pub only_in_first: Vec<String>,
    pub only_in_second: Vec<String>,
    /// By the first trial that counts of each.
    pub pairing: Pairing,
    /// Of McNemar's exact test, two-sided.
    pub p_value: f64,
    /// Second minus first, all trials.
    pub difference: Option<Estimate>,
    /// Where the two differ: shares of trials that resolved.
    pub changed: Vec<(String, f64, f64)>,
    pub warnings: Vec<String>,
}

impl Comparison {
    pub(super) fn of(first: &Run, second: &Run, seed: u64) -> Self {
        let summaries = [first, second].map(|run| Summary::of(run, seed));
        let (shares, verdicts) = ([first, second].map(shares), [first, second].map(verdicts));
        let [a, b] = &shares;
        let both: Vec<&String> = a.keys().filter(|id| b.contains_key(*id)).collect();
        let without = |one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>| {
            let alone = one.keys().filter(|id| !other.contains_key(*id));
            alone.cloned().collect::<Vec<_>>()
        };
        let pair = |id: &&String| Some((*a.get(*id)?, *b.get(*id)?));
        let pairs: Vec<(f64, f64)> = both.iter().filter_map(pair).collect();
        let [of_a, of_b] = &verdicts;
        let verdict = |id: &&String| Some((*of_a.get(*id)?, *of_b.get(*id)?));
        let pairing = Pairing::count(both.iter().filter_map(verdict));
        let named = both
            .iter()
            .zip(&pairs)
            .map(|(id, (x, y))| ((*id).clone(), *x, *y));
        let changed = named.filter(|(_, x, y)| (x - y).abs() > 1e-9);
        let [one, two] = summaries;
        Self {
            instances: both.len(),
            only_in_first: without(a, b),
            only_in_second: without(b, a),
            pairing,
            p_value: pairing.p_value(),
            difference: difference(&pairs, seed),
            changed: changed.collect(),
            warnings: warnings(first, second, &one, &two),
            first: (first.id.clone(), one),
            second: (second.id.clone(), two),
        }
    }

    pub fn terminal(&self, options: &Options) -> String {
        table::plain(&self.title(), &self.sections(), options.width)
    }

    pub fn markdown(&self) -> String {
        table::markdown(&self.title(), &self.sections())
    }

    pub fn html(&self) -> String {
        html::comparison(self)
    }

    pub(super) fn title(&self) -> String {
        let name = |id: &str| clean::line(id);
        format!("{} against {}", name(&self.second.0), name(&self.first.0))
    }

    pub(super) fn sections(&self) -> Vec<Section> {
        let read_first = Section {
            lines: self
                .warnings
                .iter()
                .map(|text| format!("! {text}"))
                .collect(),
            ..sections::title("Read this first")
        };
        let mut told = vec![self.verdict()];
        if !read_first.lines.is_empty() {
            told.insert(0, read_first);
        }
        told.push(self.side_by_side());
        told.extend(self.changes());
        told
    }

    fn verdict(&self) -> Section {
        let Pairing {
            both,
            only_first,
            only_second,
            neither,
        } = self.pairing;
        let mut table = Table::new(&["On the instances that both have", ">Value"]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("instances", self.instances.to_string());
        let difference = self.difference.as_ref().map(figures::difference);
        row(
            "difference of % resolved [95 %, pairs drawn anew]",
            difference.unwrap_or_else(|| NONE.to_owned()),
        );
        row(
            "McNemar's exact test, two-sided",
            figures::p_value(self.p_value),
        );
        row("both resolve", both.to_string());
        row(
            &format!("only {} resolves", clean::line(&self.first.0)),
            only_first.to_string(),
        );
        row(
            &format!("only {} resolves", clean::line(&self.second.0)),
            only_second.to_string(),
        );
        row("neither resolves", neither.to_string());
        row(
            "only in the first run",
            self.only_in_first.len().to_string(),
        );
        row(
            "only in the second run",
            self.only_in_second.len().to_string(),
        );
        Section {
            lines: vec![self.conclusion()],
            table: Some(table),
            ..sections::title("Difference")
        }
    }

    pub(super) fn conclusion(&self) -> String {
        let Some(found) = self.difference.filter(|_| self.instances > 0) else {
            return "The runs have no instance in common.".to_owned();
        };
        let (lower, higher) = (&self.first.0, &self.second.0);
        let better = if found.value >= 0.0 { higher } else { lower };
        let apart = found.interval.low > 0.0 || found.interval.high < 0.0;
        match (apart, self.p_value < 0.05) {
            (true, true) => format!(
                "{} resolves more, and chance alone rarely does this.",
                clean::line(better)
            ),
            (false, false) => "No difference that chance would not explain.".to_owned(),
            (true, false) | (false, true) => {
                "At the border: the test and the interval do not agree; more instances would tell."
                    .to_owned()
            }
        }
    }

    fn side_by_side(&self) -> Section {
        let mut table = Table::new(&["Each run as a whole", ">First", ">Second"]);
        let (one, two) = (&self.first.1, &self.second.1);
        table.row([
            "run".to_owned(),
            clean::line(&self.first.0),
            clean::line(&self.second.0),
        ]);
        let resolved = |summary: &Summary| {
            let found = summary.resolved.as_ref().map(figures::estimate);
            found.unwrap_or_else(|| NONE.to_owned())
        };
        table.row(["% resolved [95 %]".to_owned(), resolved(one), resolved(two)]);
        table.row([
            "resolved instances".to_owned(),
            format!("{} of {}", one.solved_instances, one.instances),
            format!("{} of {}", two.solved_instances, two.instances),
        ]);
        for (first, second) in sections::spent(one).into_iter().zip(sections::spent(two)) {
            table.row([first.0.to_owned(), first.1, second.1]);
        }
        table.row([
            "trials left out".to_owned(),
            (one.left_out.len() + one.unfinished.len()).to_string(),
            (two.left_out.len() + two.unfinished.len()).to_string(),
        ]);
        Section {
            table: Some(table),
            ..sections::title("Side by side")
        }
    }

    fn changes(&self) -> Option<Section> {
        let mut table = Table::new(&["Instance", ">First", ">Second"]);
        for (id, first, second) in &self.changed {
            table.row([
                clean::line(id),
                figures::percent(*first),
                figures::percent(*second),
            ]);
        }
        sections::with_table("Where they differ", table)
    }
}

fn shares(run: &Run) -> BTreeMap<String, f64> {
    let held = tallies(run).into_iter();
    held.filter_map(|(id, tally)| Some((id.to_owned(), tally.share()?)))
        .collect()
}

/// McNemar's test is about one try each: the first trial that counts.
fn verdicts(run: &Run) -> BTreeMap<String, bool> {
    let mut first = BTreeMap::new();
    for trial in &run.trials {
        let outcome = Outcome::of(run, trial);
        if outcome.counts() {
            let verdict = outcome == Outcome::Resolved;
            first.entry(trial.instance.clone()).or_insert(verdict);
        }
    }
    first
}

fn warnings(first: &Run, second: &Run, one: &Summary, two: &Summary) -> Vec<String> {
    let mut warnings = Vec::new();
    let backends = |summary: &Summary| -> BTreeSet<String> {
        let names = summary.environments.keys();
        names.map(|[backend, _, _]| backend.clone()).collect()
    };
    let (ran_in, other) = (backends(one), backends(two));
    if ran_in != other && !ran_in.is_empty() && !other.is_empty() {
        warnings
            .push("the runs used different back-ends: their results are not comparable".to_owned());
    }
    if graders(first) != graders(second) {
        warnings.push("the runs were graded by different rules".to_owned());
    }
    for (run, summary) in [(first, one), (second, two)] {
        let of = |text: &String| format!("{}: {}", clean::line(&run.id), clean::line(text));
        warnings.extend(summary.warnings.iter().map(of));
    }
    warnings
}
