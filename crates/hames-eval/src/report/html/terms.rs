//! The glossary's words where they stand on the page: what one means is shown when pointed at.
//!
//! It explains no more than a sentence.

use maud::{Markup, html};

const TERMS: [(&str, &str); 28] = [
    (
        "% resolved",
        "The mean over instances of the share of their trials whose F2P and P2P tests all pass, of those that count; with Wilson's 95 % interval",
    ),
    (
        "% resolved [95 %, Wilson]",
        "The mean over instances of the share of their trials whose F2P and P2P tests all pass; Wilson's score interval over the instances",
    ),
    (
        "pass@k",
        "How likely at least one of k trials resolves an instance: 1 − C(n−c, k) / C(n, k), the mean over instances; interval by drawing instances anew",
    ),
    (
        "cost per resolved",
        "What all trials cost, by the number of those that resolved",
    ),
    (
        "McNemar's exact test, two-sided",
        "How often a fair coin would split the instances on which the two disagree at least as unevenly",
    ),
    (
        "F2P",
        "FAIL_TO_PASS: tests that fail before the fix and must pass after it",
    ),
    (
        "P2P",
        "PASS_TO_PASS: tests that pass before the fix and must still pass",
    ),
    (
        "S1_build",
        "Renders the task for the agent, without the answers",
    ),
    (
        "S2_prepare",
        "A clean checkout of the base, and the environment that the tests need",
    ),
    ("S3_baseline", "What the tests say before any fix: optional"),
    (
        "S4_solve",
        "The agent works; the only stage in which a model is called",
    ),
    (
        "S5_patch",
        "The agent's work as a patch, whatever became of the agent",
    ),
    (
        "S6_score",
        "The patch is laid on a clean base, the tests run, their log is graded",
    ),
    (
        "S7_record",
        "The result is written down and entered into the store",
    ),
    ("unresolved", "Tests fail with the agent's patch"),
    ("empty_patch", "The agent changed nothing"),
    (
        "patch_does_not_apply",
        "The patch cannot be laid on a clean base",
    ),
    ("tests_timed_out", "The tests did not end in their time"),
    (
        "agent_failed",
        "The agent ended with an error of its own and left no work",
    ),
    (
        "infrastructure",
        "The machine, the network or a service: not the agent, never counted",
    ),
    (
        "invalid_instance",
        "The tests do not say what they should on this machine: never counted",
    ),
    (
        "missing",
        "A program or an interpreter was not there: never counted",
    ),
    ("bad_input", "The task itself is not usable: never counted"),
    ("interrupted", "The run was told to stop: never counted"),
    (
        "attempts killed / rescued",
        "Killed: ended by us at the wall limit. Rescued: killed or crashed, and its work was graded all the same",
    ),
    (
        "rescued",
        "It was killed or crashed, and its work was graded all the same",
    ),
    (
        "killed",
        "Ended by us, at the wall limit or by an interrupt",
    ),
    (
        "By repository",
        "The mean over instances of the share of their trials that resolved",
    ),
];

pub fn term(word: &str) -> Markup {
    let known = TERMS.iter().find(|(name, _)| *name == word);
    html! {
        @if let Some((_, meaning)) = known { abbr title=(meaning) { (word) } } @else { (word) }
    }
}
