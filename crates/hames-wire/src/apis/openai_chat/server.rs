//! Chat completions as a server: requests in, answers out.
//!
//! It refuses what the first vendor's service refuses, in its words; keys it does not know are kept.

mod encode;
mod messages;

use hames_types::{ApiKind, ModelEvent, ProviderErrorKind as Kind, RawJson, ToolSpec, Usage};
use serde_json::{Value, json};

use crate::{
    request::{ErrorResponse, Refusal, ServedRequest, ToolChoice},
    served::{
        Encoder, Served, Template,
        read::{self, Object},
    },
};

pub struct Server;

impl Served for Server {
    fn kind(&self) -> ApiKind {
        ApiKind::OpenaiChat
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/v1/chat/completions", "/chat/completions"]
    }

    fn decode_request(&self, body: &[u8], template: Template) -> Result<ServedRequest, Refusal> {
        let problem = |_| Refusal::bad("We could not parse the JSON body of your request.");
        let body = read::body(body, problem)?;
        let model = read::text(&body, "model").ok_or_else(|| missing("model"))?;
        let mut request = ServedRequest::new(self.kind(), model);
        messages::decode(&body, template, &mut request)?;
        request.tools = tools(&body)?;
        request.tool_choice = tool_choice(&body)?;
        options(&body, &mut request)?;
        request.extras = read::extras(&body, KNOWN);
        Ok(request)
    }

    fn encoder(&self, request: &ServedRequest, usage: Usage) -> Box<dyn Encoder> {
        Box::new(encode::Stream::new(request, usage))
    }

    fn encode_whole(
        &self,
        request: &ServedRequest,
        events: &[ModelEvent],
    ) -> Result<Vec<u8>, Refusal> {
        Ok(encode::whole(request, events))
    }

    fn encode_error(&self, refusal: &Refusal) -> ErrorResponse {
        ErrorResponse::of(refusal, &error_object(refusal))
    }
}

/// What has a field of its own, and what only says how the answer is to be sent.
const KNOWN: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "reasoning_effort",
    "response_format",
];

fn error_object(refusal: &Refusal) -> Value {
    let (kind, code) = match refusal.kind {
        Kind::RateLimited => ("requests", Some("rate_limit_exceeded")),
        Kind::QuotaExceeded => ("insufficient_quota", Some("insufficient_quota")),
        Kind::Overloaded | Kind::Transport | Kind::Malformed => ("server_error", None),
        Kind::ContextOverflow => ("invalid_request_error", Some("context_length_exceeded")),
        Kind::Auth => ("invalid_request_error", Some("invalid_api_key")),
        Kind::Rejected => ("invalid_request_error", None),
    };
    let (message, param) = (&refusal.message, &refusal.param);
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

fn missing(param: &str) -> Refusal {
    Refusal::bad(format!("Missing required parameter: '{param}'.")).at(param)
}

fn wrong_type(param: &str, expected: &str, value: &Value) -> Refusal {
    let got = read::a_type_of(value);
    let message =
        format!("Invalid type for '{param}': expected {expected}, but got {got} instead.");
    Refusal::bad(message).at(param)
}

fn empty_array(param: &str) -> Refusal {
    let message = format!(
        "Invalid '{param}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    );
    Refusal::bad(message).at(param)
}

fn tools(body: &Object) -> Result<Vec<ToolSpec>, Refusal> {
    let Some(tools) = read::given(body, "tools") else {
        return Ok(Vec::new());
    };
    let tools = tools
        .as_array()
        .ok_or_else(|| wrong_type("tools", "an array of objects", tools))?;
    if tools.is_empty() {
        return Err(empty_array("tools"));
    }
    tools
        .iter()
        .enumerate()
        .map(|(index, tool)| self::tool(index, tool))
        .collect()
}

fn tool(index: usize, tool: &Value) -> Result<ToolSpec, Refusal> {
    let at = |rest: &str| format!("tools[{index}].{rest}");
    if tool["type"] != "function" {
        return Err(missing(&at("type")));
    }
    let function = tool["function"]
        .as_object()
        .ok_or_else(|| missing(&at("function")))?;
    let name = read::text(function, "name").ok_or_else(|| missing(&at("function.name")))?;
    if !read::is_name(name, 64) {
        let param = at("function.name");
        let pattern = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
        return Err(Refusal::bad(format!("Invalid '{param}': {pattern}")).at(param));
    }
    let parameters = match read::given(function, "parameters") {
        None => json!({"type": "object", "properties": {}}),
        Some(schema) if schema["type"] == "object" || schema.get("anyOf").is_some() => {
            schema.clone()
        }
        Some(schema) if schema.is_object() => {
            let kind = schema
                .get("type")
                .map_or("None".to_owned(), Value::to_string);
            let message = format!(
                "Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"', got 'type: {kind}'."
            );
            return Err(Refusal::bad(message).at(at("function.parameters")));
        }
        Some(other) => return Err(wrong_type(&at("function.parameters"), "an object", other)),
    };
    Ok(ToolSpec {
        name: name.to_owned(),
        description: read::text(function, "description")
            .unwrap_or_default()
            .to_owned(),
        input_schema: RawJson(parameters.to_string().into()),
    })
}

fn tool_choice(body: &Object) -> Result<Option<ToolChoice>, Refusal> {
    let Some(choice) = read::given(body, "tool_choice") else {
        return Ok(None);
    };
    let named = || {
        choice["function"]["name"]
            .as_str()
            .map(|name| ToolChoice::Named(name.to_owned()))
    };
    let choice = choice.as_str().and_then(read::choice).or_else(named);
    let choice =
        choice.ok_or_else(|| Refusal::bad("Invalid value for 'tool_choice'.").at("tool_choice"))?;
    let allowed = body.contains_key("tools") || choice == ToolChoice::None;
    if !allowed {
        let message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
        return Err(Refusal::bad(message).at("tool_choice"));
    }
    Ok(Some(choice))
}

fn options(body: &Object, request: &mut ServedRequest) -> Result<(), Refusal> {
    request.stream = read::given(body, "stream") == Some(&Value::Bool(true));
    if read::given(body, "stream_options").is_some() && !request.stream {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Refusal::bad(message).at("stream_options"));
    }
    let limits = ["max_tokens", "max_completion_tokens"];
    if limits
        .iter()
        .all(|limit| read::given(body, limit).is_some())
    {
        let message =
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        return Err(Refusal::bad(message).at("max_tokens"));
    }
    for limit in limits {
        if let Some(value) = read::given(body, limit) {
            let tokens = value.as_u64().filter(|tokens| *tokens > 0);
            request.max_tokens = Some(tokens.ok_or_else(|| {
                let message = format!("Invalid '{limit}': integer below minimum value. Expected a value >= 1, but got {value} instead.");
                Refusal::bad(message).at(limit)
            })?);
        }
    }
    if let Some(value) = read::given(body, "temperature") {
        let number = value
            .as_f64()
            .ok_or_else(|| wrong_type("temperature", "a decimal", value))?;
        if !(0.0..=2.0).contains(&number) {
            let message = format!(
                "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got {value} instead."
            );
            return Err(Refusal::bad(message).at("temperature"));
        }
        request.temperature = Some(number);
    }
    request.effort = read::text(body, "reasoning_effort").map(str::to_owned);
    request.schema = schema(body)?;
    Ok(())
}

fn schema(body: &Object) -> Result<Option<RawJson>, Refusal> {
    let Some(format) = read::given(body, "response_format") else {
        return Ok(None);
    };
    match format["type"].as_str() {
        Some("text" | "json_object") => Ok(None),
        Some("json_schema") => {
            let format = &format["json_schema"];
            if format["name"].as_str().is_none_or(str::is_empty) {
                return Err(missing("response_format.json_schema.name"));
            }
            Ok(format
                .get("schema")
                .map(|schema| RawJson(schema.to_string().into())))
        }
        Some(_) | None => Err(missing("response_format.type")),
    }
}
