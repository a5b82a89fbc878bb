//! What an answer means, however its server writes it: one test a requirement or fault.
//!
//! The bodies lie in `test_data/`; here stands what matters in them.
#![allow(clippy::unwrap_used)]

use hames_agent::parser::Parser;
use hames_types::*;

use crate::decoding::{Case, cases, decode, head};

fn case(name: &str) -> Case {
    let cases = cases();
    let found = cases.into_iter().find(|case| case.path.ends_with(name));
    found.unwrap_or_else(|| panic!("no case {name}"))
}

fn parse(name: &str) -> Result<AssistantMessage, ProviderError> {
    let case = case(name);
    let (events, end) = decode(&case, [&*case.body]);
    let head = head(case.api.kind());
    let mut parser = Parser::new(&head);
    events
        .into_iter()
        .for_each(|event| drop(parser.feed(event)));
    end.and_then(|()| parser.finish())
}

/// Name and arguments of each call.
fn calls(name: &str) -> Vec<(String, String)> {
    let message = parse(name).unwrap();
    let calls = message.tool_calls();
    calls
        .map(|call| (call.name.clone(), call.input.0.to_string()))
        .collect()
}

fn look(input: &str) -> (String, String) {
    ("look".to_owned(), input.to_owned())
}

#[test]
fn req_p04_req_s09_one_answer_reads_the_same_on_three_wires() {
    let names = [
        "openai_chat/same-answer.sse",
        "anthropic_messages/same-answer.sse",
        "ollama_chat/same-answer.ndjson",
    ];
    let call = |id: &str, name: &str, input: &str| {
        BlockKind::ToolCall(ToolCall {
            id: id.into(),
            name: name.into(),
            input: input.into(),
        })
    };
    let kinds = [
        BlockKind::Text {
            text: "I look.".into(),
        },
        call("a", "look", r#"{"n":1}"#),
        call("b", "write", "{}"),
    ];
    let expected = AssistantMessage {
        blocks: kinds.map(|kind| Block { kind, echo: None }).to_vec(),
        stop: StopReason::ToolUse,
        usage: Usage {
            input: 30,
            output: 12,
            ..Usage::default()
        },
    };
    for name in names {
        assert_eq!(parse(name).unwrap(), expected, "{name}");
    }
}

#[test]
fn fault_d21_a_whole_body_and_a_stream_of_it_are_one_message() {
    for (stream, whole) in [
        (
            "openai_chat/same-answer.sse",
            "openai_chat/same-answer-whole.json",
        ),
        (
            "ollama_chat/same-answer.ndjson",
            "ollama_chat/same-answer-whole.json",
        ),
    ] {
        assert_eq!(parse(stream).unwrap(), parse(whole).unwrap(), "{whole}");
    }
    // An empty input is sent as `{}` in one and as nothing in the other, and means the same.
    let calls = |name: &str| {
        let message = parse(name).unwrap();
        let read = |call: &ToolCall| {
            (
                call.name.clone(),
                call.input.parse::<serde_json::Value>().unwrap(),
            )
        };
        (
            message.text(),
            message.stop,
            message.usage,
            message.tool_calls().map(read).collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        calls("anthropic_messages/same-answer.sse"),
        calls("anthropic_messages/same-answer-whole.json")
    );
}

#[test]
fn req_q04_text_that_looks_like_a_call_is_text() {
    for name in [
        "openai_chat/text-that-looks-like-a-call.sse",
        "anthropic_messages/text-that-looks-like-a-call.sse",
        "ollama_chat/text-that-looks-like-a-call.ndjson",
    ] {
        let message = parse(name).unwrap();
        assert_eq!(message.tool_calls().count(), 0, "{name}");
        assert_eq!(message.stop, StopReason::EndTurn, "{name}");
        assert!(message.text().contains("bash"), "{name}");
    }
}

#[test]
fn fault_d08_calls_are_told_apart_whatever_their_index() {
    let two = [look(r#"{"n":1}"#), look(r#"{"n":2}"#)];
    assert_eq!(calls("calls-same-index-new-id.sse"), two);
    let mut renamed = two;
    renamed[1].0 = "write".into();
    assert_eq!(calls("calls-same-index-new-name.sse"), renamed);
    let whole = [look(r#"{"n":"}"}"#), look(r#"{"n":2}"#)];
    assert_eq!(calls("calls-same-index-complete.sse"), whole);
    assert_eq!(
        calls("calls-without-index.sse"),
        [look("{\"n\":1} "), look("{}")]
    );
    for one in [
        "calls-id-in-every-chunk.sse",
        "calls-id-empty-later.sse",
        "calls-repeated-whole.sse",
    ] {
        assert_eq!(calls(one), [look(r#"{"n":1}"#)], "{one}");
    }
}

#[test]
fn req_p07_two_calls_that_come_interleaved_are_rebuilt_by_index() {
    let write = ("write".to_owned(), r#"{"path":"x"}"#.to_owned());
    assert_eq!(
        calls("calls-interleaved.sse"),
        [look(r#"{"q":"é"}"#), write]
    );
}

#[test]
fn fault_d10_req_p06_arguments_are_taken_as_text_object_nothing_or_encoded_twice() {
    assert_eq!(
        calls("arguments-object.sse"),
        [look(r#"{"n":1,"deep":{"list":[1,2]}}"#)]
    );
    assert_eq!(
        calls("arguments-encoded-twice.sse"),
        [look(r#"{"n": 1}"#), look("")]
    );
    let none = calls("arguments-empty-and-null.sse");
    assert_eq!(none, [look(""), look(""), look(""), look("")]);
    assert_eq!(
        calls("arguments-as-text.ndjson"),
        [look(r#"{"n":1}"#), look("")]
    );
    let at_the_start = calls("tool-use-input-at-the-start.sse");
    assert_eq!(at_the_start, [look(r#"{"n":1}"#), look(r#"{"n":2}"#)]);
}

#[test]
fn fault_d12_invalid_arguments_are_kept_as_written_and_spoil_no_other_call() {
    let seen = calls("calls-one-of-them-invalid.sse");
    assert_eq!(seen, [look(r#"{"n":"#), look(r#"{"n":2}"#)]);
}

#[test]
fn fault_d13_a_call_that_the_output_limit_cut_is_no_call_to_run() {
    for name in ["arguments-cut-by-length.sse", "calls-cut-by-length.ndjson"] {
        let message = parse(name).unwrap();
        assert_eq!(message.stop, StopReason::MaxTokens, "{name}");
        assert!(!message.stop.may_run_calls(), "{name}");
        assert_eq!(message.tool_calls().count(), 1, "{name}");
    }
}

#[test]
fn req_p08_null_content_beside_calls_is_no_text() {
    let message = parse("whole-null-content.json").unwrap();
    assert_eq!(message.text(), "");
    assert_eq!(message.tool_calls().count(), 2);
}

/// `[DONE]` ends the body: a message ends with a reason, or it was cut.
#[test]
fn req_p03_a_message_without_its_terminal_event_is_an_error_and_runs_nothing() {
    for name in [
        "openai_chat/finish-reason-missing.sse",
        "openai_chat/frames-cut-in-the-finish.sse",
        "anthropic_messages/cut-before-the-stop.sse",
        "anthropic_messages/cut-in-the-stop.sse",
        "anthropic_messages/cut-in-a-call.sse",
        "ollama_chat/cut-before-done.ndjson",
        "ollama_chat/cut-in-done.ndjson",
    ] {
        let error = parse(name).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::Transport, "{name}");
    }
    let unsaid = parse("whole-finish-missing.json").unwrap().stop;
    assert!(!unsaid.may_run_calls(), "{unsaid:?}");
    let asks = parse("stop-with-calls.sse").unwrap().stop;
    assert!(asks.may_run_calls(), "{asks:?}");
}
