//! What is sent: one conversation on each wire, beside hand-written requests.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use hames_types::*;
use hames_wire::{Delivery, api};
use serde_json::{Value, json};

use crate::prefix::{APIS, body, head};

fn user(content: Vec<Content>) -> Message {
    let origin = Origin::Human;
    Message::User(Arc::new(UserMessage { content, origin }))
}

fn says(text: &str) -> Message {
    user(Content::text(text))
}

fn answer(blocks: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(AssistantMessage {
        blocks,
        stop: StopReason::ToolUse,
        usage: Usage::default(),
    }))
}

fn plain(kind: BlockKind) -> Block {
    Block { kind, echo: None }
}

fn text(text: &str) -> Block {
    let text = text.to_owned();
    plain(BlockKind::Text { text })
}

fn tool_call(id: &str, input: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "look".into(),
        input: input.into(),
    }
}

fn call(id: &str, input: &str) -> Block {
    plain(BlockKind::ToolCall(tool_call(id, input)))
}

fn results(answers: &[(&str, ResultStatus, Vec<Content>)]) -> Message {
    let calls: Vec<ToolCall> = answers.iter().map(|(id, ..)| tool_call(id, "{}")).collect();
    let closed = ToolResults::close(&calls, |index, id| {
        let (_, status, content) = answers[index].clone();
        let call = id.clone();
        ToolResult {
            call,
            status,
            content,
        }
        .into()
    });
    Message::Tool(Arc::new(closed))
}

fn thought(api: ApiKind, model: &str, json: &str) -> Block {
    let text = "hm".to_owned();
    Block {
        kind: BlockKind::Reasoning { text },
        echo: Some(Echo {
            api,
            model: model.into(),
            json: json.into(),
        }),
    }
}

fn sent(kind: ApiKind, messages: &[Message]) -> Value {
    let head = head(kind, "");
    let body = body(api(kind).unwrap(), &head, messages, Delivery::Stream);
    serde_json::from_str(&body).unwrap()
}

fn sent_messages(kind: ApiKind, messages: &[Message]) -> Value {
    let mut value = sent(kind, messages)["messages"].take();
    for message in value.as_array_mut().unwrap() {
        let blocks = message["content"].as_array_mut();
        for block in blocks.into_iter().flatten() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    value
}

/// A round of two calls, of which one failed, and what the user says then, twice.
fn conversation() -> Vec<Message> {
    vec![
        says("Hi"),
        answer(vec![
            text("I look."),
            call("a", r#"{"z":1,"a":[2.50]}"#),
            call("b", ""),
        ]),
        results(&[
            ("a", ResultStatus::Ok, Content::text("found")),
            ("b", ResultStatus::Denied, Content::text("not allowed")),
        ]),
        says("Go on."),
        says("Please."),
    ]
}

#[test]
fn req_p09_tool_results_have_the_form_of_each_wire() {
    let calls = json!([
        {"id": "a", "type": "function", "function": {"name": "look", "arguments": r#"{"z":1,"a":[2.50]}"#}},
        {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
    ]);
    assert_eq!(
        sent_messages(ApiKind::OpenaiChat, &conversation()),
        json!([
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "I look.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": "found"},
            {"role": "tool", "tool_call_id": "b", "content": "not allowed"},
            {"role": "user", "content": "Go on.\n\nPlease."},
        ])
    );
    let calls = json!([
        {"id": "a", "function": {"name": "look", "arguments": {"z": 1, "a": [2.5]}}},
        {"id": "b", "function": {"name": "look", "arguments": {}}},
    ]);
    assert_eq!(
        sent_messages(ApiKind::OllamaChat, &conversation()),
        json!([
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "I look.", "tool_calls": calls},
            {"role": "tool", "content": "found", "tool_call_id": "a"},
            {"role": "tool", "content": "not allowed", "tool_call_id": "b"},
            {"role": "user", "content": "Go on.\n\nPlease."},
        ])
    );
}

#[test]
fn fault_a11_all_results_of_a_round_are_one_message_before_any_text() {
    assert_eq!(
        sent_messages(ApiKind::AnthropicMessages, &conversation()),
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "look", "input": {"z": 1, "a": [2.5]}},
                {"type": "tool_use", "id": "b", "name": "look", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "found"}]},
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "not allowed"}], "is_error": true},
                {"type": "text", "text": "Go on."},
                {"type": "text", "text": "Please."},
            ]},
        ])
    );
}

/// Also E-03 as far as a codec can hold it: results name the calls of their round, in order.
#[test]
fn req_e03_every_call_that_is_sent_has_its_one_result_after_it() {
    for kind in APIS {
        let sent = sent_messages(kind, &conversation()).to_string();
        for (id, answer) in [("a", "found"), ("b", "not allowed")] {
            let call = sent.find(&format!(r#""id":"{id}""#)).unwrap();
            let named = [format!(r#"_id":"{id}""#), format!(r#"_use_id":"{id}""#)];
            let place = named.iter().find_map(|named| sent.find(named)).unwrap();
            assert!(call < place, "{kind:?}: {sent}");
            assert_eq!(sent.matches(answer).count(), 1, "{kind:?}: {sent}");
        }
    }
}

#[test]
fn schemas_and_arguments_are_sent_as_they_were_written() {
    for kind in APIS {
        let head = head(kind, "");
        let body = body(api(kind).unwrap(), &head, &conversation(), Delivery::Whole);
        let schema = r#"{"type":"object","properties":{"z":{},"a":{}}}"#;
        assert!(body.contains(schema), "{kind:?}: {body}");
        let input = match kind {
            ApiKind::OpenaiChat => r#"{\"z\":1,\"a\":[2.50]}"#,
            _ => r#"{"z":1,"a":[2.50]}"#,
        };
        assert!(body.contains(input), "{kind:?}: {body}");
    }
}

/// P-06 on the way out: what is no object would have every later request refused.
#[test]
fn arguments_that_are_no_object_are_sent_as_one_fixed_object() {
    for bad in ["{\"a\":", "[1]", "7", "look!", "\"{}\""] {
        let messages = [says("Hi"), answer(vec![call("a", bad)])];
        for kind in APIS {
            let sent = sent_messages(kind, &messages);
            let arguments = match kind {
                ApiKind::OpenaiChat => {
                    let text = &sent[1]["tool_calls"][0]["function"]["arguments"];
                    serde_json::from_str(text.as_str().unwrap()).unwrap()
                }
                ApiKind::OllamaChat => sent[1]["tool_calls"][0]["function"]["arguments"].clone(),
                _ => sent[1]["content"][0]["input"].clone(),
            };
            let fixed = json!({"error": "the arguments were not a JSON object"});
            assert_eq!(arguments, fixed, "{kind:?} {bad}");
        }
    }
}

#[test]
fn req_p08_a_message_of_calls_alone_is_sent_again_with_null_content() {
    let sent = sent_messages(
        ApiKind::OpenaiChat,
        &[says("Hi"), answer(vec![call("a", "{}")])],
    );
    assert_eq!(sent[1]["content"], Value::Null);
    assert!(sent[1].get("content").is_some());
}

const SIGNED: &str = r#"{"type":"thinking","thinking":"h\u00e4 \"m\"","signature":"c2ln"}"#;

#[test]
fn fault_a14_thinking_goes_back_byte_for_byte_or_not_at_all() {
    let kind = ApiKind::AnthropicMessages;
    let signed = thought(kind, "m", SIGNED);
    let unsigned = plain(BlockKind::Reasoning { text: "hm".into() });
    let messages = [
        says("Hi"),
        answer(vec![signed, unsigned, text("So."), call("a", "{}")]),
    ];
    let head = head(kind, "");
    let sent = body(api(kind).unwrap(), &head, &messages, Delivery::Stream);
    let blocks = format!(
        r#""content":[{SIGNED},{{"type":"text","text":"So."}},{{"type":"tool_use","id":"a""#
    );
    assert!(sent.contains(&blocks), "{sent}");
}

#[test]
fn fault_a15_what_another_model_signed_is_left_out_and_its_text_kept() {
    let kind = ApiKind::AnthropicMessages;
    let cited = r#"{"type":"text","text":"So.","citations":[{"x":1}]}"#;
    let mut foreign_text = text("So.");
    foreign_text.echo = thought(kind, "another", cited).echo;
    let own_text = Block {
        echo: thought(kind, "m", cited).echo,
        ..text("So.")
    };
    let opaque = |model: &str| Block {
        kind: BlockKind::Opaque,
        echo: thought(kind, model, r#"{"type":"x"}"#).echo,
    };
    let messages = [
        says("Hi"),
        answer(vec![
            thought(kind, "another", SIGNED),
            thought(ApiKind::OpenaiChat, "m", SIGNED),
            foreign_text,
            opaque("another"),
            own_text,
            opaque("m"),
        ]),
    ];
    assert_eq!(
        sent_messages(kind, &messages)[1]["content"],
        json!([
            {"type": "text", "text": "So."},
            {"type": "text", "text": "So.", "citations": [{"x": 1}]},
            {"type": "x"},
        ])
    );
}

/// Reasoning and the calls that came of it are one message, so nothing can come between them.
#[test]
fn fault_a19_reasoning_goes_back_with_what_followed_it_in_its_own_field() {
    let echoes = [
        (
            r#"{"reasoning_content":"hm"}"#,
            json!({"reasoning_content": "hm"}),
        ),
        (r#"{"reasoning":"hm"}"#, json!({"reasoning": "hm"})),
        (
            r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#,
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}),
        ),
    ];
    for (echo, field) in echoes {
        let thought = thought(ApiKind::OpenaiChat, "m", echo);
        let messages = [says("Hi"), answer(vec![thought, call("a", "{}")])];
        let mut expected = json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        });
        let fields = field.as_object().unwrap().clone();
        expected.as_object_mut().unwrap().extend(fields);
        assert_eq!(sent_messages(ApiKind::OpenaiChat, &messages)[1], expected);
    }
    let parts = r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}"#;
    let messages = [
        says("Hi"),
        answer(vec![thought(ApiKind::OpenaiChat, "m", parts), text("So.")]),
    ];
    assert_eq!(
        sent_messages(ApiKind::OpenaiChat, &messages)[1]["content"],
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "So."}])
    );
    let thought = thought(ApiKind::OllamaChat, "m", r#"{"thinking":"hm"}"#);
    let messages = [says("Hi"), answer(vec![thought, text("So.")])];
    assert_eq!(
        sent_messages(ApiKind::OllamaChat, &messages)[1],
        json!({"role": "assistant", "content": "So.", "thinking": "hm"})
    );
}

fn image(base64: &str) -> Content {
    let (media_type, base64) = ("image/png".to_owned(), base64.into());
    Content::Image { media_type, base64 }
}

#[test]
fn pictures_and_documents_are_sent_where_the_wire_has_them_and_told_where_not() {
    let pdf = Content::Document {
        media_type: "application/pdf".into(),
        base64: "aGFt".into(),
    };
    let told = "[a document (application/pdf) was left out here: it cannot be sent to this model]";
    let messages = [user(vec![
        Content::Text { text: "See".into() },
        image("aGFt"),
        pdf,
    ])];
    let url = "data:application/pdf;base64,aGFt";
    assert_eq!(
        sent_messages(ApiKind::OpenaiChat, &messages),
        json!([{"role": "user", "content": [
            {"type": "text", "text": "See"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGFt"}},
            {"type": "file", "file": {"filename": "document.pdf", "file_data": url}},
        ]}])
    );
    let source = |media: &str| json!({"type": "base64", "media_type": media, "data": "aGFt"});
    assert_eq!(
        sent_messages(ApiKind::AnthropicMessages, &messages),
        json!([{"role": "user", "content": [
            {"type": "text", "text": "See"},
            {"type": "image", "source": source("image/png")},
            {"type": "document", "source": source("application/pdf")},
        ]}])
    );
    assert_eq!(
        sent_messages(ApiKind::OllamaChat, &messages),
        json!([{"role": "user", "content": format!("See\n{told}"), "images": ["aGFt"]}])
    );
}

#[test]
fn fault_a17_a_picture_that_no_server_can_read_is_told_and_not_sent() {
    let told = "[an image (image/png) was left out here: it cannot be sent to this model]";
    for broken in ["aGäm", "aG", "a b=", "", "aGFt===="] {
        let messages = [user(vec![image(broken)])];
        for kind in APIS {
            let sent = sent_messages(kind, &messages).to_string();
            assert!(sent.contains(told), "{kind:?} {broken}: {sent}");
        }
    }
    // In a tool's result, too: there the wire of chat has no pictures at all.
    let results = results(&[("a", ResultStatus::Ok, vec![image("aGFt")])]);
    let messages = [says("Hi"), answer(vec![call("a", "{}")]), results];
    let sent = |kind| sent_messages(kind, &messages);
    assert_eq!(sent(ApiKind::OpenaiChat)[2]["content"], told);
    let block = &sent(ApiKind::AnthropicMessages)[2]["content"][0]["content"][0];
    assert_eq!(block["source"]["data"], "aGFt");
}

#[test]
fn empty_text_is_never_sent_where_it_would_be_refused() {
    let kind = ApiKind::AnthropicMessages;
    let results = results(&[("a", ResultStatus::Ok, Content::text(" "))]);
    let messages = [
        says(" \n"),
        answer(vec![text(""), call("a", "{}")]),
        results,
        answer(vec![text("  ")]),
        says("Go on."),
    ];
    assert_eq!(
        sent_messages(kind, &messages),
        json!([
            {"role": "user", "content": [{"type": "text", "text": "(empty)"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a"},
                {"type": "text", "text": "Go on."},
            ]},
        ])
    );
}

#[test]
fn ids_and_names_from_elsewhere_are_sent_in_letters_that_are_taken() {
    let odd = plain(BlockKind::ToolCall(ToolCall {
        id: "functions.look:0".into(),
        name: "run this/ü".into(),
        input: "{}".into(),
    }));
    let results = results(&[("functions.look:0", ResultStatus::Ok, Content::text("ok"))]);
    let messages = [says("Hi"), answer(vec![odd]), results];
    let sent = sent_messages(ApiKind::AnthropicMessages, &messages);
    assert_eq!(sent[1]["content"][0]["id"], "functions_2elook_3a0");
    assert_eq!(sent[1]["content"][0]["name"], "run_this__");
    assert_eq!(sent[2]["content"][0]["tool_use_id"], "functions_2elook_3a0");
}

#[test]
fn cache_markers_stand_at_the_end_of_this_request_and_of_the_one_before() {
    let head = head(ApiKind::AnthropicMessages, "Be kind");
    let body = body(
        api(head.api).unwrap(),
        &head,
        &conversation(),
        Delivery::Stream,
    );
    let value: Value = serde_json::from_str(&body).unwrap();
    let marker = json!({"type": "ephemeral"});
    assert_eq!(value["system"][0]["cache_control"], marker);
    assert_eq!(value["messages"][0]["content"][0]["cache_control"], marker);
    assert_eq!(value["messages"][2]["content"][3]["cache_control"], marker);
    assert_eq!(body.matches("cache_control").count(), 3);
}

fn first_bytes(kind: ApiKind, model: &str, effort: Option<&str>, max_tokens: u32) -> Value {
    let mut head = head(kind, "");
    head.model = model.into();
    head.options.effort = effort.map(str::to_owned);
    head.options.max_tokens = max_tokens;
    let body = body(api(kind).unwrap(), &head, &[says("Hi")], Delivery::Stream);
    let mut value: Value = serde_json::from_str(&body).unwrap();
    let fields = value.as_object_mut().unwrap();
    fields.retain(|name, _| !matches!(name.as_str(), "messages" | "tools" | "model" | "stream"));
    value
}

#[test]
fn effort_and_caps_are_said_as_each_wire_and_model_has_them() {
    let chat = |model, effort| first_bytes(ApiKind::OpenaiChat, model, effort, 4096);
    let usage = json!({"include_usage": true});
    assert_eq!(
        chat("gpt-5", Some("high")),
        json!({"max_completion_tokens": 4096, "temperature": 0.2, "reasoning_effort": "high", "stream_options": usage})
    );
    for (model, field) in [
        ("o3-mini", "max_completion_tokens"),
        ("ft:gpt-4.1:x", "max_completion_tokens"),
        ("gpt-oss-20b", "max_tokens"),
        ("olmo-2", "max_tokens"),
        ("qwen3", "max_tokens"),
    ] {
        assert_eq!(chat(model, None)[field], 4096, "{model}");
    }
    let claude = |model, effort, cap| first_bytes(ApiKind::AnthropicMessages, model, effort, cap);
    assert_eq!(
        claude("claude-opus-4-8", None, 4096),
        json!({"max_tokens": 4096, "temperature": 0.2})
    );
    assert_eq!(
        claude("claude-opus-4-8", Some("low"), 4096),
        json!({"max_tokens": 4096, "thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}})
    );
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    assert_eq!(
        claude("claude-sonnet-4-5-20250929", Some("high"), 4096),
        json!({"max_tokens": 4096, "thinking": budget(2048)})
    );
    assert_eq!(
        claude("claude-haiku-4-5", Some("low"), 64000)["thinking"],
        budget(2048)
    );
    assert_eq!(
        claude("claude-haiku-4-5", Some("low"), 1000),
        json!({"max_tokens": 1000, "temperature": 0.2})
    );
    let ollama = |model, effort| first_bytes(ApiKind::OllamaChat, model, effort, 4096);
    let options = json!({"num_predict": 4096, "num_ctx": 32768, "temperature": 0.2});
    assert_eq!(
        ollama("qwen3:4b", Some("high")),
        json!({"think": true, "options": options})
    );
    assert_eq!(ollama("qwen3:4b", Some("none"))["think"], false);
    assert_eq!(ollama("gpt-oss:20b", Some("low"))["think"], "low");
    assert_eq!(ollama("gpt-oss:20b", None), json!({"options": options}));
}

#[test]
fn heads_hold_system_and_tools_where_each_wire_has_them() {
    for kind in APIS {
        let head = head(kind, "Be \"kind\"");
        let body = body(api(kind).unwrap(), &head, &[says("Hi")], Delivery::Whole);
        let value: Value = serde_json::from_str(&body).unwrap();
        let (system, tool) = match kind {
            ApiKind::AnthropicMessages => (&value["system"][0]["text"], value["tools"][0].clone()),
            _ => (
                &value["messages"][0]["content"],
                value["tools"][0]["function"].clone(),
            ),
        };
        assert_eq!(system, "Be \"kind\"", "{kind:?}");
        assert_eq!(tool["name"], "look", "{kind:?}");
        assert_eq!(tool["description"], "Looks.\n\"Well\"", "{kind:?}");
        // A schema that is no JSON would have every request refused.
        let schema = match kind {
            ApiKind::AnthropicMessages => &value["tools"][1]["input_schema"],
            _ => &value["tools"][1]["function"]["parameters"],
        };
        assert_eq!(
            schema,
            &json!({"type": "object", "properties": {}}),
            "{kind:?}"
        );
    }
}

/// P-01: nothing is remembered: without its history, a request holds the new message alone.
#[test]
fn req_p01_a_request_holds_what_it_is_given_and_nothing_else() {
    for kind in APIS {
        let first = sent(kind, &[says("My name is Ada.")]).to_string();
        let second = sent(kind, &[says("What is my name?")]).to_string();
        assert!(first.contains("Ada"));
        assert!(!second.contains("Ada"), "{kind:?}: {second}");
    }
}
