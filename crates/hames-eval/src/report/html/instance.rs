//! One trial on the page: a line that opens to its stages, attempts, tests, patch and trajectory.
//!
//! What is missing is said to be missing.

use std::{fs, path::Path};

use maud::{Markup, html};

use super::{anchor, class_of, mark, plots, terms::term, trajectory};
use crate::{
    experiment::Experiment,
    record::InstanceResult,
    report::{
        Run, Trial, clean,
        figures::{self, NONE},
        sections,
        summary::Outcome,
        turns,
    },
    stage::{Stage, StageState},
    test_lists::TestLists,
};

/// Test names a list; the whole list is in the result's file.
const NAMES: usize = 40;

pub fn details(run: &Run, trial: &Trial, longest: f64, budget: usize) -> Markup {
    let outcome = Outcome::of(run, trial);
    let result = trial.result.as_ref();
    html! {
        details class={ "trial " (class_of(outcome)) } id=(anchor(trial)) {
            summary {
                (mark(outcome))
                span.name { (clean::line(&trial.name())) }
                span.outcome { (outcome.name()) }
                span.strip { (plots::strip(trial, longest)) }
                span.right { (result.map_or_else(|| NONE.to_owned(), |held| figures::seconds(held.seconds()))) }
                span.right { (figures::dollars(result.and_then(|held| held.cost_usd))) }
                span.why { (result.map(sections::why).unwrap_or_default()) }
            }
            div.inside {
                (flow(trial))
                @match result {
                    Some(result) => { (record(result)) }
                    None => { p.missing { "No result.json: the trial has not come to its end." } }
                }
                (patch(trial, budget / 3))
                (what_it_did(trial, budget))
                (files(run, trial))
            }
        }
    }
}

fn flow(trial: &Trial) -> Markup {
    let stages = trial.stages();
    let seconds = |stage: Stage| stages.get(&stage).and_then(|(_, seconds)| *seconds);
    let total: f64 = Stage::ALL.into_iter().filter_map(seconds).sum();
    let slowest = Stage::ALL.into_iter().max_by(|a, b| {
        let of = |stage: &Stage| seconds(*stage).unwrap_or(-1.0);
        of(a).total_cmp(&of(b))
    });
    let slowest = slowest.filter(|stage| seconds(*stage).is_some_and(|seconds| seconds > 0.0));
    html! {
        ol.flow aria-label="Stages" {
            @for stage in Stage::ALL {
                (node(stage, stages.get(&stage), total, slowest == Some(stage)))
            }
        }
    }
}

fn node(
    stage: Stage,
    held: Option<&(Option<StageState>, Option<f64>)>,
    total: f64,
    is_slowest: bool,
) -> Markup {
    let (state, seconds) = held.copied().unwrap_or_default();
    let (class, sign, word) = match state {
        Some(StageState::Done) => ("done", "✓", "done"),
        Some(StageState::Failed) => ("failed", "✗", "failed"),
        Some(StageState::Skipped) => ("skipped", "–", "skipped"),
        None if held.is_some() => ("unknown", "?", "no state"),
        None => ("absent", "○", "not recorded"),
    };
    let share = seconds
        .filter(|_| total > 0.0)
        .map(|seconds| 100.0 * seconds / total);
    html! {
        li class={ "node " (class) @if is_slowest { " slowest" } } {
            div.name { (term(stage.name())) }
            div.state { span.sign aria-hidden="true" { (sign) } " " (word) }
            div.seconds { (seconds.map_or_else(|| NONE.to_owned(), figures::seconds)) }
            div.share {
                @if let Some(share) = share { span class={ "fill s" (plots::index(stage)) } style={ "width:" (format!("{share:.1}")) "%" } {} }
            }
            @if is_slowest { div.tag { "bottleneck" } }
        }
    }
}

fn record(result: &InstanceResult) -> Markup {
    html! {
        @if let Some(failure) = &result.failure {
            p.failure { b { (term(failure.class.name())) } " in " (term(failure.stage.name())) ": " (clean::line(&clean::cut(&failure.message, 2_000))) }
        }
        @if !result.leaks.found.is_empty() { (list("Answers found where the agent could read", &result.leaks.found, "bad")) }
        @if !result.leaks.peeking.is_empty() { (list("Steps that looked for answers", &result.leaks.peeking, "bad")) }
        (attempts(result))
        div.pair {
            (tests("F2P", &result.fail_to_pass))
            (tests("P2P", &result.pass_to_pass))
        }
        (small_facts(result))
    }
}

fn attempts(result: &InstanceResult) -> Markup {
    html! {
        @if !result.adapter_attempts.is_empty() {
            h4 { "Attempts" }
            div.scroll { table {
                thead { tr {
                    @for name in ["Adapter", "Model"] { th { (name) } }
                    @for name in ["Time", "Code", "Cost", "Tokens in / out"] { th.right { (name) } }
                    @for name in ["Ended", "Outcome", "Error"] { th { (name) } }
                } }
                tbody { @for attempt in &result.adapter_attempts { tr {
                    td { (clean::line(&attempt.adapter)) }
                    td { (clean::line(attempt.model.as_deref().unwrap_or(NONE))) }
                    td.right { (figures::seconds(attempt.wall_time_seconds)) }
                    td.right { (attempt.returncode.map_or_else(|| NONE.to_owned(), |code| code.to_string())) }
                    td.right { (figures::dollars(attempt.cost_usd)) }
                    td.right { (attempt.usage.map_or_else(|| NONE.to_owned(), |usage| format!("{} / {}", figures::count(usage.input + usage.cache_read), figures::count(usage.output)))) }
                    td {
                        @if attempt.killed { span.pill.warn { (term("killed")) } " " }
                        @if attempt.rescued { span.pill.good { (term("rescued")) } " " }
                        @if attempt.survivors_killed > 0 { span.pill { (attempt.survivors_killed) " left running, ended" } }
                        @if !attempt.killed && !attempt.rescued && attempt.survivors_killed == 0 { "by itself" }
                    }
                    td { (term(&clean::line(&attempt.outcome))) }
                    td { (clean::preview(attempt.error.as_deref().unwrap_or_default(), 160)) }
                } } }
            } }
        }
    }
}

fn tests(name: &str, lists: &TestLists) -> Markup {
    let all = lists.pass.len() + lists.fail.len() + lists.left_out.len();
    html! {
        div {
            h4 { (term(name)) " " span.n { (lists.pass.len()) " of " (all) " pass" } }
            @if all == 0 { p.missing { "none recorded" } }
            @if !lists.fail.is_empty() { (list("fail", &lists.fail, "bad")) }
            @if !lists.left_out.is_empty() { (list("in neither list", &lists.left_out, "grey")) }
            @if !lists.pass.is_empty() {
                details.quiet { summary { (figures::plural(lists.pass.len(), "passing test")) } (list("", &lists.pass, "")) }
            }
        }
    }
}

fn list(name: &str, items: &[String], class: &str) -> Markup {
    html! {
        @if !name.is_empty() { p class={ "label " (class) } { (name) } }
        ul.names {
            @for item in items.iter().take(NAMES) { li { code { (clean::line(&clean::cut(item, 300))) } } }
            @if items.len() > NAMES { li.missing { "and " (items.len() - NAMES) " more in result.json" } }
        }
    }
}

fn small_facts(result: &InstanceResult) -> Markup {
    let environment = &result.environment;
    let or_none = |text: &str| match text {
        "" => NONE.to_owned(),
        text => clean::line(text),
    };
    let baseline = match &result.baseline {
        None => "not asked for".to_owned(),
        Some(baseline) if baseline.valid => "valid here".to_owned(),
        Some(_) => "not valid here".to_owned(),
    };
    let facts = [
        ("verdict by", or_none(&result.report_source)),
        ("baseline", baseline),
        ("back-end", or_none(&environment.backend)),
        (
            "interpreter",
            or_none(environment.interpreter.as_deref().unwrap_or_default()),
        ),
        ("system", or_none(&environment.os)),
        (
            "image",
            or_none(
                environment
                    .image
                    .as_deref()
                    .or(result.image.as_deref())
                    .unwrap_or_default(),
            ),
        ),
        ("packages", environment.freeze.len().to_string()),
        ("turns", result.turns.to_string()),
        (
            "leak scan",
            format!(
                "{} looked at, {} found",
                result.leaks.scanned,
                result.leaks.found.len()
            ),
        ),
        (
            "seed",
            result
                .seed
                .map_or_else(|| NONE.to_owned(), |seed| seed.to_string()),
        ),
    ];
    html! { dl.facts.small { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}

fn patch(trial: &Trial, budget: usize) -> Markup {
    let Some(dir) = &trial.dir else {
        return html! {};
    };
    let read = turns::bytes(&dir.model_patch());
    let read = read.unwrap_or_else(|| Err("model.patch is missing".to_owned()));
    let text = read.map(|bytes| clean::cut(&String::from_utf8_lossy(&bytes), budget.min(40_000)));
    let facts = trial.result.as_ref().map(|result| &result.patch);
    html! {
        h4 { "Patch" @if let Some(facts) = facts { " " span.n {
            (figures::plural(facts.files.len(), "file")) ", +" (facts.added) " −" (facts.removed)
            @if !facts.filtered.is_empty() { ", " (figures::plural(facts.filtered.len(), "file")) " kept out as noise" }
        } } }
        @match text {
            Err(why) => { p.missing { (why) } }
            Ok(text) if text.trim().is_empty() => { p.missing { "empty" } }
            Ok(text) => {
                details.quiet open[text.len() < 4_000] { summary { "show" } pre.diff {
                    @for line in clean::text(&text).lines() { span class=(line_class(line)) { (line) "\n" } }
                } }
            }
        }
    }
}

fn line_class(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', ..] => "file",
        [b'+', ..] => "plus",
        [b'-', ..] => "minus",
        [b'@', b'@', ..] => "hunk",
        _ => "",
    }
}

fn what_it_did(trial: &Trial, budget: usize) -> Markup {
    let Some(dir) = &trial.dir else {
        return html! { p.missing { "The run's folder is gone: its trajectory is not known." } };
    };
    let read = turns::read(&dir.trajectory(), budget);
    html! {
        h4 { "Trajectory" @if let Some(Ok(shown)) = &read { " " span.n { (figures::plural(shown.turns.len() + shown.left_out, "turn")) } } }
        @match &read {
            None => { p.missing { "trajectory.json is missing" } }
            Some(Err(error)) => { p.missing { (clean::line(error)) } }
            Some(Ok(shown)) => { (trajectory::turns(shown)) }
        }
    }
}

/// Links from a page in the run's folder: the trial's own files, and those in the official layout.
fn files(run: &Run, trial: &Trial) -> Markup {
    let (Some(root), Some(dir)) = (&run.dir, &trial.dir) else {
        return html! {};
    };
    let mut held = files_in(root, &dir.0);
    if let Some(result) = &trial.result {
        let experiment = Experiment {
            id: run.id.clone(),
            dir: root.clone(),
        };
        let official = experiment.official(&result.model, &trial.instance, trial.trial);
        held.extend(files_in(root, &official));
    }
    html! {
        h4 { "Files" }
        @if held.is_empty() { p.missing { "the folder is empty or gone" } }
        ul.files { @for (name, href, size) in &held {
            li { a href=(href) { (clean::line(name)) } " " span.n { (bytes(*size)) } }
        } }
    }
}

/// Name, address from `root`, and bytes, by name.
fn files_in(root: &Path, folder: &Path) -> Vec<(String, String, u64)> {
    let inside = folder.strip_prefix(root).unwrap_or(folder);
    let parts = inside
        .iter()
        .map(|part| encoded(&part.to_string_lossy()) + "/");
    let before: String = parts.collect();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let held = entry.metadata().ok().filter(|held| held.is_file())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let href = before.clone() + &encoded(&name);
            Some((name, href, held.len()))
        })
        .collect();
    files.sort();
    files
}

fn bytes(size: u64) -> String {
    match size {
        0..1_000 => format!("{size} B"),
        1_000..1_000_000 => format!("{} kB", size / 1_000),
        _ => format!("{} MB", size / 1_000_000),
    }
}

/// RFC 3986, one segment of a path.
fn encoded(segment: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    segment.bytes().map(one).collect()
}
