//! What the wires' server sides refuse, in tables.

use hames_types::ApiKind;
use hames_wire::{
    request::Refusal,
    served::{Template, served},
};
use serde_json::{Value, json};

/// `ok`, or the status and the refusal as the client reads it.
pub fn verdict(kind: ApiKind, template: Template, body: &Value) -> String {
    let wire = served(kind).unwrap();
    match wire.decode_request(body.to_string().as_bytes(), template) {
        Ok(_) => "ok".to_owned(),
        Err(refusal) => {
            let response = wire.encode_error(&refusal);
            let body: Value = serde_json::from_slice(&response.body).unwrap();
            let error = &body["error"];
            let message = error["message"].as_str().or(error.as_str()).unwrap();
            format!("{} {message}", response.status)
        }
    }
}

fn check(kind: ApiKind, head: &Value, table: &[(Value, &str)]) {
    for (change, expected) in table {
        let mut body = head.clone();
        for (key, value) in change.as_object().unwrap() {
            body[key] = value.clone();
        }
        let found = verdict(kind, Template::Lenient, &body);
        let fits = match *expected {
            "ok" => found == "ok",
            part => found.starts_with("400 ") && found.contains(part),
        };
        assert!(fits, "{kind:?} {body}\nexpected {expected}\nfound {found}");
    }
}

fn messages(messages: Value) -> Value {
    json!({ "messages": messages })
}

#[test]
fn openai_refuses_what_the_service_refuses() {
    let head = json!({"model": "m", "messages": [{"role": "user", "content": "go"}]});
    let user = json!({"role": "user", "content": "go"});
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let asks = |ids: &[&str]| {
        let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let tool = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "out"});
    let says = json!({"role": "assistant", "content": "said"});
    let function = |function: Value| json!({"tools": [{"type": "function", "function": function}]});
    check(
        ApiKind::OpenaiChat,
        &head,
        &[
            (json!({}), "ok"),
            (
                messages(json!([
                    user,
                    asks(&["a", "b"]),
                    tool("b"),
                    tool("a"),
                    says,
                    user
                ])),
                "ok",
            ),
            (messages(json!([user, user])), "ok"),
            (messages(json!([])), "Invalid 'messages': empty array"),
            (
                messages(json!("go")),
                "Invalid type for 'messages': expected an array of objects, but got a string",
            ),
            (
                messages(json!([user, asks(&["a"])])),
                "tool_call_ids did not have response messages: a",
            ),
            (
                messages(json!([user, asks(&["a", "b"]), tool("a"), user])),
                "tool_call_ids did not have response messages: b",
            ),
            (
                messages(json!([user, asks(&["a"]), user, tool("a")])),
                "tool_call_ids did not have response messages: a",
            ),
            (
                messages(json!([user, tool("a")])),
                "must be a response to a preceeding message with 'tool_calls'",
            ),
            (
                messages(json!([user, says, tool("a")])),
                "must be a response to a preceeding message with 'tool_calls'",
            ),
            (
                messages(json!([user, asks(&["a"]), tool("a"), user, tool("a")])),
                "must be a response to a preceeding message",
            ),
            (
                messages(json!([user, asks(&["a"]), tool("b")])),
                "'tool_call_id' of 'b' not found in 'tool_calls'",
            ),
            (
                messages(json!([user, asks(&["a"]), tool("a"), tool("a")])),
                "Duplicate value for 'tool_call_id' of 'a'",
            ),
            (
                messages(json!([user, asks(&["a", "a"]), tool("a")])),
                "Duplicate value for 'tool_call_id' of 'a'",
            ),
            (
                messages(json!([user, asks(&["a"]), {"role": "tool", "content": "x"}])),
                "must have a 'tool_call_id'",
            ),
            (
                messages(json!([user, asks(&["a"]), {"role": "tool", "tool_call_id": "a"}])),
                "expected a string, got null",
            ),
            (
                messages(json!([user, {"role": "assistant", "content": null}])),
                "expected a string, got null",
            ),
            (
                messages(json!([user, {"role": "assistant"}])),
                "expected a string, got null",
            ),
            (
                messages(json!([user, {"role": "assistant", "content": "x", "tool_calls": []}])),
                "tool_calls': empty array",
            ),
            (
                messages(json!([{"role": "user", "content": null}])),
                "expected a string, got null",
            ),
            (
                messages(json!([{"role": "user", "content": []}])),
                "content': empty array",
            ),
            (
                messages(json!([{"role": "user", "content": [{"type": "poem"}]}])),
                "Invalid value: 'poem'",
            ),
            (
                messages(json!([{"role": "robot", "content": "x"}])),
                "Invalid value: 'robot'",
            ),
            (
                messages(json!([{"content": "x"}])),
                "Missing required parameter: 'messages[0].role'",
            ),
            (
                messages(
                    json!([user, {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}]}]),
                ),
                "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object",
            ),
            (
                messages(
                    json!([user, {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": ""}}]}]),
                ),
                "Missing required parameter: 'messages[1].tool_calls[0].id'",
            ),
            (
                function(json!({"name": "f", "parameters": {"type": "object"}})),
                "ok",
            ),
            (json!({"tools": []}), "Invalid 'tools': empty array"),
            (
                function(json!({"name": "a b"})),
                "Invalid 'tools[0].function.name'",
            ),
            (
                function(json!({"name": "f", "parameters": {"type": "string"}})),
                "Invalid schema for function 'f'",
            ),
            (
                json!({"tool_choice": "auto"}),
                "'tool_choice' is only allowed when 'tools' are specified",
            ),
            (
                json!({"stream_options": {"include_usage": true}}),
                "only allowed when 'stream' is enabled",
            ),
            (
                json!({"stream": true, "stream_options": {"include_usage": true}}),
                "ok",
            ),
            (
                json!({"max_tokens": 5, "max_completion_tokens": 5}),
                "at the same time is not supported",
            ),
            (
                json!({"max_tokens": 0}),
                "Invalid 'max_tokens': integer below minimum value",
            ),
            (
                json!({"temperature": 3}),
                "Invalid 'temperature': decimal above maximum value",
            ),
            (
                json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}),
                "json_schema.name",
            ),
        ],
    );
}

#[test]
fn anthropic_refuses_what_the_service_refuses() {
    let head =
        json!({"model": "m", "max_tokens": 2000, "messages": [{"role": "user", "content": "go"}]});
    let user = json!({"role": "user", "content": "go"});
    let asks = |ids: &[&str]| {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| json!({"type": "tool_use", "id": id, "name": "f", "input": {}}))
            .collect();
        json!({"role": "assistant", "content": calls})
    };
    let block = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "out"});
    let results = |ids: &[&str]| {
        let results: Vec<Value> = ids.iter().map(|id| block(id)).collect();
        json!({"role": "user", "content": results})
    };
    let text = json!({"type": "text", "text": "also"});
    let says = |text: &str| json!({"role": "assistant", "content": text});
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let thought = |signature: Value| {
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": signature},
            {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        ]})
    };
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let no_result = "`tool_use` ids were found without `tool_result` blocks immediately after: ";
    check(
        ApiKind::AnthropicMessages,
        &head,
        &[
            (json!({}), "ok"),
            (
                messages(json!([
                    user,
                    asks(&["a", "b"]),
                    results(&["b", "a"]),
                    says("done"),
                    user
                ])),
                "ok",
            ),
            (
                messages(json!([user, user, says("x"), says("y"), user])),
                "ok",
            ),
            (
                messages(
                    json!([user, asks(&["a"]), {"role": "user", "content": [block("a"), text]}]),
                ),
                "ok",
            ),
            (
                messages(
                    json!([user, asks(&["a"]), {"role": "user", "content": [text, block("a")]}]),
                ),
                no_result,
            ),
            (messages(json!([user, asks(&["a"])])), no_result),
            (messages(json!([user, asks(&["a"]), user])), no_result),
            (
                messages(json!([user, asks(&["a", "b"]), results(&["a"])])),
                "immediately after: b",
            ),
            (
                messages(json!([user, asks(&["a"]), says("x"), results(&["a"])])),
                no_result,
            ),
            (
                messages(json!([user, results(&["a"])])),
                "unexpected `tool_use_id` found in `tool_result` blocks: a",
            ),
            (
                messages(json!([user, asks(&["a"]), results(&["a", "b"])])),
                "unexpected `tool_use_id` found in `tool_result` blocks: b",
            ),
            (
                messages(json!([user, asks(&["a"]), results(&["a", "a"])])),
                "each tool_use must have a single result",
            ),
            (
                messages(json!([
                    user,
                    asks(&["a"]),
                    results(&["a"]),
                    asks(&["a"]),
                    results(&["a"])
                ])),
                "`tool_use` ids must be unique",
            ),
            (
                messages(json!([user, asks(&["a b"]), results(&["a b"])])),
                "should match pattern",
            ),
            (
                messages(json!([says("x"), user])),
                "first message must use the \"user\" role",
            ),
            (messages(json!([])), "at least one message is required"),
            (
                messages(json!([{"role": "system", "content": "x"}])),
                "Unexpected role \"system\"",
            ),
            (
                messages(json!([{"role": "user", "content": ""}])),
                "text content blocks must be non-empty",
            ),
            (
                messages(json!([{"role": "user", "content": [{"type": "text", "text": ""}]}])),
                "text content blocks must be non-empty",
            ),
            (
                messages(json!([{"role": "user", "content": " \n"}])),
                "must contain non-whitespace text",
            ),
            (
                messages(json!([{"role": "user", "content": []}])),
                "user messages must have non-empty content",
            ),
            (
                messages(json!([user, {"role": "assistant", "content": []}, user])),
                "all messages must have non-empty content",
            ),
            (
                messages(json!([user, says("a start ")])),
                "final assistant content cannot end with trailing whitespace",
            ),
            (messages(json!([user, says("a start")])), "ok"),
            (messages(json!([user, says("a start "), user])), "ok"),
            (
                messages(json!([{"role": "user", "content": "x", "name": "me"}])),
                "messages.0.name: Extra inputs are not permitted",
            ),
            (
                messages(
                    json!([user, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "{}"}]}]),
                ),
                "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
            ),
            (
                messages(json!([user, thought(json!("sig")), results(&["a"])])),
                "ok",
            ),
            (
                messages(json!([user, thought(Value::Null), results(&["a"])])),
                "thinking.signature: Field required",
            ),
            (
                messages(json!([user, thought(json!("")), results(&["a"])])),
                "Invalid `signature` in `thinking` block",
            ),
            (
                messages(json!([
                    user,
                    thought(json!("scripted-0000000000000000")),
                    results(&["a"])
                ])),
                "Invalid `signature` in `thinking` block",
            ),
            (
                json!({"thinking": thinking, "messages": [user, asks(&["a"]), results(&["a"])]}),
                "must start with a thinking block",
            ),
            (
                json!({"thinking": thinking, "messages": [user, asks(&["a"]), results(&["a"]), says("x"), user]}),
                "ok",
            ),
            (
                json!({"thinking": thinking, "messages": [user, thought(json!("sig")), results(&["a"])]}),
                "ok",
            ),
            (
                json!({"thinking": thinking, "max_tokens": 1024}),
                "`max_tokens` must be greater than `thinking.budget_tokens`",
            ),
            (
                json!({"thinking": {"type": "enabled", "budget_tokens": 1}}),
                "greater than or equal to 1024",
            ),
            (
                json!({"thinking": thinking, "temperature": 0.5}),
                "may only be set to 1 when thinking is enabled",
            ),
            (json!({"temperature": 1.5}), "temperature: range: 0..1"),
            (
                json!({"max_tokens": null}),
                "max_tokens: Input should be greater than or equal to 1",
            ),
            (
                json!({"max_tokens": 0}),
                "max_tokens: Input should be greater than or equal to 1",
            ),
            (
                json!({"system": [{"type": "text", "text": ""}]}),
                "system: text content blocks must be non-empty",
            ),
            (
                json!({"system": [marked], "messages": [{"role": "user", "content": [marked, marked, marked]}]}),
                "ok",
            ),
            (
                json!({"system": [marked], "messages": [{"role": "user", "content": [marked, marked, marked, marked]}]}),
                "Found 5",
            ),
            (json!({"foo": 1}), "foo: Extra inputs are not permitted"),
            (
                json!({"tools": [{"name": "f", "input_schema": {"type": "object"}}]}),
                "ok",
            ),
            (
                json!({"tools": [{"name": "f"}]}),
                "tools.0.custom.input_schema: Field required",
            ),
            (
                json!({"tools": [{"name": "f", "input_schema": {}}]}),
                "tools.0.custom.input_schema.type: Field required",
            ),
            (
                json!({"tools": [{"name": "f", "input_schema": {"type": "string"}}]}),
                "Input should be 'object'",
            ),
            (
                json!({"tools": [{"name": "f", "input_schema": true}]}),
                "Input does not match the expected shape",
            ),
            (
                json!({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}),
                "String should match pattern",
            ),
            (
                json!({"tools": [{"name": "f", "input_schema": {"type": "object"}}, {"name": "f", "input_schema": {"type": "object"}}]}),
                "Tool names must be unique",
            ),
            (
                json!({"tool_choice": {"type": "auto"}}),
                "may only be specified while providing tools",
            ),
        ],
    );
    let mut body = head;
    body.as_object_mut().unwrap().remove("max_tokens");
    assert_eq!(
        verdict(ApiKind::AnthropicMessages, Template::Lenient, &body),
        "400 max_tokens: Field required"
    );
}

#[test]
fn ollama_refuses_what_it_cannot_read_and_what_makes_no_sense() {
    let head = json!({"model": "m", "messages": [{"role": "user", "content": "go"}]});
    let user = json!({"role": "user", "content": "go"});
    let asks = |arguments: Value| json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": arguments}}]});
    let tool = json!({"role": "tool", "content": "out", "tool_name": "f"});
    let by_id = |id: &str| json!({"role": "tool", "content": "out", "tool_call_id": id});
    check(
        ApiKind::OllamaChat,
        &head,
        &[
            (json!({}), "ok"),
            (
                messages(json!([user, asks(json!({})), tool, user, user])),
                "ok",
            ),
            (messages(json!([user, asks(json!({})), by_id("a")])), "ok"),
            (
                messages(json!([user, asks(json!({})), by_id("b")])),
                "answers no open call",
            ),
            (
                messages(json!([user, asks(json!("{}")), tool])),
                "cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments",
            ),
            (
                messages(json!([user, asks(json!(null)), tool])),
                "cannot unmarshal null",
            ),
            (
                messages(json!([user, asks(json!({}))])),
                "calls have no result before it: a",
            ),
            (
                messages(json!([user, asks(json!({})), user])),
                "calls have no result before it: a",
            ),
            (
                messages(json!([user, asks(json!({})), {"role": "assistant", "content": "x"}])),
                "calls have no result before it: a",
            ),
            (messages(json!([user, tool])), "answers no open call"),
            (
                messages(json!([user, asks(json!({})), tool, tool])),
                "answers no open call",
            ),
            (
                messages(json!([{"role": "user", "content": [{"type": "text", "text": "x"}]}])),
                "cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
            ),
            (
                messages(json!([{"role": "robot", "content": "x"}])),
                "invalid role",
            ),
            (
                messages(
                    json!([{"role": "user", "content": "x", "images": ["data:image/png;base64,AA"]}]),
                ),
                "illegal base64",
            ),
            (json!({"model": ""}), "model is required"),
            (json!({"think": "loud"}), "invalid think value"),
            (json!({"format": "yaml"}), "invalid format"),
            (json!({"options": []}), "cannot unmarshal array"),
            (json!({"stream": "yes"}), "cannot unmarshal string"),
        ],
    );
}

#[test]
fn a_strict_template_takes_no_two_prompts_in_a_row() {
    let twice = json!({"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]});
    for kind in [ApiKind::OpenaiChat, ApiKind::OllamaChat] {
        let alternate = "400 Conversation roles must alternate user/assistant/user/assistant/...";
        assert_eq!(verdict(kind, Template::Strict, &twice), alternate);
        assert_eq!(verdict(kind, Template::Lenient, &twice), "ok");
    }
}

#[test]
fn refusals_are_shaped_as_each_service_shapes_them() {
    let refusal = Refusal::bad("no").at("messages");
    let body = |kind| {
        let response = served(kind).unwrap().encode_error(&refusal);
        serde_json::from_slice::<Value>(&response.body).unwrap()
    };
    assert_eq!(
        body(ApiKind::OpenaiChat),
        json!({"error": {"message": "no", "type": "invalid_request_error", "param": "messages", "code": null}})
    );
    assert_eq!(
        body(ApiKind::AnthropicMessages),
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}, "request_id": "req_scripted"})
    );
    assert_eq!(body(ApiKind::OllamaChat), json!({"error": "no"}));
    let wait = Refusal {
        retry_after: Some(std::time::Duration::from_millis(1200)),
        ..refusal
    };
    let response = served(ApiKind::OpenaiChat).unwrap().encode_error(&wait);
    assert_eq!(response.headers, [("retry-after", "2".to_owned())]);
}
