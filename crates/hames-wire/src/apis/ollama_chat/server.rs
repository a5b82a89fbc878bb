//! Ollama's chat as a server: requests in, answers out.
//!
//! Stricter than the service in one thing: a call without its result, or a result without its call,
//! is refused here, where the service would hand the model a history that makes no sense.

mod encode;
mod messages;

use hames_types::{ApiKind, ModelEvent, RawJson, ToolSpec, Usage};
use serde_json::{Value, json};

use crate::{
    request::{ErrorResponse, Refusal, ServedRequest},
    served::{
        Encoder, Served, Template,
        read::{self, Object},
    },
};

pub struct Server;

impl Served for Server {
    fn kind(&self) -> ApiKind {
        ApiKind::OllamaChat
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/api/chat"]
    }

    fn decode_request(&self, body: &[u8], template: Template) -> Result<ServedRequest, Refusal> {
        let body = read::body(body, Refusal::bad)?;
        let model = read::text(&body, "model").filter(|model| !model.is_empty());
        let model = model.ok_or_else(|| Refusal::bad("model is required"))?;
        let mut request = ServedRequest::new(self.kind(), model);
        messages::decode(&body, template, &mut request)?;
        request.tools = tools(&body)?;
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
        encode::whole(request, events)
    }

    fn encode_error(&self, refusal: &Refusal) -> ErrorResponse {
        ErrorResponse::of(refusal, &json!({"error": refusal.message}))
    }
}

const KNOWN: &[&str] = &["model", "messages", "tools", "stream", "think", "format"];

fn unreadable(value: &Value, field: &str, expected: &str) -> Refusal {
    let got = match read::type_of(value) {
        "boolean" => "bool",
        "integer" | "decimal" => "number",
        other => other,
    };
    Refusal::bad(format!(
        "json: cannot unmarshal {got} into Go struct field ChatRequest.{field} of type {expected}"
    ))
}

fn tools(body: &Object) -> Result<Vec<ToolSpec>, Refusal> {
    let Some(tools) = read::given(body, "tools") else {
        return Ok(Vec::new());
    };
    let tools = tools
        .as_array()
        .ok_or_else(|| unreadable(tools, "tools", "api.Tools"))?;
    tools.iter().map(tool).collect()
}

fn tool(tool: &Value) -> Result<ToolSpec, Refusal> {
    let function = &tool["function"];
    let name = function["name"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Refusal::bad("invalid tool: function name is required"))?;
    let parameters = &function["parameters"];
    if !parameters.is_object() && !parameters.is_null() {
        let field = "tools.function.parameters";
        return Err(unreadable(parameters, field, "api.ToolFunctionParameters"));
    }
    Ok(ToolSpec {
        name: name.to_owned(),
        description: function["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        input_schema: RawJson(parameters.to_string().into()),
    })
}

fn options(body: &Object, request: &mut ServedRequest) -> Result<(), Refusal> {
    // Streaming is what it does unless it is told not to.
    request.stream = match read::given(body, "stream") {
        None => true,
        Some(Value::Bool(stream)) => *stream,
        Some(other) => return Err(unreadable(other, "stream", "bool")),
    };
    request.effort = match read::given(body, "think") {
        Some(Value::String(effort)) if matches!(effort.as_str(), "high" | "medium" | "low") => {
            Some(effort.clone())
        }
        Some(Value::String(effort)) => {
            let message = format!(
                "invalid think value: {effort:?} (must be \"high\", \"medium\", \"low\", true, or false)"
            );
            return Err(Refusal::bad(message));
        }
        Some(Value::Bool(thinks)) => Some(if *thinks { "on" } else { "off" }.to_owned()),
        Some(other) => return Err(unreadable(other, "think", "api.ThinkValue")),
        None => None,
    };
    request.schema = match read::given(body, "format") {
        Some(Value::Object(schema)) => {
            Some(RawJson(Value::Object(schema.clone()).to_string().into()))
        }
        Some(Value::String(format)) if matches!(format.as_str(), "json" | "") => None,
        Some(other) => {
            let message = format!("invalid format: {other}; expected \"json\" or a JSON schema");
            return Err(Refusal::bad(message));
        }
        None => None,
    };
    match read::given(body, "options") {
        Some(Value::Object(options)) => {
            request.temperature = options.get("temperature").and_then(Value::as_f64);
            request.max_tokens = options.get("num_predict").and_then(Value::as_u64);
            Ok(())
        }
        Some(other) => Err(unreadable(other, "options", "map[string]interface {}")),
        None => Ok(()),
    }
}
