//! What is left of an agent's output as JSON lines: whole ones, whatever stands between them.
//!
//! It knows no agent's vocabulary; a line that is cut or garbled is counted and passed over.

use serde_json::Value;

/// The objects, and how many lines look like one and are none.
pub fn objects(text: &str) -> (Vec<Value>, usize) {
    let (mut objects, mut garbled) = (Vec::new(), 0);
    for line in text.lines() {
        // Warnings of an interpreter or a wrapper may stand before an object on its line.
        let Some(start) = line.find('{') else {
            continue;
        };
        let Some(candidate) = line.get(start..) else {
            continue;
        };
        match serde_json::from_str::<Value>(candidate.trim_end()) {
            Ok(value) if value.is_object() => objects.push(value),
            Ok(_) => {}
            Err(_) => garbled += usize::from(start == 0),
        }
    }
    (objects, garbled)
}

/// The text at a JSON pointer; none where it is empty.
pub fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    let text = value.pointer(pointer)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// The text at the first of these pointers that has one.
pub fn first_text<'a>(value: &'a Value, pointers: &[&str]) -> Option<&'a str> {
    pointers.iter().find_map(|pointer| text(value, pointer))
}

/// The count at a JSON pointer; 0 where there is none.
pub fn count(value: &Value, pointer: &str) -> u64 {
    let number = value.pointer(pointer).and_then(Value::as_f64);
    number.map_or(0, |number| number.max(0.0) as u64)
}

pub fn items<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// A content that is a text, or a list of parts with texts in them.
pub fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) => Some(text.as_str()),
                part => text(part, "/text"),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Arguments as JSON where they are JSON; some wires carry them as text.
pub fn arguments(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        Value::Null => Value::Object(serde_json::Map::new()),
        other => other.clone(),
    }
}
