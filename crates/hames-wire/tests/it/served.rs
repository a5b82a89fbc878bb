//! The wires' server sides beside their client sides: both mean the same.

use std::sync::Arc;

use hames_types::{
    ApiKind, AssistantMessage, Block, BlockKind, CallId, Content, Head, Message, ModelEvent,
    Options, Origin, ProviderErrorKind, RawJson, Request, ResultStatus, StopReason, ToolCall,
    ToolResult, ToolResults, ToolSpec, Usage, UserMessage,
};
use hames_wire::{
    Delivery,
    request::{Refusal, ServedMessage, ServedRequest, ServedResult},
    served::{Template, served},
};
use serde_json::{Value, json};

use crate::refusals::verdict;

const KINDS: [ApiKind; 3] = [
    ApiKind::OpenaiChat,
    ApiKind::AnthropicMessages,
    ApiKind::OllamaChat,
];

/// What the client makes of an error is what the server meant by it.
#[test]
fn the_client_reads_each_error_as_it_was_meant() {
    use ProviderErrorKind::*;
    let table = [
        (RateLimited, 429, "slow down", &KINDS[..]),
        (Overloaded, 503, "busy", &KINDS),
        (Overloaded, 529, "overloaded", &KINDS),
        (Auth, 401, "invalid api key", &KINDS),
        (Rejected, 400, "no such thing", &KINDS),
        (
            ContextOverflow,
            400,
            "prompt is too long: 300 tokens > 200 maximum",
            &KINDS,
        ),
        (
            QuotaExceeded,
            429,
            "You exceeded your current quota",
            &[ApiKind::OpenaiChat],
        ),
    ];
    for (kind, status, message, wires) in table {
        for wire in wires {
            let refusal = Refusal {
                status,
                kind,
                ..Refusal::bad(message)
            };
            let response = served(*wire).unwrap().encode_error(&refusal);
            let client = hames_wire::api(*wire).unwrap();
            let read = client.classify_error(response.status, &response.body);
            assert_eq!(
                (read.kind, read.status),
                (kind, Some(status)),
                "{wire:?} {message}"
            );
        }
    }
}

fn head(kind: ApiKind) -> Head {
    let schema = RawJson::from(
        r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}"#,
    );
    let tool = |name: &str| {
        Arc::new(ToolSpec {
            name: name.into(),
            description: "does \"it\"".into(),
            input_schema: schema.clone(),
        })
    };
    Head {
        api: kind,
        model: "m".into(),
        system: "You are a test.\nBe brief.".into(),
        tools: vec![tool("bash"), tool("read")],
        options: Options {
            max_tokens: 4096,
            temperature: Some(0.5),
            effort: None,
            context_window: None,
        },
    }
}

fn user(origin: Origin, text: &str) -> Message {
    Message::User(Arc::new(UserMessage::text(origin, text)))
}

fn assistant(blocks: Vec<BlockKind>) -> Message {
    let blocks = blocks
        .into_iter()
        .map(|kind| Block { kind, echo: None })
        .collect();
    Message::Assistant(Arc::new(AssistantMessage {
        blocks,
        stop: StopReason::ToolUse,
        usage: Usage::default(),
    }))
}

fn call(id: &str, input: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "bash".into(),
        input: input.into(),
    }
}

fn results(calls: &[ToolCall], texts: &[(&str, ResultStatus)]) -> Message {
    let results = ToolResults::close(calls, |index, id| {
        Arc::new(ToolResult::text(id, texts[index].1, texts[index].0))
    });
    Message::Tool(Arc::new(results))
}

fn encoded(kind: ApiKind, messages: &[Message], delivery: Delivery) -> Vec<u8> {
    let (head, wire) = (head(kind), hames_wire::api(kind).unwrap());
    let head_bytes = wire.encode_head(&head);
    let messages: Vec<_> = messages
        .iter()
        .map(|message| wire.encode_message(&head, message))
        .collect();
    let request = Request {
        head: &head,
        head_bytes: &head_bytes,
        messages: &messages,
    };
    wire.body(&request, delivery).concat()
}

/// Text and calls, in one line each, however a wire folds its neighbours.
fn meaning(messages: &[ServedMessage]) -> Vec<String> {
    let text = |content: &[Content]| {
        let texts: Vec<_> = content.iter().filter_map(Content::as_text).collect();
        texts
            .join("\n")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut lines: Vec<String> = Vec::new();
    for message in messages {
        match message {
            ServedMessage::User(content) => {
                match lines.last_mut().filter(|line| line.starts_with("user: ")) {
                    Some(line) => *line = format!("{line} {}", text(content)),
                    None => lines.push(format!("user: {}", text(content))),
                }
            }
            ServedMessage::Assistant(blocks) => {
                lines.extend(blocks.iter().filter_map(|block| match &block.kind {
                    BlockKind::Text { text } => Some(format!("text: {text}")),
                    BlockKind::Reasoning { .. } | BlockKind::Opaque => None,
                    BlockKind::ToolCall(call) => {
                        let input: Value = call.input.parse().unwrap();
                        Some(format!("call {}: {} {input}", call.id.0, call.name))
                    }
                }))
            }
            ServedMessage::Tool(results) => lines.extend(
                results
                    .iter()
                    .map(|result| format!("result {}: {}", result.call.0, text(&result.content))),
            ),
        }
    }
    lines
}

fn histories() -> Vec<Vec<Message>> {
    let (one, two) = (call("a", r#"{"command":"ls \"x\" é"}"#), call("b", ""));
    let calls = [one.clone(), two.clone()];
    let asked = assistant(vec![
        BlockKind::Reasoning { text: "hm".into() },
        BlockKind::Text {
            text: "Let me look.".into(),
        },
        BlockKind::ToolCall(one.clone()),
        BlockKind::ToolCall(two),
    ]);
    let answered = results(
        &calls,
        &[
            ("out", ResultStatus::Ok),
            ("failed: \u{1}", ResultStatus::Error),
        ],
    );
    let again = call("c", "{}");
    let asked_again = assistant(vec![BlockKind::ToolCall(again.clone())]);
    let empty = results(&[again], &[("", ResultStatus::Ok)]);
    let said = assistant(vec![BlockKind::Text {
        text: "done ".into(),
    }]);
    vec![
        vec![user(Origin::Human, "go")],
        vec![
            user(Origin::Human, "go"),
            user(Origin::Shape, "Plan first."),
        ],
        vec![user(Origin::Human, "go"), asked.clone(), answered.clone()],
        vec![
            user(Origin::Human, "go"),
            asked.clone(),
            answered.clone(),
            user(Origin::Hook, "a remark"),
            user(Origin::Inform, "3 turns left"),
        ],
        vec![
            user(Origin::Human, "go"),
            asked,
            answered,
            asked_again,
            empty,
            said,
            user(Origin::Human, "next"),
        ],
        vec![
            user(Origin::Summary, "Summary so far"),
            user(Origin::Human, "go"),
            assistant(vec![BlockKind::Text { text: "yes".into() }]),
            user(Origin::Human, "on"),
        ],
    ]
}

#[test]
fn what_the_client_writes_is_taken_and_means_the_same() {
    for kind in KINDS {
        for (index, history) in histories().iter().enumerate() {
            for template in [Template::Lenient, Template::Strict] {
                let body = encoded(kind, history, Delivery::Stream);
                let request = served(kind).unwrap().decode_request(&body, template);
                let request = request.unwrap_or_else(|refusal| {
                    panic!(
                        "{kind:?} {index}: {refusal:?}\n{}",
                        String::from_utf8_lossy(&body)
                    )
                });
                let own: Vec<_> = history.iter().map(ServedMessage::from).collect();
                assert_eq!(
                    meaning(&request.messages),
                    meaning(&own),
                    "{kind:?} {index}"
                );
                assert!(request.stream, "{kind:?}");
            }
        }
    }
}

#[test]
fn the_head_arrives_whole() {
    for kind in KINDS {
        let body = encoded(kind, &[user(Origin::Human, "go")], Delivery::Whole);
        let request = served(kind)
            .unwrap()
            .decode_request(&body, Template::Lenient)
            .unwrap();
        let head = head(kind);
        assert_eq!(request.system, [head.system.to_string()]);
        assert_eq!(
            (
                request.model.as_str(),
                request.max_tokens,
                request.temperature,
                request.stream
            ),
            ("m", Some(4096), Some(0.5), false),
            "{kind:?}"
        );
        let tool = |spec: &ToolSpec| {
            let schema: Value = spec.input_schema.parse().unwrap();
            (spec.name.clone(), spec.description.clone(), schema)
        };
        let sent: Vec<_> = head.tools.iter().map(|spec| tool(spec)).collect();
        assert_eq!(
            request.tools.iter().map(tool).collect::<Vec<_>>(),
            sent,
            "{kind:?}"
        );
        let surprises: Vec<_> = request
            .extras
            .iter()
            .map(|(key, _)| key.as_str())
            .filter(|key| *key != "options")
            .collect();
        assert_eq!(surprises, [""; 0], "{kind:?}");
    }
}

#[test]
fn failed_results_say_so_where_the_wire_can() {
    let calls = [call("a", "{}")];
    let history = [
        user(Origin::Human, "go"),
        assistant(vec![BlockKind::ToolCall(calls[0].clone())]),
        results(&calls, &[("no", ResultStatus::Denied)]),
    ];
    let body = encoded(ApiKind::AnthropicMessages, &history, Delivery::Stream);
    let request = served(ApiKind::AnthropicMessages)
        .unwrap()
        .decode_request(&body, Template::Lenient)
        .unwrap();
    let denied = ServedResult {
        call: CallId::from("a"),
        is_error: true,
        content: Content::text("no"),
    };
    assert_eq!(
        request.messages.last(),
        Some(&ServedMessage::Tool(vec![denied]))
    );
}

/// What a client makes of an answer: reasoning, text, calls, stop and usage.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    reasoning: String,
    text: String,
    calls: Vec<(String, String, String)>,
    stop: Option<StopReason>,
    usage: Usage,
}

fn heard(events: &[ModelEvent]) -> Heard {
    let mut heard = Heard::default();
    let mut blocks = Vec::new();
    for event in events {
        match event {
            ModelEvent::TextDelta { text, .. } => heard.text += text,
            ModelEvent::ReasoningDelta { text, .. } => heard.reasoning += text,
            ModelEvent::CallStarted { block, id, name } => {
                blocks.push(*block);
                heard.calls.push((id.clone(), name.clone(), String::new()));
            }
            ModelEvent::CallInputDelta { block, json } => {
                let place = blocks.iter().position(|known| known == block);
                heard.calls[place.unwrap()].2 += json;
            }
            ModelEvent::BlockEcho { .. } => {}
            ModelEvent::Usage(usage) => heard.usage = *usage,
            ModelEvent::Finished(stop) => heard.stop = Some(*stop),
        }
    }
    heard
}

fn answers() -> Vec<Vec<ModelEvent>> {
    let text = |block, text: &str| ModelEvent::TextDelta {
        block,
        text: text.into(),
    };
    let started = |block, id: &str| ModelEvent::CallStarted {
        block,
        id: id.into(),
        name: "bash".into(),
    };
    let input = |block, json: &str| ModelEvent::CallInputDelta {
        block,
        json: json.into(),
    };
    let usage = ModelEvent::Usage(Usage {
        input: 11,
        output: 7,
        ..Usage::default()
    });
    let end = |mut events: Vec<ModelEvent>, stop| {
        events.extend([usage.clone(), ModelEvent::Finished(stop)]);
        events
    };
    vec![
        end(
            vec![text(0, "he"), text(0, "llo \u{1f600}")],
            StopReason::EndTurn,
        ),
        end(
            vec![
                ModelEvent::ReasoningDelta {
                    block: 0,
                    text: "h".into(),
                },
                ModelEvent::ReasoningDelta {
                    block: 0,
                    text: "m".into(),
                },
                text(1, "Look."),
                started(2, "one"),
                input(2, r#"{"a":"#),
                input(2, r#""x"}"#),
                started(3, "two"),
                input(3, r#"{"b":1}"#),
            ],
            StopReason::ToolUse,
        ),
        end(vec![text(0, "half")], StopReason::MaxTokens),
    ]
}

fn request(kind: ApiKind) -> ServedRequest {
    ServedRequest::new(kind, "m")
}

fn decode(kind: ApiKind, delivery: Delivery, pieces: &[Vec<u8>]) -> Vec<ModelEvent> {
    let mut decoder = hames_wire::api(kind).unwrap().decoder(delivery);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece, &mut events).unwrap();
    }
    decoder.finish(&mut events).unwrap();
    events
}

/// Ollama says `stop` whether it asks for tools or not; its client tells by the calls.
#[test]
fn what_the_server_streams_is_what_the_client_hears() {
    for kind in KINDS {
        for answer in answers() {
            let mut encoder = served(kind)
                .unwrap()
                .encoder(&request(kind), heard(&answer).usage);
            let mut pieces = encoder.begin();
            pieces.push(encoder.keep_alive());
            pieces.extend(answer.iter().flat_map(|event| encoder.event(event)));
            let events = decode(kind, Delivery::Stream, &pieces);
            assert_eq!(heard(&events), heard(&answer), "{kind:?}");
            let bytes: Vec<Vec<u8>> = pieces.concat().into_iter().map(|byte| vec![byte]).collect();
            assert_eq!(
                heard(&decode(kind, Delivery::Stream, &bytes)),
                heard(&answer),
                "{kind:?}, byte by byte"
            );
        }
    }
}

#[test]
fn what_the_server_says_whole_is_what_the_client_hears() {
    for kind in KINDS {
        for answer in answers() {
            let body = served(kind)
                .unwrap()
                .encode_whole(&request(kind), &answer)
                .unwrap();
            let events = decode(kind, Delivery::Whole, &[body]);
            assert_eq!(heard(&events), heard(&answer), "{kind:?}");
        }
    }
}

/// Clients join what has one id into one message.
#[test]
fn no_two_answers_of_a_conversation_have_the_same_id() {
    for kind in [ApiKind::OpenaiChat, ApiKind::AnthropicMessages] {
        let first = request(kind);
        let mut second = request(kind);
        second
            .messages
            .push(ServedMessage::User(Content::text("go")));
        let ids = |request: &ServedRequest| {
            let (server, answer) = (served(kind).unwrap(), &answers()[0]);
            let body = server.encode_whole(request, answer).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let id = body["id"].as_str().unwrap().to_owned();
            let mut encoder = server.encoder(request, Usage::default());
            let mut stream = encoder.begin();
            stream.extend(answer.iter().flat_map(|event| encoder.event(event)));
            let stream = String::from_utf8(stream.concat()).unwrap();
            assert!(stream.contains(&format!("\"{id}\"")), "{id} in {stream}");
            id
        };
        assert_ne!(ids(&first), ids(&second), "{kind:?}");
        assert_eq!(ids(&first), ids(&first), "{kind:?}");
    }
}

#[test]
fn invalid_arguments_are_carried_where_the_wire_can_carry_them() {
    let bad = [
        ModelEvent::CallStarted {
            block: 0,
            id: "one".into(),
            name: "bash".into(),
        },
        ModelEvent::CallInputDelta {
            block: 0,
            json: "{\"a\": nope".into(),
        },
        ModelEvent::Finished(StopReason::ToolUse),
    ];
    for kind in [ApiKind::OpenaiChat, ApiKind::AnthropicMessages] {
        let mut encoder = served(kind)
            .unwrap()
            .encoder(&request(kind), Usage::default());
        let mut pieces = encoder.begin();
        pieces.extend(bad.iter().flat_map(|event| encoder.event(event)));
        let heard = heard(&decode(kind, Delivery::Stream, &pieces));
        assert_eq!(
            heard.calls,
            [(
                "one".to_owned(),
                "bash".to_owned(),
                "{\"a\": nope".to_owned()
            )]
        );
    }
    let refused = served(ApiKind::OllamaChat)
        .unwrap()
        .encode_whole(&request(ApiKind::OllamaChat), &bad)
        .unwrap_err();
    assert_eq!(refused.status, 500);
    assert!(
        refused
            .message
            .contains("error parsing tool call: raw='{\"a\": nope'"),
        "{}",
        refused.message
    );
}

/// Thinking that the server signed comes back as it went out, or is refused.
#[test]
fn signed_thinking_survives_a_round_and_no_change() {
    let kind = ApiKind::AnthropicMessages;
    let answer = &answers()[1];
    let body = served(kind)
        .unwrap()
        .encode_whole(&request(kind), answer)
        .unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let results = json!([
        {"type": "tool_result", "tool_use_id": "one", "content": "1"},
        {"type": "tool_result", "tool_use_id": "two", "content": "2"},
    ]);
    let next = |content: &Value| {
        json!({"model": "m", "max_tokens": 2000, "messages": [
            {"role": "user", "content": "go"}, {"role": "assistant", "content": content}, {"role": "user", "content": results},
        ]})
    };
    assert_eq!(
        verdict(kind, Template::Lenient, &next(&body["content"])),
        "ok"
    );
    let mut changed = body["content"].clone();
    changed[0]["thinking"] = json!("hm!");
    let verdict = verdict(kind, Template::Lenient, &next(&changed));
    assert_eq!(
        verdict,
        "400 messages.1.content.0: Invalid `signature` in `thinking` block"
    );
}

/// Requests that the real services answered are taken.
#[test]
fn recorded_requests_that_were_answered_are_taken() {
    let captures =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    if !captures.is_dir() {
        eprintln!("skipped: there are no recordings beside this checkout");
        return;
    }
    let folders = [
        ("openai-chat", ApiKind::OpenaiChat),
        ("anthropic", ApiKind::AnthropicMessages),
        ("ollama", ApiKind::OllamaChat),
    ];
    let (mut taken, mut refused) = (0, Vec::new());
    for (folder, kind) in folders {
        let mut paths: Vec<_> = std::fs::read_dir(captures.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".request.json") else {
                continue;
            };
            let expected = path.with_file_name(format!("{stem}.expect.json"));
            let expected: Value =
                serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap();
            if expected["kind"] == "error" {
                continue;
            }
            match served(kind)
                .unwrap()
                .decode_request(&std::fs::read(&path).unwrap(), Template::Lenient)
            {
                Ok(_) => taken += 1,
                Err(refusal) => refused.push(format!("{name}: {}", refusal.message)),
            }
        }
    }
    eprintln!("{taken} recorded requests taken, {} refused", refused.len());
    // Other vendors take an empty list of tools, and tools that are no functions.
    let known = [
        "huggingface-simple-completion.request.json",
        "openrouter-web-search-annotations-stream.request.json",
    ];
    refused.retain(|line| !known.iter().any(|name| line.starts_with(name)));
    assert_eq!(refused, [""; 0], "{}", refused.join("\n"));
}
