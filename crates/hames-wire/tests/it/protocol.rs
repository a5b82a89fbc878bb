//! The table of protocols says what the codecs do.

use std::sync::Arc;

use hames_types::{
    ApiKind, AssistantMessage, Block, BlockKind, CallId, Head, Message, ModelEvent, Options,
    Origin, RawJson, Request, ResultStatus, StopReason, ToolCall, ToolResult, ToolResults,
    ToolSpec, Usage, UserMessage,
};
use hames_wire::{
    Delivery, api,
    protocol::{PROTOCOLS, Protocol},
};
use serde_json::{Value, json};

fn head(api: ApiKind, model: &str) -> Head {
    let tool = ToolSpec {
        name: "look".to_owned(),
        description: "looks".to_owned(),
        input_schema: RawJson::from(r#"{"type":"object","properties":{}}"#),
    };
    Head {
        api,
        model: model.into(),
        system: "be brief".into(),
        tools: vec![Arc::new(tool)],
        options: Options {
            max_tokens: 17,
            temperature: None,
            effort: None,
            context_window: None,
        },
    }
}

fn call() -> ToolCall {
    ToolCall {
        id: CallId::from("call_1"),
        name: "look".to_owned(),
        input: RawJson::from(r#"{"at":"x"}"#),
    }
}

fn messages() -> Vec<Message> {
    let asked = AssistantMessage {
        blocks: vec![Block {
            kind: BlockKind::ToolCall(call()),
            echo: None,
        }],
        stop: StopReason::ToolUse,
        usage: Usage::default(),
    };
    let calls = [call()];
    let seen = |_: usize, id: &CallId| Arc::new(ToolResult::text(id, ResultStatus::Ok, "seen"));
    vec![
        Message::User(Arc::new(UserMessage::text(Origin::Human, "go"))),
        Message::Assistant(Arc::new(asked)),
        Message::Tool(Arc::new(ToolResults::close(&calls, seen))),
    ]
}

/// The request as the codec writes it.
fn sent(protocol: &Protocol, model: &str) -> Value {
    let codec = api(protocol.api).unwrap();
    let head = head(protocol.api, model);
    let encoded: Vec<_> = messages()
        .iter()
        .map(|message| codec.encode_message(&head, message))
        .collect();
    let head_bytes = codec.encode_head(&head);
    let request = Request {
        head: &head,
        head_bytes: &head_bytes,
        messages: &encoded,
    };
    let body = codec.body(&request, Delivery::Whole).concat();
    serde_json::from_slice(&body).unwrap()
}

/// A whole answer that ends with this word.
fn answer(kind: ApiKind, word: &str) -> Value {
    match kind {
        ApiKind::OpenaiChat => json!({"id": "1", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": word,
                "message": {"role": "assistant", "content": "hi"}}]}),
        ApiKind::AnthropicMessages => json!({"id": "1", "type": "message", "role": "assistant",
            "model": "m", "content": [{"type": "text", "text": "hi"}], "stop_reason": word,
            "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ApiKind::OllamaChat => json!({"model": "m", "done": true, "done_reason": word,
            "message": {"role": "assistant", "content": "hi"}}),
        ApiKind::OpenaiResponses | ApiKind::GeminiGenerate => Value::Null,
    }
}

fn spoken() -> impl Iterator<Item = &'static Protocol> {
    PROTOCOLS.iter().filter(|protocol| protocol.is_spoken())
}

#[test]
fn req_p10_the_table_names_the_paths_and_stop_words_that_the_codecs_know() {
    assert_eq!(spoken().count(), 3);
    for protocol in spoken() {
        let codec = api(protocol.api).unwrap();
        assert!(
            protocol.endpoint.ends_with(codec.path()),
            "{}",
            protocol.name
        );
        for (word, meant) in protocol.stop_words {
            let mut decoder = codec.decoder(Delivery::Whole);
            let mut events = Vec::new();
            let body = answer(protocol.api, word).to_string();
            decoder.feed(body.as_bytes(), &mut events).unwrap();
            decoder.finish(&mut events).unwrap();
            let stops = events.iter().filter_map(|event| match event {
                ModelEvent::Finished(stop) => Some(*stop),
                _ => None,
            });
            assert_eq!(
                stops.collect::<Vec<_>>(),
                [*meant],
                "{} {word}",
                protocol.name
            );
        }
    }
}

#[test]
fn req_p10_req_p09_the_table_names_the_fields_that_the_codecs_write() {
    for protocol in spoken() {
        let bodies = ["m", "o3"].map(|model| sent(protocol, model));
        let capped = bodies.each_ref().map(|body| {
            let fields = protocol.cap.iter();
            fields
                .filter_map(|field| body.pointer(field))
                .collect::<Vec<_>>()
        });
        assert_eq!(capped, [[&json!(17)], [&json!(17)]], "{}", protocol.name);
        let body = &bodies[0];
        let (spec, asked, result) = match protocol.api {
            ApiKind::AnthropicMessages => (
                "/tools/0/input_schema",
                ("/messages/1/content/0/input/at", json!("x")),
                ("/messages/2/content/0/tool_use_id", json!("call_1")),
            ),
            ApiKind::OllamaChat => (
                "/tools/0/function/parameters",
                ("/messages/2/tool_calls/0/function/arguments/at", json!("x")),
                ("/messages/3/tool_call_id", json!("call_1")),
            ),
            _ => (
                "/tools/0/function/parameters",
                (
                    "/messages/2/tool_calls/0/function/arguments",
                    json!(r#"{"at":"x"}"#),
                ),
                ("/messages/3/tool_call_id", json!("call_1")),
            ),
        };
        assert!(body.pointer(spec).is_some_and(Value::is_object), "{body}");
        for (pointer, value) in [asked, result] {
            assert_eq!(body.pointer(pointer), Some(&value), "{body}");
            let named = pointer.rsplit('/').find(|part| part.len() > 3).unwrap();
            let told = protocol.rows().map(|(_, text)| text).join(" ");
            assert!(told.contains(named), "{} {named}", protocol.name);
        }
    }
}
