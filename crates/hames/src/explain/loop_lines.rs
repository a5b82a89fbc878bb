//! `explain loop`: document B's pseudo-code line by line, with ours beside it and whose each line is.
//!
//! Our lines are quotations: a test finds each in the file that is named.

use std::fmt::Write;

use super::proof::Proof;

/// Who does what a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Harness,
    Model,
    Tool,
}

pub(crate) struct Line {
    /// Document B's mark, where a step begins.
    pub step: &'static str,
    pub theirs: &'static str,
    pub owner: Owner,
    pub component: &'static str,
    /// The file and the line in it.
    pub ours: Option<(&'static str, &'static str)>,
    /// What is done differently, and why.
    pub differs: &'static str,
    pub proof: Option<Proof>,
}

const AGENT: &str = "crates/hames-agent/src/run_query.rs";
const CONTRACTS: &str = "crates/hames-agent/tests/it/contracts.rs";
const GUARDS: &str = "crates/hames-agent/tests/it/guards.rs";
const TURNS: &str = "crates/hames-agent/tests/it/turns.rs";

const fn proof(file: &'static str, test: &'static str) -> Option<Proof> {
    Some(Proof { file, test })
}

pub(crate) const LINES: [Line; 15] = [
    Line {
        step: "① initialize: State Manager",
        theirs: "messages = [{\"role\": \"user\", \"content\": user_query}]",
        owner: Owner::Harness,
        component: "State Manager",
        ours: Some((
            "crates/hames-agent/src/session.rs",
            "append_user(cx, &mut self.transcript, prompt)?;",
        )),
        differs: "the prompt is in the journal before it is in the transcript",
        proof: proof(
            CONTRACTS,
            "req_l05_submitting_adds_the_users_sentence_and_runs_the_loop",
        ),
    },
    Line {
        step: "",
        theirs: "tools = declare_tools()",
        owner: Owner::Harness,
        component: "Tool Registry",
        ours: Some((
            "crates/hames-agent/src/registry.rs",
            "pub fn specs(&self) -> Vec<Arc<ToolSpec>> {",
        )),
        differs: "declared once an epoch, so that the prefix stays the same bytes",
        proof: proof(
            CONTRACTS,
            "req_c02_tools_are_declared_without_running_and_a_handler_is_swapped_under_its_schema",
        ),
    },
    Line {
        step: "",
        theirs: "start = time.time()",
        owner: Owner::Harness,
        component: "Loop Controller",
        ours: Some((
            "crates/hames-agent/src/budget.rs",
            "let began = Instant::now();",
        )),
        differs: "",
        proof: None,
    },
    Line {
        step: "② the loop: Loop Controller",
        theirs: "for turn in range(max_iter):",
        owner: Owner::Harness,
        component: "Loop Controller",
        ours: Some((AGENT, "let turn = cx.budget.next_turn()?;")),
        differs: "one purse for the whole submission, children and steps of a shape included",
        proof: proof(
            CONTRACTS,
            "req_c05_g01_an_endless_model_is_asked_exactly_as_often_as_the_cap_says",
        ),
    },
    Line {
        step: "",
        theirs: "if time.time() - start > wall_time: return TimeoutError(...)",
        owner: Owner::Harness,
        component: "Loop Controller",
        ours: Some((
            AGENT,
            "let outcome = match cx.stop.by(cx.budget.deadline(), turns).await {",
        )),
        differs: "it stands around the loop, not at its head: a hanging call or tool ends, too",
        proof: proof(
            GUARDS,
            "req_g02_the_wall_clock_ends_a_call_that_hangs_and_a_tool_that_hangs",
        ),
    },
    Line {
        step: "③ call the LLM",
        theirs: "response = client.chat.completions.create(model, messages, tools, max_tokens=4096)",
        owner: Owner::Model,
        component: "Error Handler around it",
        ours: Some((
            AGENT,
            "let message = call_model(cx, transcript, turn).await?;",
        )),
        differs: "the one moment of the model; streamed, retried, and named in the journal before it is sent",
        proof: proof(
            "crates/hames-agent/tests/it/accounts.rs",
            "req_c09_each_moment_has_one_owner_and_each_turn_one_model_step",
        ),
    },
    Line {
        step: "",
        theirs: "log(response.usage)",
        owner: Owner::Harness,
        component: "Logger",
        ours: Some((
            "crates/hames-agent/src/call_model.rs",
            "let usage = parser.usage();",
        )),
        differs: "tokens of failed attempts are counted as well",
        proof: proof(
            TURNS,
            "req_l12_usage_is_in_the_message_and_a_call_keeps_its_bytes",
        ),
    },
    Line {
        step: "④ Output Parser",
        theirs: "msg = response.choices[0].message",
        owner: Owner::Harness,
        component: "Output Parser",
        ours: Some((
            "crates/hames-agent/src/call_model.rs",
            "Continue(Ok(())) => parser.finish(),",
        )),
        differs: "a stream that ended before its terminal event is an error, never a message",
        proof: proof(
            "crates/hames-agent/tests/it/parser.rs",
            "req_p07_interleaved_blocks_come_out_whole_and_in_order",
        ),
    },
    Line {
        step: "",
        theirs: "messages.append(msg); log({\"turn\": turn, \"msg\": msg})",
        owner: Owner::Harness,
        component: "State Manager, Logger",
        ours: Some((
            AGENT,
            "if let Some(round) = append_assistant(cx, transcript, message)? {",
        )),
        differs: "journal first, then transcript: one entry for both",
        proof: proof(
            "crates/hames-agent/tests/it/laws.rs",
            "req_l13_whatever_fails_or_is_dropped_the_journal_was_first",
        ),
    },
    Line {
        step: "⑤ branch",
        theirs: "if msg.finish_reason == \"stop\": return msg.content",
        owner: Owner::Harness,
        component: "Loop Controller",
        ours: Some((AGENT, "None => Break(Outcome::Completed),")),
        differs: "calls are looked at first: gateways say stop with calls; and the reason stands on the choice",
        proof: proof(
            TURNS,
            "req_l14_a_text_answer_ends_the_query_and_leaves_nothing_pending",
        ),
    },
    Line {
        step: "",
        theirs: "if msg.finish_reason == \"length\": raise LengthError(...)",
        owner: Owner::Harness,
        component: "Loop Controller",
        ours: Some((
            AGENT,
            "StopReason::MaxTokens | StopReason::ContextExceeded => return Break(Outcome::Truncated),",
        )),
        differs: "an outcome, not a crash: the partial text is kept and the query can be continued",
        proof: proof(TURNS, "req_g03_a_message_says_how_the_query_ends"),
    },
    Line {
        step: "",
        theirs: "args = json.loads(tc.function.arguments)",
        owner: Owner::Harness,
        component: "Output Parser",
        ours: Some((
            "crates/hames-types/src/typed.rs",
            "let mut input: T::Input = input.parse().map_err(|error| {",
        )),
        differs: "what does not parse is told to the model and runs nothing",
        proof: proof(
            CONTRACTS,
            "req_l20_unknown_invalid_and_denied_calls_are_answers_that_name_their_cause",
        ),
    },
    Line {
        step: "",
        theirs: "result = TOOL_REGISTRY[tc.function.name](**args)",
        owner: Owner::Tool,
        component: "Tool Registry",
        ours: Some((AGENT, "run_tools(cx, round).await?;")),
        differs: "the effect: hook, lookup, validation and permission stand before it; calls run side by side",
        proof: proof(
            "crates/hames-agent/tests/it/rounds.rs",
            "req_l16_calls_run_side_by_side_unless_their_accesses_clash",
        ),
    },
    Line {
        step: "",
        theirs: "except Exception as e: result = ...; messages.append({\"role\": \"tool\", ...})",
        owner: Owner::Harness,
        component: "Error Handler, State Manager",
        ours: Some((
            "crates/hames-agent/src/run_tools.rs",
            "fn told(call: &ToolCall, result: Result<ToolOutput, ToolError>) -> ToolResult {",
        )),
        differs: "every call has exactly one answer, whatever becomes of it",
        proof: proof(
            "crates/hames-agent/tests/it/rounds.rs",
            "req_l18_every_call_is_answered_in_order_whatever_becomes_of_it",
        ),
    },
    Line {
        step: "",
        theirs: "raise MaxIterError(...)",
        owner: Owner::Harness,
        component: "Loop Controller",
        ours: Some((
            "crates/hames-agent/src/budget.rs",
            "return Break(Outcome::LimitReached { limit });",
        )),
        differs: "an outcome with the limit's name; what is left is pending and can be continued",
        proof: proof(
            GUARDS,
            "req_l08_eight_turns_by_default_and_what_is_left_is_pending",
        ),
    },
];

pub(crate) fn table() -> String {
    let mut text = String::from(
        "The loop: document B's lines, whose each is, and the line of Hames that does it.\n",
    );
    for line in &LINES {
        if !line.step.is_empty() {
            let _ = write!(text, "\n{}\n", line.step);
        }
        let owner = match line.owner {
            Owner::Harness => "[harness]",
            Owner::Model => "[LLM]    ",
            Owner::Tool => "[tool]   ",
        };
        let _ = writeln!(text, "  {owner} {}", line.theirs);
        if let Some((file, ours)) = line.ours {
            let _ = writeln!(
                text,
                "            ours  {ours}\n                  {file} ({})",
                line.component
            );
        }
        if !line.differs.is_empty() {
            let _ = writeln!(text, "            why   {}", line.differs);
        }
        if let Some(proof) = &line.proof {
            let _ = writeln!(text, "            test  {}", proof.show());
        }
    }
    let count = |owner| LINES.iter().filter(|line| line.owner == owner).count();
    let _ = writeln!(
        text,
        "\n{} lines of the harness, {} of the model, {} of the tools; `hames explain SESSION` says \
         how much time each had.",
        count(Owner::Harness),
        count(Owner::Model),
        count(Owner::Tool)
    );
    text
}
