//! Law *prefix*: the sent bytes of a longer transcript begin with those of a shorter one.
//!
//! Stated over whole bodies, folded neighbours included; only the closing tail and the cache markers
//! stand outside.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use hames_types::*;
use hames_wire::{Api, Delivery, api};
use proptest::prelude::*;

use crate::decoding::tries;

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

pub const APIS: [ApiKind; 3] = [
    ApiKind::OpenaiChat,
    ApiKind::AnthropicMessages,
    ApiKind::OllamaChat,
];

pub fn body(api: &dyn Api, head: &Head, messages: &[Message], delivery: Delivery) -> String {
    let head_bytes = api.encode_head(head);
    let encoded: Vec<Encoded> = messages
        .iter()
        .map(|message| api.encode_message(head, message))
        .collect();
    let request = Request {
        head,
        head_bytes: &head_bytes,
        messages: &encoded,
    };
    let pieces: Vec<Bytes> = api.body(&request, delivery);
    String::from_utf8(pieces.concat()).unwrap()
}

/// What no longer request may change: all but what closes the last message, the list and the body.
fn stable(body: &str, tail: &str) -> String {
    let open = body.replace(MARKER, "");
    let open = open.strip_suffix(tail).unwrap();
    let closers = [r#""}"#, "]}"];
    let closed = closers.iter().find_map(|closer| open.strip_suffix(closer));
    // Only a user's message, or an assistant's where those are folded, is closed by the tail.
    closed.unwrap_or(open).to_owned()
}

fn tail(api: ApiKind, delivery: Delivery) -> &'static str {
    match (api, delivery) {
        (ApiKind::OpenaiChat, Delivery::Stream) => {
            r#"],"stream":true,"stream_options":{"include_usage":true}}"#
        }
        (_, Delivery::Stream) => r#"],"stream":true}"#,
        (ApiKind::OllamaChat, Delivery::Whole) => r#"],"stream":false}"#,
        (_, Delivery::Whole) => "]}",
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ -~]{0,12}",
        1 => Just("\"}],\n\\ \u{1}é🌍\u{2028}".to_owned()),
        1 => Just("  ".to_owned()),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        5 => text().prop_map(|text| Content::Text { text }),
        1 => Just(Content::Image { media_type: "image/png".into(), base64: "aGFtZXM=".into() }),
        1 => Just(Content::Image { media_type: "image/png".into(), base64: "hämes".into() }),
        1 => Just(Content::Document { media_type: "application/pdf".into(), base64: "aGFtZXM=".into() }),
    ]
}

fn user() -> impl Strategy<Value = Message> {
    prop::collection::vec(content(), 1..3).prop_map(|content| {
        let origin = Origin::Human;
        Message::User(Arc::new(UserMessage { content, origin }))
    })
}

fn echo() -> impl Strategy<Value = Option<Echo>> {
    use ApiKind::{AnthropicMessages, OllamaChat, OpenaiChat};
    let written = prop::sample::select(vec![
        (OpenaiChat, r#"{"reasoning_content":"r"}"#),
        (OpenaiChat, r#"{"reasoning_details":[{"type":"x"}]}"#),
        (
            OpenaiChat,
            r#"{"content":[{"type":"thinking","thinking":[]}]}"#,
        ),
        (
            AnthropicMessages,
            r#"{"type":"thinking","thinking":"r","signature":"s"}"#,
        ),
        (AnthropicMessages, "{broken"),
        (OllamaChat, r#"{"thinking":"r"}"#),
    ]);
    let model = prop::sample::select(vec!["m", "another"]);
    let echo = (written, model).prop_map(|((api, json), model)| Echo {
        api,
        model: model.into(),
        json: json.into(),
    });
    prop::option::of(echo)
}

/// A message of the model's, and the results of its calls.
fn answer() -> impl Strategy<Value = Vec<Message>> {
    let input = prop::sample::select(vec!["", "{}", "null", r#"{"a":"\""}"#, "{\"a\":", "[1]"]);
    let call = (0..9, input).prop_map(|(id, input)| {
        let id = CallId(format!("functions.look:{id}").into());
        BlockKind::ToolCall(ToolCall {
            id,
            name: "look".into(),
            input: input.into(),
        })
    });
    let kind = prop_oneof![
        2 => text().prop_map(|text| BlockKind::Text { text }),
        1 => text().prop_map(|text| BlockKind::Reasoning { text }),
        1 => Just(BlockKind::Opaque),
        2 => call,
    ];
    let block = (kind, echo()).prop_map(|(kind, echo)| {
        let echo = echo.filter(|_| matches!(kind, BlockKind::Reasoning { .. } | BlockKind::Opaque));
        Block { kind, echo }
    });
    let failed = any::<bool>();
    (prop::collection::vec(block, 1..4), text(), failed).prop_map(|(blocks, text, failed)| {
        let (stop, usage) = (StopReason::ToolUse, Usage::default());
        let message = AssistantMessage {
            blocks,
            stop,
            usage,
        };
        let calls: Vec<ToolCall> = message.tool_calls().cloned().collect();
        let status = if failed {
            ResultStatus::Error
        } else {
            ResultStatus::Ok
        };
        let results = ToolResults::close(&calls, |_, id| {
            ToolResult::text(id, status, text.clone()).into()
        });
        let mut round = vec![Message::Assistant(Arc::new(message))];
        round.extend((!calls.is_empty()).then(|| Message::Tool(Arc::new(results))));
        round
    })
}

fn transcript() -> impl Strategy<Value = Vec<Message>> {
    let step = prop_oneof![user().prop_map(|message| vec![message]), answer()];
    let steps = prop::collection::vec(step, 0..8);
    (user(), steps).prop_map(|(first, steps)| {
        let steps = steps.into_iter().flatten();
        std::iter::once(first).chain(steps).collect()
    })
}

pub fn head(api: ApiKind, system: &str) -> Head {
    let spec = |name: &str, schema: &str| {
        Arc::new(ToolSpec {
            name: name.into(),
            description: "Looks.\n\"Well\"".into(),
            input_schema: schema.into(),
        })
    };
    Head {
        api,
        model: "m".into(),
        system: system.into(),
        tools: vec![
            spec("look", r#"{"type":"object","properties":{"z":{},"a":{}}}"#),
            spec("write", "no schema"),
        ],
        options: Options {
            max_tokens: 4096,
            temperature: Some(0.2),
            effort: None,
            context_window: Some(32768),
        },
    }
}

proptest! {
    #![proptest_config(tries(150))]

    #[test]
    fn law_prefix_every_codec_only_adds_to_what_was_sent(
        messages in transcript(),
        system in prop_oneof![Just(""), Just("Be \"kind\"")],
    ) {
        for kind in APIS {
            let (api, head) = (api(kind).unwrap(), head(kind, system));
            for delivery in [Delivery::Stream, Delivery::Whole] {
                let tail = tail(kind, delivery);
                let bodies: Vec<String> = (1..=messages.len())
                    .map(|count| body(api, &head, &messages[..count], delivery))
                    .collect();
                for (shorter, longer) in bodies.iter().zip(&bodies[1..]) {
                    let (kept, longer) = (stable(shorter, tail), longer.replace(MARKER, ""));
                    prop_assert!(longer.starts_with(&kept), "{kind:?}\n{kept}\n{longer}");
                }
                for body in bodies {
                    well_formed(kind, &body)?;
                }
            }
        }
    }
}

/// One JSON document whose messages are what the strictest servers take.
fn well_formed(kind: ApiKind, body: &str) -> Result<(), TestCaseError> {
    let value: serde_json::Value = serde_json::from_str(body).unwrap();
    let messages = value["messages"].as_array().unwrap();
    let mut before = "";
    for message in messages {
        let role = message["role"].as_str().unwrap();
        let repeats = role == before && matches!(role, "user" | "assistant");
        if kind == ApiKind::AnthropicMessages {
            prop_assert!(!repeats, "two of {role} in a row: {body}");
            anthropic_blocks(message, body)?;
        } else if role == "user" && message["content"].is_string() && repeats {
            let pictures = messages
                .iter()
                .any(|one| one["content"].is_array() || one["images"].is_array());
            prop_assert!(pictures, "two texts in a row: {body}");
        }
        before = role;
    }
    let marks = body.matches("cache_control").count();
    prop_assert!(marks <= 4, "{marks} cache markers: {body}");
    prop_assert_eq!(marks > 0, kind == ApiKind::AnthropicMessages);
    Ok(())
}

fn anthropic_blocks(message: &serde_json::Value, body: &str) -> Result<(), TestCaseError> {
    for block in message["content"].as_array().unwrap() {
        match block["type"].as_str().unwrap() {
            "text" => {
                let text = block["text"].as_str().unwrap();
                prop_assert!(!text.trim().is_empty(), "an empty text: {body}");
            }
            "tool_use" => {
                prop_assert!(block["input"].is_object(), "{body}");
                let id = block["id"].as_str().unwrap();
                let plain = |symbol: char| symbol.is_ascii_alphanumeric() || "_-".contains(symbol);
                prop_assert!(id.chars().all(plain), "{id}");
            }
            "thinking" => prop_assert_eq!(&block["signature"], "s"),
            _ => {}
        }
    }
    Ok(())
}
