//! The page of two runs: how far apart they are, and who resolves what the other does not.
//!
//! Each run has a page of its own; this one lists no trial.

use maud::{Markup, html};

use super::{document, plots, table_markup, terms::term, told_section};
use crate::{
    report::{Comparison, Summary, clean, figures, figures::NONE, sections, table::Section},
    statistics::{Estimate, Pairing},
};

pub fn comparison(compared: &Comparison) -> String {
    let title = compared.title();
    let told = compared.sections();
    let (first, rest) = match told.split_first() {
        Some((warnings, rest)) if !compared.warnings.is_empty() => (Some(warnings), rest),
        _ => (None, told.as_slice()),
    };
    // The conclusion stands in the heading.
    let rest: Vec<Section> = rest
        .iter()
        .map(|section| Section {
            lines: Vec::new(),
            ..section.clone()
        })
        .collect();
    let body = html! {
        header {
            p.kicker { "Hames evaluation: two runs" }
            h1 { (title) }
            p.conclusion { (compared.conclusion()) }
        }
        @if let Some(warnings) = first {
            aside.warnings role="note" {
                h2 { (warnings.title) }
                ul { @for text in &compared.warnings { li { (clean::line(text)) } } }
            }
        }
        section.cards aria-label="Score" {
            (run_card(&compared.first))
            (run_card(&compared.second))
            (difference_card(compared))
            (pairs_card(compared))
        }
        @for section in &rest {
            @if let Some(table) = section.table.as_ref().filter(|table| table.rows.len() > 40) {
                details.figures { summary { h2 { (section.title) " (" (table.rows.len()) ")" } } (table_markup(table)) }
            } @else {
                div.figures.plain { (told_section(section)) }
            }
        }
    };
    document(&title, &body)
}

fn run_card((name, summary): &(String, Summary)) -> Markup {
    let resolved = summary.resolved.as_ref();
    html! {
        div.card {
            h3 { (clean::line(name)) ": " (term("% resolved")) }
            p.big { (resolved.map_or_else(|| NONE.to_owned(), |found| figures::percent(found.value))) }
            @if let Some(found) = resolved { (plots::interval_bar(found)) }
            p.of { (sections::denominator(summary)) }
        }
    }
}

fn difference_card(compared: &Comparison) -> Markup {
    html! {
        div.card {
            h3 { "Difference on " (figures::plural(compared.instances, "common instance")) }
            @match &compared.difference {
                None => { p.big { (NONE) } }
                Some(found) => {
                    p.big { (format!("{:+.1}", 100.0 * found.value)) span.unit { " points" } }
                    (around_zero(found))
                    p.of { (figures::p_value(compared.p_value)) ", " (term("McNemar's exact test, two-sided")) }
                }
            }
        }
    }
}

/// From −100 to +100 points, with the middle marked.
fn around_zero(found: &Estimate) -> Markup {
    let at = |value: f64| 50.0 + 50.0 * value;
    let (low, high) = (at(found.interval.low), at(found.interval.high));
    html! {
        div.interval.zero title={ "95 %: " (figures::difference(found)) } {
            span.range style={ "left:" (format!("{low:.1}")) "%;width:" (format!("{:.1}", high - low)) "%" } {}
            span.point style={ "left:" (format!("{:.1}", at(found.value))) "%" } {}
        }
        p.ends { (format!("{:+.1} to {:+.1}", 100.0 * found.interval.low, 100.0 * found.interval.high)) }
    }
}

fn pairs_card(compared: &Comparison) -> Markup {
    let Pairing {
        both,
        only_first,
        only_second,
        neither,
    } = compared.pairing;
    let (first, second) = (
        clean::line(&compared.first.0),
        clean::line(&compared.second.0),
    );
    html! {
        div.card {
            h3 { "Who resolves what" }
            table.pairs {
                tr { td {} th scope="col" { (second) " ✓" } th scope="col" { (second) " ✗" } }
                tr { th scope="row" { (first) " ✓" } td { (both) } td.apart { (only_first) } }
                tr { th scope="row" { (first) " ✗" } td.apart { (only_second) } td { (neither) } }
            }
        }
    }
}
