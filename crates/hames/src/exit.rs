//! How a run ends, in every vocabulary: exit code, `is_error`, `subtype`, `end_cause`.
//!
//! All of them are read off one outcome here, so that no two can disagree.

use hames_types::{Limit, Outcome};

/// The command line, the configuration, or a session open elsewhere.
pub const USAGE: u8 = 2;
pub const FAILED: u8 = 1;
pub const INTERRUPTED: u8 = 130;

/// What was asked for cannot be begun: nothing was sent, nothing was spent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// `Err(usage(...))?` in code that returns `anyhow::Result`.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// An error's exit code: 2 where the user has to ask differently.
pub fn code_of(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() { USAGE } else { FAILED }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    pub code: u8,
    pub is_error: bool,
    /// Claude's word for it, as far as there is one.
    pub subtype: &'static str,
    /// Which guard or event ended the run; one word for each way out.
    pub end_cause: &'static str,
    /// What a human should read about it; empty for a completed run.
    pub message: String,
}

/// `unasked`: a call was refused because nobody could be asked.
pub fn ending(outcome: &Outcome, unasked: bool) -> Ending {
    let code = outcome.exit_code(unasked);
    Ending {
        code,
        is_error: code != 0,
        subtype: subtype(outcome, code),
        end_cause: outcome.end_cause(),
        message: message(outcome, code),
    }
}

fn subtype(outcome: &Outcome, code: u8) -> &'static str {
    if code == 0 {
        return "success";
    }
    match outcome {
        Outcome::LimitReached {
            limit: Limit::Turns,
        } => "error_max_turns",
        Outcome::LimitReached { limit: Limit::Cost } => "error_max_budget_usd",
        Outcome::SchemaFailed { .. } => "error_max_structured_output_retries",
        Outcome::Completed
        | Outcome::Refused
        | Outcome::Truncated
        | Outcome::NoAnswer
        | Outcome::LimitReached { .. }
        | Outcome::Interrupted
        | Outcome::CheckFailed { .. }
        | Outcome::Failed { .. } => "error_during_execution",
    }
}

/// The tag of the outcome as the journal writes it.
pub fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Refused => "refused",
        Outcome::Truncated => "truncated",
        Outcome::NoAnswer => "no_answer",
        Outcome::LimitReached { .. } => "limit_reached",
        Outcome::Interrupted => "interrupted",
        Outcome::CheckFailed { .. } => "check_failed",
        Outcome::SchemaFailed { .. } => "schema_failed",
        Outcome::Failed { .. } => "failed",
    }
}

fn message(outcome: &Outcome, code: u8) -> String {
    match outcome {
        Outcome::Completed if code == 0 => String::new(),
        Outcome::Completed => "a call was refused because nobody could be asked; \
                               --allowed-tools or --permission-mode allows it"
            .to_owned(),
        Outcome::Refused => "the model refused".to_owned(),
        Outcome::Truncated => "the answer was cut at the model's output limit; \
                               --max-output-tokens raises it, --continue with a prompt goes on"
            .to_owned(),
        Outcome::NoAnswer => "the model ended without an answer, twice".to_owned(),
        Outcome::LimitReached { limit } => limit_message(*limit).to_owned(),
        Outcome::Interrupted => "interrupted; --continue goes on".to_owned(),
        Outcome::CheckFailed { check } => format!("the check does not pass: {check}"),
        Outcome::SchemaFailed { error } => format!("the answer does not fit the schema: {error}"),
        Outcome::Failed { error } => error.clone(),
    }
}

fn limit_message(limit: Limit) -> &'static str {
    match limit {
        Limit::Turns => "the limit of turns was reached; --max-turns raises it, --continue goes on",
        Limit::WallTime => "the limit of wall time was reached; --max-wall raises it",
        Limit::Tokens => "the limit of tokens was reached; --max-total-tokens raises it",
        Limit::Cost => "the limit of cost was reached; --max-cost raises it",
        Limit::ToolErrors => "too many tool calls failed in a row",
        Limit::RepeatedCall => "the same call gave the same result again and again",
        Limit::Context => "the conversation does not fit the model's window, even compacted",
    }
}
