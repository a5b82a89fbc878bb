//! The forms in which datasets write a list of tests: a list, JSON text, or a Python literal.
//!
//! Names are taken as they stand; which of them exist is for the grader to say.

use serde_json::Value;

/// None if it is neither.
pub(super) fn read(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok().or_else(|| python(text)),
        other => serde_json::from_value(other.clone()).ok(),
    }
}

/// `['a', "b's"]`, as Python prints a list.
fn python(text: &str) -> Option<Vec<String>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut rest = inner.trim();
    let mut found = Vec::new();
    while let Some(quote) = rest.chars().next() {
        let (item, after) = string(rest.strip_prefix(['\'', '"'])?, quote)?;
        found.push(item);
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    Some(found)
}

/// Up to the closing quote, and what comes after it.
fn string(text: &str, quote: char) -> Option<(String, &str)> {
    let mut item = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            char if char == quote => return Some((item, chars.as_str())),
            '\\' => item.push(escaped(&mut chars)?),
            char => item.push(char),
        }
    }
}

fn escaped(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        char @ ('\\' | '\'' | '"') => return Some(char),
        _ => return None,
    };
    let code: String = chars.by_ref().take(digits).collect();
    char::from_u32(u32::from_str_radix(&code, 16).ok()?)
}
