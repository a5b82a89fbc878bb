//! Writes requests: a head once an epoch, each message once, and the body from their bytes.
//!
//! It looks at one message at a time, so that nothing sent before can change.

use bytes::Bytes;
use hames_types::{
    ApiKind, AssistantMessage, Block, BlockKind, Content, Encoded, Head, Message, Request,
    ToolCall, ToolResults, ToolSpec, UserMessage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    Delivery, arguments,
    pieces::{Joint, Marks, assemble},
    written,
};

const API: ApiKind = ApiKind::OllamaChat;

/// Chat templates refuse two user messages in a row. One with pictures ends otherwise, and so stays
/// the last of its message.
static JOINTS: [Joint; 1] = [Joint {
    opening: r#"{"role":"user","content":""#,
    closing: r#""}"#,
    between: r"\n\n",
}];

pub(super) fn head(head: &Head) -> Bytes {
    let options = &head.options;
    let mut json = format!(r#"{{"model":{}"#, written::string(&head.model));
    if let Some(effort) = &options.effort {
        json += &format!(r#","think":{}"#, think(&head.model, effort));
    }
    json += &format!(r#","options":{{"num_predict":{}"#, options.max_tokens);
    if let Some(window) = options.context_window {
        json += &format!(r#","num_ctx":{window}"#);
    }
    if let Some(temperature) = options.temperature {
        json += &format!(r#","temperature":{}"#, written::number(temperature));
    }
    json += "}";
    if !head.tools.is_empty() {
        let tools = written::joined(head.tools.iter().map(|spec| tool(spec)));
        json += &format!(r#","tools":[{tools}]"#);
    }
    json += r#","messages":["#;
    if !head.system.is_empty() {
        let system = written::string(&head.system);
        json += &format!(r#"{{"role":"system","content":{system}}}"#);
    }
    Bytes::from(json)
}

/// Most models think or do not; gpt-oss has levels.
fn think(model: &str, effort: &str) -> String {
    match effort {
        "none" | "off" => "false".to_owned(),
        "low" | "medium" | "high" if model.contains("gpt-oss") => written::string(effort),
        "minimal" if model.contains("gpt-oss") => written::string("low"),
        _ if model.contains("gpt-oss") => written::string("high"),
        _ => "true".to_owned(),
    }
}

fn tool(spec: &ToolSpec) -> String {
    format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
        written::string(&spec.name),
        written::string(&spec.description),
        written::schema(&spec.input_schema)
    )
}

pub(super) fn message(head: &Head, message: &Message) -> Encoded {
    let json = match message {
        Message::User(message) => user(message),
        Message::Assistant(message) => assistant(head, message),
        Message::Tool(results) => tool_results(results),
    };
    Encoded {
        bytes: Bytes::from(json),
        mark_at: None,
    }
}

fn user(message: &UserMessage) -> String {
    let (pictures, rest): (Vec<_>, Vec<_>) = message
        .content
        .iter()
        .partition(|part| picture(part).is_some());
    let words: Vec<String> = rest.into_iter().map(written::note).collect();
    let text = written::string(&words.join("\n"));
    let images = written::joined(
        pictures
            .into_iter()
            .filter_map(picture)
            .map(written::string),
    );
    match images.as_str() {
        "" => format!(r#"{{"role":"user","content":{text}}}"#),
        images => format!(r#"{{"role":"user","content":{text},"images":[{images}]}}"#),
    }
}

fn picture(content: &Content) -> Option<&str> {
    match content {
        Content::Image { media_type, base64 }
            if written::is_picture(media_type) && written::is_base64(base64) =>
        {
            Some(base64)
        }
        Content::Text { .. }
        | Content::Image { .. }
        | Content::Document { .. }
        | Content::Blob(_)
        | Content::Opaque(_) => None,
    }
}

fn assistant(head: &Head, message: &AssistantMessage) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Thinking<'a> {
        #[serde(borrow)]
        thinking: Option<&'a RawValue>,
    }
    let calls = written::joined(message.blocks.iter().filter_map(call));
    let text = message.text();
    if calls.is_empty() && text.is_empty() {
        return String::new();
    }
    let mut fields = String::new();
    for block in &message.blocks {
        let echo = written::echo(block.echo.as_ref(), API, head).unwrap_or("{}");
        let echo: Thinking<'_> = serde_json::from_str(echo).unwrap_or_default();
        if let Some(thinking) = echo.thinking {
            fields += &format!(r#","thinking":{thinking}"#);
        }
    }
    if !calls.is_empty() {
        fields += &format!(r#","tool_calls":[{calls}]"#);
    }
    let text = written::string(&text);
    format!(r#"{{"role":"assistant","content":{text}{fields}}}"#)
}

fn call(block: &Block) -> Option<String> {
    let BlockKind::ToolCall(ToolCall { id, name, input }) = &block.kind else {
        return None;
    };
    Some(format!(
        r#"{{"id":{},"function":{{"name":{},"arguments":{}}}}}"#,
        written::string(&id.0),
        written::string(&written::name(name)),
        arguments::as_object(&input.0)
    ))
}

/// Older servers match answers to calls by their order, newer ones by id.
fn tool_results(results: &ToolResults) -> String {
    written::joined(results.iter().map(|result| {
        let (id, text) = (&result.call.0, written::plain(&result.content));
        let (id, text) = (written::string(id), written::string(&text));
        format!(r#"{{"role":"tool","content":{text},"tool_call_id":{id}}}"#)
    }))
}

pub(super) fn body(request: &Request<'_>, delivery: Delivery) -> Vec<Bytes> {
    let tail: &[u8] = match delivery {
        Delivery::Stream => br#"],"stream":true}"#,
        Delivery::Whole => br#"],"stream":false}"#,
    };
    let marks = Marks {
        marker: "",
        places: &[],
    };
    let (head, messages) = (request.head_bytes, request.messages);
    assemble(head, messages, &JOINTS, &marks, Bytes::from_static(tail))
}
