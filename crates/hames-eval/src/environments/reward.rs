//! What a Harbor task's verifier wrote: `reward.txt`, one number, or `reward.json`, numbers by name.
//!
//! A verifier that wrote none has no verdict, which is not a zero.

use std::{fs, path::Path};

pub(super) fn read(folder: &Path) -> Option<f64> {
    if let Ok(text) = fs::read_to_string(folder.join("reward.txt")) {
        return text.trim().parse().ok();
    }
    let text = fs::read_to_string(folder.join("reward.json")).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    let named = || value.get("reward").and_then(serde_json::Value::as_f64);
    value.as_f64().or_else(named).or_else(|| only(&value))
}

/// Of several there is no one verdict.
fn only(value: &serde_json::Value) -> Option<f64> {
    let mut numbers = value.as_object()?.values();
    let first = numbers.next()?.as_f64();
    numbers.next().is_none().then_some(first).flatten()
}
