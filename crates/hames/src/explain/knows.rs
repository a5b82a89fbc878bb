//! `explain knows`: what a model knows of a run, and what it does not unless it is told.
//!
//! Each row names the test that looks at what is sent.

use std::fmt::Write;

use super::proof::Proof;

pub(crate) struct Row {
    pub what: &'static str,
    pub known: bool,
    /// How it gets there, or how it could.
    pub how: &'static str,
    pub proof: Proof,
}

const CONTRACTS: &str = "crates/hames-agent/tests/it/contracts.rs";
const TOLD: Proof = Proof {
    file: "crates/hames-agent/tests/it/models.rs",
    test: "req_c10_a_model_is_told_its_turns_only_when_asked_for",
};
const SEES: Proof = Proof {
    file: CONTRACTS,
    test: "req_c01_a_model_sees_what_is_in_its_messages_and_nothing_else",
};

pub(crate) const ROWS: [Row; 10] = [
    Row {
        what: "what was said in this epoch",
        known: true,
        how: "it is all in the messages, sent again with each call",
        proof: SEES,
    },
    Row {
        what: "which tools there are, and their inputs",
        known: true,
        how: "declared in the head, apart from what they do",
        proof: Proof {
            file: CONTRACTS,
            test: "req_c02_tools_are_declared_without_running_and_a_handler_is_swapped_under_its_schema",
        },
    },
    Row {
        what: "what a tool answered",
        known: true,
        how: "one result for each call, in call order, as the next message",
        proof: Proof {
            file: "crates/hames-agent/tests/it/turns.rs",
            test: "req_l17_a_round_is_one_message_and_each_step_is_an_entry",
        },
    },
    Row {
        what: "that a call was refused, and the way out",
        known: true,
        how: "the refusal is the call's result",
        proof: Proof {
            file: CONTRACTS,
            test: "req_l20_unknown_invalid_and_denied_calls_are_answers_that_name_their_cause",
        },
    },
    Row {
        what: "anything of an earlier call that is not in the messages",
        known: false,
        how: "each call is a stateless function: the transcript is its whole memory",
        proof: SEES,
    },
    Row {
        what: "its turn, and how many are left",
        known: false,
        how: "--inform turns says it at the tail",
        proof: TOLD,
    },
    Row {
        what: "tokens and money, spent and left",
        known: false,
        how: "--inform budget",
        proof: TOLD,
    },
    Row {
        what: "the time that has passed",
        known: false,
        how: "--inform time",
        proof: TOLD,
    },
    Row {
        what: "attempts that failed, and waits between them",
        known: false,
        how: "the Error Handler's business; the journal has each as an entry",
        proof: Proof {
            file: "crates/hames-agent/tests/it/guards.rs",
            test: "req_c06_e01_a_flaky_model_is_asked_again_after_a_wait",
        },
    },
    Row {
        what: "timestamps, counts, the journal and the run log",
        known: false,
        how: "the Logger is beside the loop; `hames explain SESSION` reads it to you",
        proof: Proof {
            file: "crates/hames-agent/tests/it/accounts.rs",
            test: "req_o01_a_line_a_turn_says_what_it_saw_asked_got_and_took",
        },
    },
];

pub(crate) fn table() -> String {
    let mut text =
        String::from("Each call of a model is a stateless function of messages and tools. So it\n");
    for (known, title) in [(true, "knows"), (false, "does not know, unless it is told")] {
        let _ = write!(text, "\n{title}\n");
        for row in ROWS.iter().filter(|row| row.known == known) {
            let Row {
                what, how, proof, ..
            } = row;
            let _ = writeln!(text, "  {what}\n      {how}\n      test  {}", proof.show());
        }
    }
    text
}
