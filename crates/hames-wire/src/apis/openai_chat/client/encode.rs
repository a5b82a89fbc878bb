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

const API: ApiKind = ApiKind::OpenaiChat;

/// Strict chat templates refuse two user messages in a row. Text stays a plain string as long as it
/// can, since not every server takes parts.
static JOINTS: [Joint; 2] = [
    Joint {
        opening: r#"{"role":"user","content":""#,
        closing: r#""}"#,
        between: r"\n\n",
    },
    Joint {
        opening: r#"{"role":"user","content":["#,
        closing: "]}",
        between: ",",
    },
];

pub(super) fn head(head: &Head) -> Bytes {
    let options = &head.options;
    let mut json = format!(
        r#"{{"model":{},"{}":{}"#,
        written::string(&head.model),
        cap_field(&head.model),
        options.max_tokens
    );
    if let Some(temperature) = options.temperature {
        json += &format!(r#","temperature":{}"#, written::number(temperature));
    }
    if let Some(effort) = &options.effort {
        json += &format!(r#","reasoning_effort":{}"#, written::string(effort));
    }
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

/// OpenAI's own models refuse `max_tokens`; many who speak the dialect know nothing else.
fn cap_field(model: &str) -> &'static str {
    let name = model.strip_prefix("ft:").unwrap_or(model);
    let numbered = |rest: &str| rest.starts_with(|digit: char| digit.is_ascii_digit());
    let reasons = name.strip_prefix('o').is_some_and(numbered);
    let is_gpt = name.starts_with("gpt-") && !name.starts_with("gpt-oss");
    let others = ["chatgpt-", "codex-"];
    if reasons || is_gpt || others.iter().any(|other| name.starts_with(other)) {
        "max_completion_tokens"
    } else {
        "max_tokens"
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
        Message::User(message) => user(head, message),
        Message::Assistant(message) => assistant(head, message),
        Message::Tool(results) => tool_results(results),
    };
    Encoded {
        bytes: Bytes::from(json),
        mark_at: None,
    }
}

fn user(head: &Head, message: &UserMessage) -> String {
    let content = &message.content;
    if content.is_empty() {
        return String::new();
    }
    if content.iter().all(|part| part.as_text().is_some()) {
        let text = message.plain_text();
        return format!(r#"{{"role":"user","content":{}}}"#, written::string(&text));
    }
    let parts = written::joined(content.iter().map(|content| part(head, content)));
    format!(r#"{{"role":"user","content":[{parts}]}}"#)
}

fn part(head: &Head, content: &Content) -> String {
    match content {
        Content::Image { media_type, base64 }
            if written::is_picture(media_type) && written::is_base64(base64) =>
        {
            let url = format!(r#"{{"url":"data:{media_type};base64,{base64}"}}"#);
            format!(r#"{{"type":"image_url","image_url":{url}}}"#)
        }
        Content::Document { media_type, base64 }
            if media_type == "application/pdf" && written::is_base64(base64) =>
        {
            let data = format!("data:{media_type};base64,{base64}");
            format!(
                r#"{{"type":"file","file":{{"filename":"document.pdf","file_data":"{data}"}}}}"#
            )
        }
        Content::Opaque(echo) if written::echo(Some(echo), API, head).is_some() => {
            echo.json.0.to_string()
        }
        Content::Text { .. }
        | Content::Image { .. }
        | Content::Document { .. }
        | Content::Blob(_)
        | Content::Opaque(_) => {
            let note = written::string(&written::note(content));
            format!(r#"{{"type":"text","text":{note}}}"#)
        }
    }
}

/// The fields that a reasoning block's echo may bring back.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reasoning<'a> {
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    reasoning_content: Option<&'a RawValue>,
    reasoning: Option<&'a RawValue>,
    reasoning_text: Option<&'a RawValue>,
    content: Option<Vec<&'a RawValue>>,
}

fn assistant(head: &Head, message: &AssistantMessage) -> String {
    let calls = written::joined(message.blocks.iter().filter_map(|block| call(head, block)));
    let text = message.text();
    let echoes = message.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Reasoning { .. } | BlockKind::Opaque => {
            written::echo(block.echo.as_ref(), API, head)
        }
        BlockKind::Text { .. } | BlockKind::ToolCall(_) => None,
    });
    let mut parts: Vec<String> = Vec::new();
    let mut fields = String::new();
    for echo in echoes {
        let reasoning: Reasoning<'_> = serde_json::from_str(echo).unwrap_or_default();
        let named = [
            ("reasoning_details", reasoning.reasoning_details),
            ("reasoning_content", reasoning.reasoning_content),
            ("reasoning", reasoning.reasoning),
            ("reasoning_text", reasoning.reasoning_text),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                fields += &format!(r#","{name}":{value}"#);
            }
        }
        let more = reasoning.content.unwrap_or_default();
        parts.extend(more.into_iter().map(|part| part.get().to_owned()));
    }
    if calls.is_empty() && text.is_empty() && parts.is_empty() {
        return String::new();
    }
    let content = content(&text, parts, calls.is_empty());
    let calls = match calls.as_str() {
        "" => String::new(),
        calls => format!(r#","tool_calls":[{calls}]"#),
    };
    format!(r#"{{"role":"assistant","content":{content}{fields}{calls}}}"#)
}

/// Null beside calls; a string; or parts, where thinking has to go back as one.
fn content(text: &str, mut parts: Vec<String>, must_speak: bool) -> String {
    if parts.is_empty() {
        let nothing = text.is_empty() && !must_speak;
        return if nothing {
            "null".to_owned()
        } else {
            written::string(text)
        };
    }
    if !text.is_empty() {
        let text = written::string(text);
        parts.push(format!(r#"{{"type":"text","text":{text}}}"#));
    }
    format!("[{}]", parts.join(","))
}

fn call(head: &Head, block: &Block) -> Option<String> {
    let BlockKind::ToolCall(ToolCall { id, name, input }) = &block.kind else {
        return None;
    };
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Extra<'a> {
        #[serde(borrow)]
        extra_content: Option<&'a RawValue>,
    }
    let echo = written::echo(block.echo.as_ref(), API, head).unwrap_or("{}");
    let extra: Extra<'_> = serde_json::from_str(echo).unwrap_or_default();
    let extra = match extra.extra_content {
        Some(extra) => format!(r#","extra_content":{extra}"#),
        None => String::new(),
    };
    Some(format!(
        r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}{extra}}}"#,
        written::string(&id.0),
        written::string(&written::name(name)),
        written::string(arguments::as_object(&input.0))
    ))
}

fn tool_results(results: &ToolResults) -> String {
    written::joined(results.iter().map(|result| {
        let (id, text) = (&result.call.0, written::plain(&result.content));
        let (id, text) = (written::string(id), written::string(&text));
        format!(r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#)
    }))
}

pub(super) fn body(request: &Request<'_>, delivery: Delivery) -> Vec<Bytes> {
    let tail: &[u8] = match delivery {
        Delivery::Stream => br#"],"stream":true,"stream_options":{"include_usage":true}}"#,
        Delivery::Whole => b"]}",
    };
    let marks = Marks {
        marker: "",
        places: &[],
    };
    let (head, messages) = (request.head_bytes, request.messages);
    assemble(head, messages, &JOINTS, &marks, Bytes::from_static(tail))
}
