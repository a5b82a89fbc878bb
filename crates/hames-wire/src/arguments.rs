//! The text of a call's arguments: where a JSON value ends, and what was wrapped once too often.
//!
//! It repairs nothing: text that is no JSON stays as the model wrote it.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Stands for arguments that are no JSON object, where a server would refuse the whole request.
pub(crate) const NO_OBJECT: &str = r#"{"error":"the arguments were not a JSON object"}"#;

/// Follows a JSON object through its fragments, to its closing brace.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    text: String,
    depth: u32,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Extent {
    pub(crate) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            self.step(byte);
        }
        self.text += text;
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn text(&self) -> &str {
        self.text.trim()
    }

    fn step(&mut self, byte: u8) {
        if std::mem::take(&mut self.escaped) {
            return;
        }
        match byte {
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            b'{' | b'[' if !self.in_string => self.depth += 1,
            b'}' | b']' if !self.in_string => {
                self.depth = self.depth.saturating_sub(1);
                self.complete = self.complete || self.depth == 0;
            }
            _ => {}
        }
    }
}

/// Null means none, and a string that holds an object means the object.
pub(crate) fn unwrap(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    if trimmed == "null" {
        return Cow::Borrowed("");
    }
    let inner = || serde_json::from_str::<String>(trimmed).ok();
    match trimmed.starts_with('"').then(inner).flatten() {
        Some(inner) if inner.trim().is_empty() => Cow::Borrowed(""),
        Some(inner) if is_object(&inner) => Cow::Owned(inner),
        Some(_) | None => Cow::Borrowed(text),
    }
}

/// Arguments that came in one piece: a string's content, or an object as it stands.
pub(crate) fn text_of(raw: &RawValue) -> String {
    let text = serde_json::from_str::<String>(raw.get());
    let text = text.unwrap_or_else(|_| raw.get().to_owned());
    unwrap(&text).into_owned()
}

/// The arguments as every server takes them.
pub(crate) fn as_object(text: &str) -> &str {
    let trimmed = text.trim();
    match trimmed {
        "" | "null" => "{}",
        _ if is_object(trimmed) => trimmed,
        _ => NO_OBJECT,
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
