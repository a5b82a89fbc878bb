//! `explain compare`: document A's comparison with ours beside it, and where its names live here.
//!
//! Each row of the comparison names the test that shows it; every path is a file of the tree.

use std::fmt::Write;

use super::{page::Table, proof::Proof};

pub(crate) struct Row {
    pub dimension: &'static str,
    /// The lecture's S01 and OpenHarness, as document A puts them side by side.
    pub lecture: &'static str,
    pub openharness: &'static str,
    pub ours: &'static str,
    pub proof: Proof,
}

pub(crate) struct Path {
    pub theirs: &'static str,
    pub ours: &'static str,
    pub file: &'static str,
}

pub(crate) const ROWS: [Row; 5] = [
    Row {
        dimension: "where the loop is (循环位置)",
        lecture: "a while inside one large QueryEngine",
        openharness: "a thin QueryEngine around a pure run_query",
        ours: "Session around run_query, which is stateless, in one file under 130 lines",
        proof: Proof {
            file: "crates/hames-agent/tests/it/contracts.rs",
            test: "req_l03_two_queries_on_equal_inputs_are_equal",
        },
    },
    Row {
        dimension: "how the model is called (模型调用)",
        lecture: "messages.create, once, whole",
        openharness: "stream_message and a stream of events",
        ours: "streamed; deltas before the last byte, entries once they are in the journal",
        proof: Proof {
            file: "crates/hames-agent/tests/it/events.rs",
            test: "req_l11_a_reader_can_begin_late_and_hears_what_is_still_being_said",
        },
    },
    Row {
        dimension: "when it ends (退出条件)",
        lecture: "stop_reason != tool_use",
        openharness: "not final_message.tool_uses",
        ours: "no call in the message, and an ending on the allow-list; text never counts as a call",
        proof: Proof {
            file: "crates/hames-agent/tests/it/turns.rs",
            test: "req_l14_a_text_answer_ends_the_query_and_leaves_nothing_pending",
        },
    },
    Row {
        dimension: "context length (上下文长度)",
        lecture: "another lecture (S05)",
        openharness: "auto_compact_if_needed at the head of each turn",
        ours: "the same place, and once more when the provider says that it is too long",
        proof: Proof {
            file: "crates/hames-agent/tests/it/compaction.rs",
            test: "req_l09_each_turn_checks_before_it_asks_and_a_compaction_is_an_entry",
        },
    },
    Row {
        dimension: "safety of turns (轮数安全)",
        lecture: "often left out",
        openharness: "max_turns, then MaxTurnsExceeded",
        ours: "a cap for each submission; reaching it is an outcome, and the session goes on from there",
        proof: Proof {
            file: "crates/hames-agent/tests/it/guards.rs",
            test: "req_l08_eight_turns_by_default_and_what_is_left_is_pending",
        },
    },
];

const fn path(theirs: &'static str, ours: &'static str, file: &'static str) -> Path {
    Path { theirs, ours, file }
}

pub(crate) const PATHS: [Path; 30] = [
    path(
        "query_engine.py QueryEngine",
        "Session",
        "crates/hames-agent/src/session.rs",
    ),
    path(
        "QueryEngine.submit_message",
        "Session::submit",
        "crates/hames-agent/src/session.rs",
    ),
    path(
        "QueryEngine.continue_pending",
        "Session::continue_pending",
        "crates/hames-agent/src/session.rs",
    ),
    path(
        "has_pending_continuation",
        "Transcript::has_pending_continuation",
        "crates/hames-agent/src/transcript.rs",
    ),
    path(
        "_messages, messages[], items[]",
        "Transcript",
        "crates/hames-agent/src/transcript.rs",
    ),
    path(
        "CostTracker",
        "Session::spent, Ledger",
        "crates/hames-agent/src/ledger.rs",
    ),
    path(
        "query.py run_query",
        "run_query",
        "crates/hames-agent/src/run_query.rs",
    ),
    path(
        "QueryContext",
        "QueryContext",
        "crates/hames-agent/src/context.rs",
    ),
    path(
        "auto_compact_if_needed",
        "Compaction, ClearThenSummarize",
        "crates/hames-agent/src/compaction.rs",
    ),
    path(
        "api_client.stream_message",
        "Provider::send, call_model",
        "crates/hames-agent/src/call_model.rs",
    ),
    path(
        "ApiMessageRequest",
        "Request, Head",
        "crates/hames-types/src/provider.rs",
    ),
    path(
        "ApiTextDeltaEvent, ApiMessageCompleteEvent",
        "ModelEvent",
        "crates/hames-types/src/model.rs",
    ),
    path(
        "stream_events.py StreamEvent",
        "Event: Entry or Delta",
        "crates/hames-types/src/event.rs",
    ),
    path(
        "AssistantTextDelta",
        "Delta",
        "crates/hames-types/src/event.rs",
    ),
    path(
        "AssistantTurnComplete",
        "Entry::Assistant",
        "crates/hames-types/src/entry.rs",
    ),
    path(
        "ToolResultBlock",
        "ToolResult, ToolResults",
        "crates/hames-types/src/results.rs",
    ),
    path(
        "ConversationMessage",
        "Message",
        "crates/hames-types/src/message.rs",
    ),
    path(
        "asyncio.gather over tool_uses",
        "run_tools",
        "crates/hames-agent/src/run_tools.rs",
    ),
    path(
        "_execute_tool_call",
        "prepare, permit, execute",
        "crates/hames-agent/src/admit.rs",
    ),
    path(
        "PreToolUse, PostToolUse hooks",
        "Hook",
        "crates/hames-agent/src/hooks.rs",
    ),
    path(
        "permission policy, confirmation",
        "PermissionPolicy, Approver",
        "crates/hames-agent/src/permission.rs",
    ),
    path(
        "max_turns, MaxTurnsExceeded",
        "Budget, Outcome::LimitReached",
        "crates/hames-agent/src/budget.rs",
    ),
    path(
        "TOOL_REGISTRY, declare_tools",
        "ToolRegistry",
        "crates/hames-agent/src/registry.rs",
    ),
    path(
        "read_file, bash (built-in tools)",
        "read, bash and five more",
        "crates/hames-tools/src/builtin.rs",
    ),
    path(
        "Output Parser",
        "Parser",
        "crates/hames-agent/src/parser.rs",
    ),
    path(
        "Error Handler",
        "ErrorHandler",
        "crates/hames-agent/src/recovery.rs",
    ),
    path(
        "Logger, log.write",
        "Journal, RunLog",
        "crates/hames-agent/src/logger.rs",
    ),
    path(
        "LengthError, MaxIterError, TimeoutError",
        "QueryError",
        "crates/hames-types/src/outcome.rs",
    ),
    path(
        "llm-protocol-fundamentals.html",
        "hames explain protocol",
        "crates/hames-wire/src/protocol.rs",
    ),
    path(
        "the four questions",
        "choose, hames guide",
        "crates/hames-agent/src/shapes/choose.rs",
    ),
];

pub(crate) fn table() -> String {
    let mut text = String::from("Document A's comparison, Hames beside it.\n");
    for row in &ROWS {
        let Row {
            dimension,
            lecture,
            openharness,
            ours,
            proof,
        } = row;
        let _ = write!(
            text,
            "\n{dimension}\n  S01          {lecture}\n  OpenHarness  {openharness}\n  Hames        \
             {ours}\n  test         {}\n",
            proof.show()
        );
    }
    let mut paths = Table::new(["THEIR NAME", "OURS", "FILE"]);
    for path in &PATHS {
        paths.row([path.theirs, path.ours, path.file].map(str::to_owned));
    }
    let _ = write!(
        text,
        "\nWhere the names of documents A and B live here.\n\n{}",
        paths.render()
    );
    text
}
