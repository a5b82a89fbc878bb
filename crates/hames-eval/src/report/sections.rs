//! What the text faces say of a run, in order: the score first, then why, then each trial.
//!
//! It aligns and escapes nothing; that is the table's.

use super::{
    Options, Run, Summary, Trial, clean,
    figures::{self, NONE},
    summary::Outcome,
    table::{Section, Table},
};
use crate::{
    record::{InstanceResult, NOT_GRADED},
    stage::StageState,
    store::RunRow,
};

pub fn of_run(summary: &Summary, run: &Run, options: &Options) -> Vec<Section> {
    let sections = [
        Some(head(run)),
        warnings(summary),
        Some(score(summary)),
        stages(summary),
        failures(summary),
        repositories(summary),
        left_out(summary),
        findings("Answers found where the agent could read", &summary.leaks),
        findings("Steps that looked for answers", &summary.peeking),
        environments(summary),
        trials(run, options),
    ];
    sections.into_iter().flatten().collect()
}

pub fn of_runs(rows: &[RunRow]) -> Section {
    let names = [
        "Run",
        "Ended",
        ">Trials",
        ">Instances",
        ">% resolved",
        ">Cost",
        "Adapter",
        "Model",
        "Tasks",
    ];
    let mut table = Table::new(&names);
    for row in rows {
        let resolved = row.resolved_pct.map(|pct| figures::percent(pct / 100.0));
        table.row([
            clean::line(&row.run_id),
            clean::line(&row.last_at),
            row.trials.to_string(),
            row.instances.to_string(),
            resolved.unwrap_or_else(|| NONE.to_owned()),
            figures::dollars(row.cost_usd),
            clean::line(&row.adapter),
            clean::line(&row.model),
            clean::line(&row.dataset),
        ]);
    }
    Section {
        lines: match rows {
            [] => vec!["none yet: `hames eval run` makes one".to_owned()],
            _ => Vec::new(),
        },
        table: Some(table).filter(|table| !table.rows.is_empty()),
        ..Section::default()
    }
}

pub fn title(name: &str) -> Section {
    Section {
        title: name.to_owned(),
        ..Section::default()
    }
}

pub fn with_table(name: &str, table: Table) -> Option<Section> {
    (!table.rows.is_empty()).then(|| Section {
        table: Some(table),
        ..title(name)
    })
}

fn head(run: &Run) -> Section {
    Section {
        lines: facts(run)
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect(),
        ..Section::default()
    }
}

/// What a run is, as its results say.
pub fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let results = || run.trials.iter().filter_map(|trial| trial.result.as_ref());
    let distinct = |of: fn(&InstanceResult) -> String| {
        let mut values: Vec<String> = results()
            .map(of)
            .filter(|value| !value.is_empty())
            .collect();
        values.sort();
        values.dedup();
        let more = values.len().saturating_sub(4);
        values.truncate(4);
        let shown = clean::line(&values.join(", "));
        match more {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    };
    let facts = [
        ("model", distinct(|result| result.model.clone())),
        ("adapter", distinct(|result| result.adapter.clone())),
        (
            "agent",
            distinct(|result| result.agent_version.clone().unwrap_or_default()),
        ),
        (
            "tasks",
            distinct(|result| {
                format!("{} {}", result.dataset, result.split)
                    .trim()
                    .to_owned()
            }),
        ),
        (
            "verdicts by",
            distinct(|result| match result.report_source.as_str() {
                NOT_GRADED => String::new(),
                rules => rules.to_owned(),
            }),
        ),
        ("hames", distinct(|result| result.harness_version.clone())),
        (
            "ended",
            results()
                .map(|result| result.generated_at.as_str())
                .max()
                .map(clean::line)
                .unwrap_or_default(),
        ),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

fn warnings(summary: &Summary) -> Option<Section> {
    let lines = summary
        .warnings
        .iter()
        .map(|text| format!("! {}", clean::line(text)));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| Section {
        lines,
        ..title("Read this first")
    })
}

fn score(summary: &Summary) -> Section {
    let mut table = Table::new(&["Score", ">Value", "Of"]);
    let resolved = summary.resolved.as_ref().map(figures::estimate);
    table.row([
        "% resolved [95 %, Wilson]".to_owned(),
        resolved.unwrap_or_else(|| NONE.to_owned()),
        denominator(summary),
    ]);
    for pass in summary.pass_at.iter().filter(|_| summary.pass_at.len() > 1) {
        let few = match pass.too_few {
            0 => String::new(),
            few => format!(", {few} with fewer than {} trials left out", pass.k),
        };
        table.row([
            format!("pass@{} [95 %, instances drawn anew]", pass.k),
            figures::estimate(&pass.estimate),
            format!("{}{few}", figures::plural(pass.instances, "instance")),
        ]);
    }
    for (name, value, of) in spent(summary) {
        table.row([name.to_owned(), value, of]);
    }
    Section {
        table: Some(table),
        ..title("Score")
    }
}

/// What stands under the headline.
pub fn denominator(summary: &Summary) -> String {
    let solved = summary.solved_instances;
    let of = figures::plural(summary.instances, "instance");
    let trials = match summary.counted == summary.instances {
        true => String::new(),
        false => format!(
            ", {} of {} trials",
            summary.resolved_trials, summary.counted
        ),
    };
    let left = summary.left_out.len() + summary.unfinished.len();
    let left = match left {
        0 => String::new(),
        left => format!("; {} left out", figures::plural(left, "trial")),
    };
    format!("{solved} of {of}{trials}{left}")
}

/// Money, tokens, time.
pub fn spent(summary: &Summary) -> Vec<(&'static str, String, String)> {
    let usage = summary.usage;
    let ended = summary.trials - summary.unfinished.len();
    let known = match summary.cost_known {
        known if known == ended => String::new(),
        known => format!("known for {known} of {ended} trials"),
    };
    let seconds = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), figures::seconds);
    vec![
        (
            "cost per resolved trial",
            figures::dollars(summary.cost_per_solved),
            "all trials' cost by those that resolved".to_owned(),
        ),
        ("cost", figures::dollars(summary.cost), known),
        (
            "tokens in / out",
            format!(
                "{} / {}",
                figures::count(usage.input),
                figures::count(usage.output)
            ),
            format!("and {} read from a cache", figures::count(usage.cache_read)),
        ),
        ("turns", figures::count(summary.turns), String::new()),
        (
            "time of a trial, median",
            seconds(summary.median_seconds),
            format!(
                "longest {}, all together {}",
                seconds(summary.slowest_seconds),
                figures::seconds(summary.seconds)
            ),
        ),
        (
            "attempts killed / rescued",
            format!("{} / {}", summary.killed, summary.rescued),
            "rescued: killed or crashed, and its work was graded".to_owned(),
        ),
    ]
}

fn stages(summary: &Summary) -> Option<Section> {
    let mut table = Table::new(&[
        "Stage", ">Total", ">Share", ">Median", ">Longest", ">Trials",
    ]);
    let total: f64 = summary.stages.values().map(|time| time.total).sum();
    for (stage, time) in &summary.stages {
        table.row([
            stage.name().to_owned(),
            figures::seconds(time.total),
            figures::percent(time.total / total.max(f64::MIN_POSITIVE)),
            figures::seconds(time.median),
            figures::seconds(time.longest),
            time.trials.to_string(),
        ]);
    }
    with_table("Where the time went", table)
}

fn failures(summary: &Summary) -> Option<Section> {
    let mut table = Table::new(&["Failure", ">Trials", "In the denominator"]);
    for (class, trials) in &summary.failures {
        let counts = match class.counts() {
            true => "yes",
            false => "no",
        };
        table.row([
            class.name().to_owned(),
            trials.to_string(),
            counts.to_owned(),
        ]);
    }
    with_table("Failures", table)
}

fn repositories(summary: &Summary) -> Option<Section> {
    let mut table = Table::new(&[
        "Repository",
        ">Instances",
        ">Resolved",
        ">Trials",
        "% [95 %]",
    ]);
    for (name, repository) in &summary.repositories {
        table.row([
            clean::line(name),
            repository.instances.to_string(),
            repository.resolved.to_string(),
            repository.trials.to_string(),
            repository
                .share
                .as_ref()
                .map_or_else(|| NONE.to_owned(), figures::estimate),
        ]);
    }
    with_table("By repository", table)
}

fn left_out(summary: &Summary) -> Option<Section> {
    let mut table = Table::new(&["Trial", "Class", "Stage", "Why"]);
    for left in &summary.left_out {
        table.row([
            clean::line(&left.trial),
            clean::line(&left.class),
            left.stage.clone(),
            clean::preview(&left.message, 300),
        ]);
    }
    for name in &summary.unfinished {
        table.row([
            clean::line(name),
            "unfinished".to_owned(),
            String::new(),
            "no result.json: go on with `hames eval resume`".to_owned(),
        ]);
    }
    with_table("Left out: not the agent's failures", table)
}

fn findings(name: &str, found: &[(String, String)]) -> Option<Section> {
    let mut table = Table::new(&["Trial", "What"]);
    for (trial, what) in found {
        table.row([clean::line(trial), clean::preview(what, 300)]);
    }
    with_table(name, table)
}

fn environments(summary: &Summary) -> Option<Section> {
    let mut table = Table::new(&["Back-end", ">Trials", "Interpreter", "System"]);
    for ([backend, interpreter, os], trials) in &summary.environments {
        let cells = [backend, interpreter, os].map(|cell| clean::line(cell));
        let [backend, interpreter, os] = cells;
        table.row([backend, trials.to_string(), interpreter, os]);
    }
    with_table("Environments", table)
}

fn trials(run: &Run, options: &Options) -> Option<Section> {
    let names = [
        "Trial", "Outcome", ">Time", ">Cost", ">Turns", "Tests", "Why",
    ];
    let mut table = Table::new(&names);
    for trial in run.trials.iter().take(options.listed) {
        table.row(trial_row(run, trial));
    }
    let mut section = with_table("Trials", table)?;
    let more = run.trials.len().saturating_sub(options.listed);
    if more > 0 {
        let trials = figures::plural(more, "more trial");
        section.lines.push(format!("{trials} on the HTML page"));
    }
    Some(section)
}

fn trial_row(run: &Run, trial: &Trial) -> [String; 7] {
    let outcome = Outcome::of(run, trial).name().to_owned();
    let name = clean::line(&trial.name());
    let Some(result) = &trial.result else {
        let reached = trial.stages().into_iter();
        let done = reached.filter(|(_, (state, _))| *state == Some(StageState::Done));
        let last = done
            .max_by_key(|(stage, _)| *stage)
            .map(|(stage, _)| format!("done up to {stage}"));
        let none = || NONE.to_owned();
        return [
            name,
            outcome,
            none(),
            none(),
            none(),
            none(),
            last.unwrap_or_default(),
        ];
    };
    [
        name,
        outcome,
        figures::seconds(result.seconds()),
        figures::dollars(result.cost_usd),
        result.turns.to_string(),
        tests(result),
        why(result),
    ]
}

/// How many of each list are as they should be.
pub fn tests(result: &InstanceResult) -> String {
    let of = |lists: &crate::test_lists::TestLists| {
        let all = lists.pass.len() + lists.fail.len() + lists.left_out.len();
        format!("{}/{all}", lists.pass.len())
    };
    format!(
        "{} + {}",
        of(&result.fail_to_pass),
        of(&result.pass_to_pass)
    )
}

/// The failure, how a killed trial came to be graded, and what spoils it.
pub fn why(result: &InstanceResult) -> String {
    let mut told = Vec::new();
    if !result.leaks.found.is_empty() {
        told.push("an answer lay open".to_owned());
    }
    if !result.leaks.peeking.is_empty() {
        told.push("looked for answers".to_owned());
    }
    if let Some(failure) = &result.failure {
        let message = clean::preview(&failure.message, 200);
        told.push(format!("{}: {message}", failure.class.name()));
    }
    let mut attempts = result.adapter_attempts.iter();
    if attempts.any(|attempt| attempt.rescued) {
        told.push("killed or crashed, rescued".to_owned());
    }
    told.join("; ")
}
