//! The trajectory on the page: a turn is a line that opens.
//!
//! It reads no file.

use maud::{Markup, html};

use crate::report::{
    figures,
    turns::{Shown, ShownCall, ShownTurn},
};

pub fn turns(shown: &Shown) -> Markup {
    html! {
        @if shown.turns.is_empty() { p.missing { "The trajectory has no turns." } }
        ol.turns {
            @for turn in &shown.turns {
                @if turn.after_gap {
                    li.gap { "⋯ " (figures::plural(shown.left_out, "turn")) " left out here to keep the page small; all are in trajectory.json ⋯" }
                }
                (one(turn))
            }
        }
        @for (id, subagent) in &shown.subagents {
            details.quiet.subagent {
                summary { "sub-agent " b { (id) } ", " (figures::plural(subagent.turns.len() + subagent.left_out, "turn")) }
                (turns(subagent))
            }
        }
    }
}

fn one(turn: &ShownTurn) -> Markup {
    let known = ["system", "user", "agent"].contains(&turn.source.as_str());
    let source = if known { turn.source.as_str() } else { "other" };
    html! {
        li {
            details class={ "turn " (source) } {
                summary {
                    span.number { (turn.number) }
                    span.who { (turn.source) }
                    span.preview {
                        (turn.preview)
                        @for call in &turn.calls { (call_line(call)) }
                    }
                    span.meta {
                        @if let Some((input, output)) = turn.tokens {
                            abbr title="tokens in and out" { (figures::count(input)) " → " (figures::count(output)) }
                        }
                    }
                }
                div.body {
                    @if !turn.at.is_empty() { p.at { (turn.at) } }
                    @if !turn.reasoning.is_empty() { p.label { "reasoning" } pre.reasoning { (turn.reasoning) } }
                    @if !turn.text.is_empty() { pre { (turn.text) } }
                    @for call in &turn.calls { (whole_call(call)) }
                }
            }
        }
    }
}

fn call_line(call: &ShownCall) -> Markup {
    html! {
        @if !call.name.is_empty() {
            " " span class=(if call.is_error { "call error" } else { "call" }) {
                b { (call.name) } @if !call.preview.is_empty() { " " (call.preview) }
            }
        }
    }
}

fn whole_call(call: &ShownCall) -> Markup {
    html! {
        @if !call.name.is_empty() {
            p.label { "call: " b { (call.name) } }
            @if !call.arguments.is_empty() { pre.arguments { (call.arguments) } }
        }
        @match &call.result {
            Some(result) => {
                p.label { "result" @if call.is_error { " (an error)" } }
                pre.error[call.is_error] { (result) }
            }
            None => { p.missing { "no result is recorded" } }
        }
    }
}
