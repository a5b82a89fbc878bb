//! The page: one file that opens from disk, without a script and without a request.
//!
//! It computes no figure; the summary has them. Every text is escaped by the template.

mod compared;
mod instance;
mod plots;
mod terms;
mod trajectory;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    Options, Run, Summary, Trial, clean,
    figures::{self, NONE},
    sections,
    summary::Outcome,
    table::{Align, Section, Table},
};
pub use compared::comparison;
use terms::term;

const STYLE: &str = include_str!("html/style.css");

/// Nothing is fetched, whatever an agent wrote.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

pub fn page(run: &Run, summary: &Summary, options: &Options) -> String {
    let title = clean::line(&run.id);
    let body = html! {
        header {
            p.kicker { "Hames evaluation" }
            h1 { (title) }
            dl.facts {
                @for (name, value) in sections::facts(run) {
                    div { dt { (name) } dd { (value) } }
                }
            }
        }
        (warnings(summary))
        (headline(summary))
        (plots::all(run, summary))
        (tables(summary, run, options))
        (trials(run, options))
    };
    document(&title, &body)
}

fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}

fn warnings(summary: &Summary) -> Markup {
    html! {
        @if !summary.warnings.is_empty() {
            aside.warnings role="note" {
                h2 { "Read this first" }
                ul { @for text in &summary.warnings { li { (clean::line(text)) } } }
            }
        }
    }
}

fn headline(summary: &Summary) -> Markup {
    let resolved = summary.resolved.as_ref();
    html! {
        section.cards aria-label="Score" {
            div.card.main {
                h3 { (term("% resolved")) }
                p.big { (resolved.map_or_else(|| NONE.to_owned(), |found| figures::percent(found.value))) }
                @if let Some(found) = resolved { (plots::interval_bar(found)) }
                p.of { (sections::denominator(summary)) }
            }
            @if let Some(pass) = summary.pass_at.last().filter(|pass| pass.k > 1) {
                div.card {
                    h3 { (term("pass@k")) " for k = " (pass.k) }
                    p.big { (figures::percent(pass.estimate.value)) }
                    (plots::interval_bar(&pass.estimate))
                    p.of { (figures::plural(pass.instances, "instance")) " with " (pass.k) " trials" }
                }
            }
            div.card {
                h3 { (term("cost per resolved")) }
                p.big { (figures::dollars(summary.cost_per_solved)) }
                p.of { (figures::dollars(summary.cost)) " in all"
                    @if summary.cost_known < summary.trials { ", known for " (summary.cost_known) " of " (summary.trials) " trials" } }
            }
            div.card {
                h3 { "Tokens" }
                p.big.two {
                    span { (figures::count(summary.usage.input + summary.usage.cache_read)) span.unit { " in" } }
                    span { (figures::count(summary.usage.output)) span.unit { " out" } }
                }
                p.of { (figures::count(summary.usage.cache_read)) " read from a cache, " (figures::count(summary.turns)) " turns" }
            }
            div.card {
                h3 { "Time of a trial" }
                p.big { (summary.median_seconds.map_or_else(|| NONE.to_owned(), figures::seconds)) }
                p.of { "median; longest " (summary.slowest_seconds.map_or_else(|| NONE.to_owned(), figures::seconds)) ", all together " (figures::seconds(summary.seconds)) }
            }
        }
    }
}

/// What the text faces have, without what is drawn or listed here in another way.
fn tables(summary: &Summary, run: &Run, options: &Options) -> Markup {
    let elsewhere = ["", "Read this first", "Trials"];
    let told = sections::of_run(summary, run, options);
    let kept = told
        .iter()
        .filter(|section| !elsewhere.contains(&section.title.as_str()));
    html! {
        details.figures open[run.trials.len() <= 60] {
            summary { h2 { "Figures" } }
            div.columns { @for section in kept { (told_section(section)) } }
        }
    }
}

fn told_section(section: &Section) -> Markup {
    html! {
        section.told {
            @if !section.title.is_empty() { h3 { (section.title) } }
            @for line in &section.lines { p { (line) } }
            @if let Some(table) = &section.table { (table_markup(table)) }
        }
    }
}

fn table_markup(table: &Table) -> Markup {
    let right = |at: usize| {
        let column = table.columns.get(at);
        column.is_some_and(|column| column.align == Align::Right)
    };
    html! {
        div.scroll { table {
            thead { tr { @for (at, column) in table.columns.iter().enumerate() {
                th.right[right(at)] scope="col" { (term(column.name)) }
            } } }
            tbody { @for row in &table.rows { tr {
                @for (at, cell) in row.iter().enumerate() { td.right[right(at)] { (term(cell)) } }
            } } }
        } }
    }
}

fn trials(run: &Run, options: &Options) -> Markup {
    let budget = options.page_budget / run.trials.len().max(1);
    let budget = budget.clamp(12_000, 400_000);
    let longest = run.trials.iter().filter_map(|trial| trial.result.as_ref());
    let longest = longest.map(|result| result.seconds()).fold(0.0, f64::max);
    let counted = |outcome: Outcome| {
        let these = run
            .trials
            .iter()
            .filter(|trial| Outcome::of(run, trial) == outcome);
        these.count()
    };
    let filters = [
        Outcome::Resolved,
        Outcome::Unresolved,
        Outcome::LeftOut,
        Outcome::Unfinished,
    ];
    html! {
        section.trials {
            h2 { "Trials" }
            p.hint { "Each opens: its stages, attempts, tests, patch, and what the agent did, turn by turn." }
            fieldset.filter {
                legend { "Show" }
                label { input type="radio" name="show" id="show-all" checked; " all " span.n { (run.trials.len()) } }
                @for outcome in filters.into_iter().filter(|outcome| counted(*outcome) > 0) {
                    label {
                        input type="radio" name="show" id={ "show-" (class_of(outcome)) };
                        " " (mark(outcome)) " " (outcome.name()) " " span.n { (counted(outcome)) }
                    }
                }
            }
            @if run.trials.is_empty() { p.missing { "This run has no trials." } }
            @for trial in &run.trials { (instance::details(run, trial, longest, budget)) }
        }
    }
}

/// Where the plots' points lead to.
fn anchor(trial: &Trial) -> String {
    let plain = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter.to_string(),
        other => format!(".{:x}.", u32::from(other)),
    };
    format!("t-{}", trial.name().chars().map(plain).collect::<String>())
}

fn class_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Resolved => "resolved",
        Outcome::Unresolved => "unresolved",
        Outcome::LeftOut => "left-out",
        Outcome::Unfinished => "unfinished",
    }
}

/// A shape beside the colour, for those who see colours otherwise.
fn mark(outcome: Outcome) -> Markup {
    let sign = match outcome {
        Outcome::Resolved => "✓",
        Outcome::Unresolved => "✗",
        Outcome::LeftOut => "∅",
        Outcome::Unfinished => "…",
    };
    html! { span class={ "mark " (class_of(outcome)) } aria-hidden="true" { (sign) } }
}
