//! Reading a request's JSON by hand, so that a refusal can name its place.
//!
//! It knows no wire: how a place is written and what a refusal says is the caller's.

use serde_json::{Map, Value};

use crate::request::{Refusal, ToolChoice};

pub(crate) type Object = Map<String, Value>;

pub(crate) fn body(
    bytes: &[u8],
    problem: impl FnOnce(String) -> Refusal,
) -> Result<Object, Refusal> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(problem(format!(
            "expected an object, got {}",
            type_of(&other)
        ))),
        Err(error) => Err(problem(error.to_string())),
    }
}

/// As error messages call it.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "decimal",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// With the article that goes before it.
pub(crate) fn a_type_of(value: &Value) -> String {
    let name = type_of(value);
    match name {
        "null" => name.to_owned(),
        "integer" | "array" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

/// A key that is absent or null.
pub(crate) fn given<'a>(object: &'a Object, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}

pub(crate) fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Letters, digits, `_` and `-`, and at least one of them.
pub(crate) fn is_name(name: &str, longest: usize) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=longest).contains(&name.len()) && name.bytes().all(allowed)
}

/// A `data:` URL's media type and base64.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

pub(crate) fn choice(word: &str) -> Option<ToolChoice> {
    match word {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" | "any" => Some(ToolChoice::Any),
        _ => None,
    }
}

/// What no field took.
pub(crate) fn extras(object: &Object, known: &[&str]) -> Vec<(String, Value)> {
    let unknown = object
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()));
    unknown
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
