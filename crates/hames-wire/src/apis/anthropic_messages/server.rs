//! Anthropic Messages as a server: requests in, answers out.
//!
//! It refuses what the service refuses, in its words.

mod encode;
mod messages;
mod thinking;

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
        ApiKind::AnthropicMessages
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/v1/messages"]
    }

    /// The service folds neighbours of one role itself, so no template is strict here.
    fn decode_request(&self, body: &[u8], _: Template) -> Result<ServedRequest, Refusal> {
        let problem = |error| Refusal::bad(format!("The request body is not valid JSON: {error}"));
        let body = read::body(body, problem)?;
        let model = read::text(&body, "model").ok_or_else(|| required("model"))?;
        let mut request = ServedRequest::new(self.kind(), model);
        options(&body, &mut request)?;
        request.system = system(&body)?;
        request.tools = tools(&body)?;
        request.tool_choice = tool_choice(&body)?;
        let thinks = body
            .get("thinking")
            .is_some_and(|thinking| thinking["type"] == "enabled");
        request.messages = messages::decode(&body, &request.model, thinks)?;
        cache_marks(&body)?;
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
    "system",
    "tools",
    "tool_choice",
    "stream",
    "max_tokens",
    "temperature",
    "output_config",
];

/// The service takes no key that it does not know.
const ALLOWED: &[&str] = &[
    "thinking",
    "stop_sequences",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
    "mcp_servers",
    "container",
    "context_management",
    "output_format",
    "cache_control",
    "inference_geo",
];

fn error_object(refusal: &Refusal) -> Value {
    let kind = match (refusal.kind, refusal.status) {
        (_, 404) => "not_found_error",
        (_, 413) => "request_too_large",
        (Kind::Auth, 403) => "permission_error",
        (Kind::Auth, _) => "authentication_error",
        (Kind::RateLimited, _) => "rate_limit_error",
        (Kind::QuotaExceeded, 429) => "rate_limit_error",
        (Kind::QuotaExceeded, 402) => "billing_error",
        (Kind::Overloaded, 529 | 503) => "overloaded_error",
        (Kind::Overloaded | Kind::Transport | Kind::Malformed, _) => "api_error",
        (Kind::QuotaExceeded | Kind::ContextOverflow | Kind::Rejected, _) => {
            "invalid_request_error"
        }
    };
    let error = json!({"type": kind, "message": refusal.message});
    json!({"type": "error", "error": error, "request_id": "req_scripted"})
}

fn required(at: &str) -> Refusal {
    Refusal::bad(format!("{at}: Field required"))
}

fn shape(at: &str, expected: &str) -> Refusal {
    Refusal::bad(format!("{at}: Input should be {expected}"))
}

fn options(body: &Object, request: &mut ServedRequest) -> Result<(), Refusal> {
    let known = |key: &str| KNOWN.contains(&key) || ALLOWED.contains(&key);
    if let Some(key) = body.keys().find(|key| !known(key)) {
        return Err(Refusal::bad(format!(
            "{key}: Extra inputs are not permitted"
        )));
    }
    let max_tokens = body
        .get("max_tokens")
        .ok_or_else(|| required("max_tokens"))?;
    let max_tokens = max_tokens.as_u64().filter(|tokens| *tokens > 0);
    let max_tokens = max_tokens.ok_or_else(|| shape("max_tokens", "greater than or equal to 1"))?;
    request.max_tokens = Some(max_tokens);
    request.stream = body.get("stream") == Some(&Value::Bool(true));
    request.effort = body
        .get("output_config")
        .and_then(|config| config["effort"].as_str())
        .map(str::to_owned);
    request.schema = body
        .get("output_config")
        .and_then(|config| config["format"].get("schema"))
        .map(|schema| RawJson(schema.to_string().into()));
    if let Some(temperature) = read::given(body, "temperature") {
        let number = temperature
            .as_f64()
            .filter(|number| (0.0..=1.0).contains(number));
        request.temperature = Some(number.ok_or_else(|| Refusal::bad("temperature: range: 0..1"))?);
    }
    budget(body, max_tokens, request.temperature)
}

/// What thinking costs must fit, and it takes no temperature.
fn budget(body: &Object, max_tokens: u64, temperature: Option<f64>) -> Result<(), Refusal> {
    let Some(thinking) = body
        .get("thinking")
        .filter(|thinking| thinking["type"] == "enabled")
    else {
        return Ok(());
    };
    let at = "thinking.enabled.budget_tokens";
    let budget = thinking["budget_tokens"]
        .as_u64()
        .ok_or_else(|| required(at))?;
    if budget < 1024 {
        return Err(shape(at, "greater than or equal to 1024"));
    }
    if budget >= max_tokens {
        let message = "`max_tokens` must be greater than `thinking.budget_tokens`.";
        return Err(Refusal::bad(message));
    }
    if temperature.is_some_and(|temperature| temperature != 1.0) {
        let message = "`temperature` may only be set to 1 when thinking is enabled.";
        return Err(Refusal::bad(message));
    }
    Ok(())
}

fn system(body: &Object) -> Result<Vec<String>, Refusal> {
    match read::given(body, "system") {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(blocks)) => {
            let block = |(index, block): (usize, &Value)| {
                let text = block["text"]
                    .as_str()
                    .ok_or_else(|| required(&format!("system.{index}.text")))?;
                match text.is_empty() {
                    true => Err(Refusal::bad(
                        "system: text content blocks must be non-empty",
                    )),
                    false => Ok(text.to_owned()),
                }
            };
            blocks.iter().enumerate().map(block).collect()
        }
        Some(_) => Err(shape("system", "a valid list")),
    }
}

fn tools(body: &Object) -> Result<Vec<ToolSpec>, Refusal> {
    let Some(tools) = read::given(body, "tools") else {
        return Ok(Vec::new());
    };
    let tools = tools
        .as_array()
        .ok_or_else(|| shape("tools", "a valid list"))?;
    let mut specs: Vec<ToolSpec> = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let spec = self::tool(index, tool)?;
        if specs.iter().any(|known| known.name == spec.name) {
            return Err(Refusal::bad("tools: Tool names must be unique."));
        }
        specs.push(spec);
    }
    Ok(specs)
}

fn tool(index: usize, tool: &Value) -> Result<ToolSpec, Refusal> {
    let at = |rest: &str| format!("tools.{index}.custom.{rest}");
    let name = tool["name"].as_str().ok_or_else(|| required(&at("name")))?;
    let is_custom = matches!(tool["type"].as_str(), None | Some("custom"));
    if is_custom && !read::is_name(name, 128) {
        let message = format!(
            "{}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'",
            at("name")
        );
        return Err(Refusal::bad(message));
    }
    let schema = match tool.get("input_schema") {
        None if is_custom => return Err(required(&at("input_schema"))),
        None => &Value::Null,
        Some(schema) if !schema.is_object() => {
            let message = "Input does not match the expected shape.";
            return Err(Refusal::bad(format!("{}: {message}", at("input_schema"))));
        }
        Some(schema) => match schema.get("type") {
            None => return Err(required(&at("input_schema.type"))),
            Some(kind) if kind != "object" => {
                return Err(shape(&at("input_schema.type"), "'object'"));
            }
            Some(_) => schema,
        },
    };
    Ok(ToolSpec {
        name: name.to_owned(),
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        input_schema: RawJson(schema.to_string().into()),
    })
}

fn tool_choice(body: &Object) -> Result<Option<ToolChoice>, Refusal> {
    let Some(choice) = read::given(body, "tool_choice") else {
        return Ok(None);
    };
    if read::given(body, "tools").is_none() {
        let message = "tool_choice may only be specified while providing tools";
        return Err(Refusal::bad(message));
    }
    let kind = choice["type"].as_str().unwrap_or_default();
    let named = || match (kind, choice["name"].as_str()) {
        ("tool", Some(name)) => Some(ToolChoice::Named(name.to_owned())),
        _ => None,
    };
    let choice = read::choice(kind)
        .filter(|_| kind != "required")
        .or_else(named);
    let expected = "one of 'auto', 'any', 'tool' or 'none'";
    choice
        .map(Some)
        .ok_or_else(|| shape("tool_choice.type", expected))
}

/// At most four, wherever they stand.
fn cache_marks(body: &Object) -> Result<(), Refusal> {
    let found: usize = body.values().map(marks).sum();
    if found > 4 {
        let message =
            format!("A maximum of 4 blocks with cache_control may be provided. Found {found}.");
        return Err(Refusal::bad(message));
    }
    Ok(())
}

/// Arguments and schemas may hold anything, and are not looked into.
fn marks(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(marks).sum(),
        Value::Object(fields) => {
            let inner = fields
                .iter()
                .filter(|(key, _)| *key != "input" && *key != "input_schema");
            let own = usize::from(fields.get("cache_control").is_some_and(Value::is_object));
            own + inner.map(|(_, value)| marks(value)).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
