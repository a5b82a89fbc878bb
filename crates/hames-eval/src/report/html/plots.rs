//! The page's drawings: plain SVG, coloured by the style sheet, each point with its words.
//!
//! They show what the tables say; nothing is shown by colour alone.

use std::fmt::Write;

use maud::{Markup, html};

use super::{anchor, class_of};
use crate::{
    report::{
        Run, Summary, Trial, clean, figures,
        summary::{Outcome, Repository},
    },
    stage::Stage,
    statistics::Estimate,
};

/// Rows that the drawings by repository and by trial have at most.
const ROWS: usize = 12;
const WIDTH: f64 = 520.0;

pub fn all(run: &Run, summary: &Summary) -> Markup {
    html! {
        section.plots aria-label="Plots" {
            (by_repository(summary))
            (time_by_stage(run, summary))
            (price_and_outcome(run))
            @if summary.pass_at.len() > 1 { (pass_curve(summary)) }
        }
    }
}

/// Which colour a stage has.
pub fn index(stage: Stage) -> usize {
    let place = Stage::ALL.into_iter().position(|one| one == stage);
    place.unwrap_or_default() + 1
}

pub fn interval_bar(estimate: &Estimate) -> Markup {
    let at = |share: f64| 100.0 * share;
    let (low, high) = (at(estimate.interval.low), at(estimate.interval.high));
    html! {
        div.interval title={ "95 %: from " (figures::percent(estimate.interval.low)) " to " (figures::percent(estimate.interval.high)) } {
            span.range style={ "left:" (format!("{low:.1}")) "%;width:" (format!("{:.1}", high - low)) "%" } {}
            span.point style={ "left:" (format!("{:.1}", at(estimate.value))) "%" } {}
        }
        p.ends { (figures::percent(estimate.interval.low)) " – " (figures::percent(estimate.interval.high)) }
    }
}

/// A trial's stages side by side, as long as its time beside the longest one's.
pub fn strip(trial: &Trial, longest: f64) -> Markup {
    let stages = trial.stages();
    let parts = stages
        .iter()
        .filter_map(|(stage, (_, seconds))| Some((*stage, (*seconds)?)));
    html! {
        @for (stage, seconds) in parts.filter(|(_, seconds)| longest > 0.0 && *seconds > 0.0) {
            span class={ "s" (index(stage)) } style={ "width:" (format!("{:.2}", 100.0 * seconds / longest)) "%" }
                title={ (stage.name()) ": " (figures::seconds(seconds)) } {}
        }
    }
}

fn figure(title: &str, note: &str, drawing: &Markup) -> Markup {
    html! {
        figure {
            figcaption { h3 { (title) } p { (note) } }
            (drawing)
        }
    }
}

fn by_repository(summary: &Summary) -> Markup {
    let mut rows: Vec<(&str, Estimate, usize)> = summary
        .repositories
        .iter()
        .filter_map(
            |(
                name,
                Repository {
                    share, instances, ..
                },
            )| Some((name.as_str(), (*share)?, *instances)),
        )
        .collect();
    rows.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(b.0)));
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    if let Some(all) = summary.resolved {
        rows.insert(0, ("all", all, summary.instances));
    }
    let (left, right) = (170.0, WIDTH - 20.0);
    let x = |share: f64| left + share * (right - left);
    let bottom = 14.0 + 22.0 * as_f64(rows.len());
    let drawing = html! {
        svg viewBox={ "0 0 " (WIDTH) " " (bottom + 24.0) } role="img" aria-label="Resolved by repository, with intervals" {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.grid x1=(x(tick)) x2=(x(tick)) y1="6" y2=(bottom) {}
                text.tick x=(x(tick)) y=(bottom + 16.0) text-anchor="middle" { (format!("{:.0} %", 100.0 * tick)) }
            }
            @for (at, (name, found, instances)) in rows.iter().enumerate() {
                @let y = 18.0 + 22.0 * as_f64(at);
                g.row.all[at == 0] {
                    title { (clean::line(name)) ": " (figures::estimate(found)) " of " (figures::plural(*instances, "instance")) }
                    text.label x=(left - 10.0) y=(y + 4.0) text-anchor="end" { (short(&clean::line(name), 20)) " " tspan.n { (instances) } }
                    line.whisker x1=(x(found.interval.low)) x2=(x(found.interval.high)) y1=(y) y2=(y) {}
                    circle.dot cx=(x(found.value)) cy=(y) r="4.5" {}
                }
            }
        }
    };
    let note = match more {
        0 => "Share resolved and its 95 % interval; beside a name, its instances.".to_owned(),
        more => format!(
            "Share resolved and its 95 % interval, the {ROWS} largest; {more} more in the table."
        ),
    };
    figure("Resolved", &note, &drawing)
}

fn time_by_stage(run: &Run, summary: &Summary) -> Markup {
    let mut slow: Vec<&Trial> = run
        .trials
        .iter()
        .filter(|trial| trial.result.is_some())
        .collect();
    let seconds = |trial: &Trial| trial.result.as_ref().map_or(0.0, |result| result.seconds());
    slow.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
    let more = slow.len().saturating_sub(ROWS - 2);
    slow.truncate(ROWS - 2);
    let longest = slow.first().map_or(0.0, |trial| seconds(trial));
    let total: f64 = summary.stages.values().map(|time| time.total).sum();
    let drawing = html! {
        div.bars {
            div.bar.total {
                span.name { "all trials" }
                span.strip { @for (stage, time) in summary.stages.iter().filter(|(_, time)| time.total > 0.0) {
                    span class={ "s" (index(*stage)) } style={ "width:" (format!("{:.2}", 100.0 * time.total / total)) "%" }
                        title={ (stage.name()) ": " (figures::seconds(time.total)) } {}
                } }
                span.right { (figures::seconds(total)) }
            }
            @for trial in &slow {
                div.bar {
                    a.name href={ "#" (anchor(trial)) } { (short(&clean::line(&trial.name()), 25)) }
                    span.strip { (strip(trial, longest)) }
                    span.right { (figures::seconds(seconds(trial))) }
                }
            }
        }
        ul.legend { @for stage in summary.stages.keys() {
            li { span class={ "swatch s" (index(*stage)) } {} (super::terms::term(stage.name())) }
        } }
    };
    let note = match more {
        0 => "Seconds of each stage; the first bar is all trials together.".to_owned(),
        _ => "Seconds of each stage: all trials together, then the slowest ones.".to_owned(),
    };
    figure("Where the time went", &note, &drawing)
}

/// Each trial once: what it cost to the right, what became of it up and down.
fn price_and_outcome(run: &Run) -> Markup {
    let has_cost = run
        .trials
        .iter()
        .any(|trial| cost(trial).is_some_and(|cost| cost > 0.0));
    let of = |trial: &Trial| if has_cost { cost(trial) } else { wall(trial) };
    let named = |value: f64| match has_cost {
        true => figures::dollars(Some(value)),
        false => figures::seconds(value),
    };
    let lanes = [Outcome::Resolved, Outcome::Unresolved, Outcome::LeftOut];
    let most = axis_end(run.trials.iter().filter_map(of).fold(0.0, f64::max));
    let (left, right) = (96.0, WIDTH - 24.0);
    let x = |value: f64| left + value / most * (right - left);
    let points = run.trials.iter().enumerate().filter_map(|(at, trial)| {
        let lane = lanes
            .iter()
            .position(|lane| *lane == Outcome::of(run, trial))?;
        // The golden ratio spreads neighbours, and each page is the same.
        let apart = (as_f64(at) * 0.618_034).fract() - 0.5;
        Some((trial, of(trial)?, 40.0 + 56.0 * as_f64(lane) + 36.0 * apart))
    });
    let drawing = html! {
        svg viewBox={ "0 0 " (WIDTH) " 208" } role="img" aria-label="Outcome of each trial by what it took" {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.grid x1=(x(tick * most)) x2=(x(tick * most)) y1="10" y2="182" {}
                text.tick x=(x(tick * most)) y="198" text-anchor="middle" { (named(tick * most)) }
            }
            @for (at, lane) in lanes.into_iter().enumerate() {
                text.label x=(left - 14.0) y=(44.0 + 56.0 * as_f64(at)) text-anchor="end" { (lane.name()) }
            }
            @for (trial, value, y) in points {
                a href={ "#" (anchor(trial)) } {
                    title { (clean::line(&trial.name())) ": " (named(value)) }
                    (point(Outcome::of(run, trial), x(value), y))
                }
            }
        }
    };
    match has_cost {
        true => figure(
            "Cost and outcome",
            "Each trial once; it leads to the trial.",
            &drawing,
        ),
        false => figure(
            "Time and outcome",
            "No costs are known; each trial once by its time.",
            &drawing,
        ),
    }
}

/// A circle, a cross, a ring: told apart without colours.
fn point(outcome: Outcome, x: f64, y: f64) -> Markup {
    let class = format!("point {}", class_of(outcome));
    html! {
        @match outcome {
            Outcome::Resolved => { circle class=(class) cx=(round(x)) cy=(round(y)) r="4" {} }
            Outcome::Unresolved => {
                path class=(class) d={ "M" (round(x - 4.0)) " " (round(y - 4.0)) "l8 8m0-8l-8 8" } {}
            }
            Outcome::LeftOut | Outcome::Unfinished => { circle class=(class) cx=(round(x)) cy=(round(y)) r="4" {} }
        }
    }
}

fn pass_curve(summary: &Summary) -> Markup {
    let most = summary.pass_at.last().map_or(1, |pass| pass.k);
    let (left, right, top, bottom) = (52.0, WIDTH - 24.0, 14.0, 176.0);
    let x = |k: u32| left + f64::from(k - 1) / f64::from((most - 1).max(1)) * (right - left);
    let y = |share: f64| bottom - share * (bottom - top);
    let mut middle = String::new();
    let mut band = String::new();
    for (at, pass) in summary.pass_at.iter().enumerate() {
        let letter = if at == 0 { 'M' } else { 'L' };
        let _ = write!(
            middle,
            "{letter}{:.1} {:.1}",
            x(pass.k),
            y(pass.estimate.value)
        );
        let _ = write!(
            band,
            "{letter}{:.1} {:.1}",
            x(pass.k),
            y(pass.estimate.interval.low)
        );
    }
    for pass in summary.pass_at.iter().rev() {
        let _ = write!(
            band,
            "L{:.1} {:.1}",
            x(pass.k),
            y(pass.estimate.interval.high)
        );
    }
    let drawing = html! {
        svg viewBox={ "0 0 " (WIDTH) " 208" } role="img" aria-label="pass@k by k, with its interval" {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.grid x1=(left) x2=(right) y1=(y(tick)) y2=(y(tick)) {}
                text.tick x=(left - 8.0) y=(y(tick) + 4.0) text-anchor="end" { (format!("{:.0} %", 100.0 * tick)) }
            }
            path.band d={ (band) "Z" } {}
            path.curve d=(middle) {}
            @for pass in &summary.pass_at {
                g { title { "pass@" (pass.k) ": " (figures::estimate(&pass.estimate)) ", " (figures::plural(pass.instances, "instance")) }
                    circle.dot cx=(x(pass.k)) cy=(y(pass.estimate.value)) r="4.5" {} }
                text.tick x=(x(pass.k)) y="198" text-anchor="middle" { (pass.k) }
            }
        }
    };
    figure(
        "pass@k",
        "How likely one of k trials resolves an instance; band: 95 %, instances drawn anew.",
        &drawing,
    )
}

fn cost(trial: &Trial) -> Option<f64> {
    trial.result.as_ref()?.cost_usd
}

fn wall(trial: &Trial) -> Option<f64> {
    trial.result.as_ref().map(|result| result.seconds())
}

/// An instance's number stands at its end: the middle is left out.
fn short(name: &str, letters: usize) -> String {
    let all: Vec<char> = name.chars().collect();
    if all.len() <= letters {
        return name.to_owned();
    }
    let (head, tail) = (letters / 2 - 1, letters - letters / 2);
    let head = all.iter().take(head);
    let tail = all.iter().skip(all.len() - tail);
    head.chain(&['…']).chain(tail).collect()
}

/// The next number whose quarters read well.
fn axis_end(most: f64) -> f64 {
    let unit = 10_f64.powf(most.max(1e-6).log10().floor());
    let ends = [1.0, 2.0, 4.0, 6.0, 8.0].map(|end| end * unit);
    ends.into_iter()
        .find(|end| *end >= most)
        .unwrap_or(10.0 * unit)
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[expect(clippy::cast_precision_loss, reason = "rows of a drawing")]
fn as_f64(of: usize) -> f64 {
    of as f64
}
