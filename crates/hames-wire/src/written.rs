//! How every wire writes the same things: escaped text, schemas as they stand, notes for what it lacks.
//!
//! Text is escaped once, by serde_json; nothing passes through a map.

use std::fmt::Write;

use hames_types::{ApiKind, Content, Echo, Head, RawJson};
use serde::de::IgnoredAny;

/// A JSON string.
pub(crate) fn string(text: &str) -> String {
    // A string always serializes.
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// A tool's schema as it was written; one that is no JSON would spoil every request.
pub(crate) fn schema(schema: &RawJson) -> &str {
    let text = schema.0.trim();
    let is_object = text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_object {
        text
    } else {
        r#"{"type":"object","properties":{}}"#
    }
}

/// `items` with commas between them.
pub(crate) fn joined(items: impl IntoIterator<Item = String>) -> String {
    let mut all = String::new();
    for item in items {
        if !all.is_empty() {
            all.push(',');
        }
        all += &item;
    }
    all
}

/// The shortest decimal of the number that was meant: 0.2 and not 0.20000000298023224.
pub(crate) fn number(value: f32) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "{value}");
    text
}

/// The bytes that may go back: written by this API and this model, and still JSON.
pub(crate) fn echo<'a>(echo: Option<&'a Echo>, api: ApiKind, head: &Head) -> Option<&'a str> {
    let echo = echo.filter(|echo| echo.api == api && echo.model == head.model)?;
    let text = echo.json.0.trim();
    serde_json::from_str::<IgnoredAny>(text).ok().map(|_| text)
}

/// The picture types that all three vendors take.
pub(crate) fn is_picture(media_type: &str) -> bool {
    matches!(
        media_type,
        "image/png" | "image/jpeg" | "image/gif" | "image/webp"
    )
}

/// One broken picture in the history would have every later request refused.
pub(crate) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(plain)
}

/// What is said in place of content that a wire has no form for.
pub(crate) fn note(content: &Content) -> String {
    match content {
        Content::Text { text } => text.clone(),
        Content::Image { media_type, .. } => left_out("an image", media_type),
        Content::Document { media_type, .. } => left_out("a document", media_type),
        Content::Blob(blob) => {
            let (len, media_type) = (blob.len, &blob.media_type);
            format!("[{len} bytes of {media_type} were left out here]")
        }
        Content::Opaque(_) => "[content of another service was left out here]".to_owned(),
    }
}

fn left_out(what: &str, media_type: &str) -> String {
    format!("[{what} ({media_type}) was left out here: it cannot be sent to this model]")
}

/// Contents as text alone.
pub(crate) fn plain(content: &[Content]) -> String {
    let texts: Vec<String> = content.iter().map(note).collect();
    texts.join("\n")
}

/// A call's id in the letters that the strictest server takes; ids from elsewhere have others.
pub(crate) fn identifier(id: &str) -> String {
    let mut safe = String::new();
    for symbol in id.chars() {
        if symbol.is_ascii_alphanumeric() || matches!(symbol, '_' | '-') {
            safe.push(symbol);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(safe, "_{:x}", u32::from(symbol));
        }
    }
    safe
}

/// A tool's name likewise: models invent some that would have every later request refused.
pub(crate) fn name(name: &str) -> String {
    let safe = |symbol: char| match symbol {
        '_' | '-' => symbol,
        symbol if symbol.is_ascii_alphanumeric() => symbol,
        _ => '_',
    };
    let name: String = name.chars().take(64).map(safe).collect();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}
