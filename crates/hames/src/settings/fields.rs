//! One JSON object of a settings file, read field by field.
//!
//! A value of the wrong type is an error that names file, key and what was expected; nothing is guessed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Origin, Set, SettingsError};

pub struct Fields<'a> {
    object: &'a Map<String, Value>,
    origin: &'a Origin,
    /// `permissions.` for what is inside it.
    path: String,
}

impl<'a> Fields<'a> {
    pub fn of(json: &'a Value, origin: &'a Origin) -> Result<Self, SettingsError> {
        Self::at(json, origin, String::new())
    }

    /// `path` names the object, with a dot at its end.
    pub fn at(json: &'a Value, origin: &'a Origin, path: String) -> Result<Self, SettingsError> {
        let Value::Object(object) = json else {
            let key = path.trim_end_matches('.').to_owned();
            let key = if key.is_empty() {
                "the file".to_owned()
            } else {
                key
            };
            return Err(wrong(origin, key, "an object", json));
        };
        Ok(Self {
            object,
            origin,
            path,
        })
    }

    /// By its name here or in camel case; with the name as it is written.
    pub fn get(&self, key: &str) -> Option<(String, &'a Value)> {
        let found = self.object.iter().find(|(name, _)| snake(name) == key);
        let found = found.filter(|(_, value)| !value.is_null());
        found.map(|(name, value)| (format!("{}{name}", self.path), value))
    }

    pub fn set<T>(&self, value: T) -> Set<T> {
        let origin = self.origin.clone();
        Set { value, origin }
    }

    /// Its fields that are none of `known`, by their full names.
    pub fn unknown(&self, known: &[&str]) -> Vec<String> {
        let strange = |name: &&String| !known.contains(&snake(name).as_str());
        let strange = self.object.keys().filter(strange);
        strange.map(|name| format!("{}{name}", self.path)).collect()
    }

    pub fn error(&self, key: impl Into<String>, problem: impl Into<String>) -> SettingsError {
        SettingsError::Value {
            file: self.origin.file.to_path_buf(),
            key: key.into(),
            problem: problem.into(),
        }
    }

    pub fn inside(&self, key: &str) -> Result<Option<Fields<'a>>, SettingsError> {
        let Some((name, value)) = self.get(key) else {
            return Ok(None);
        };
        Fields::at(value, self.origin, format!("{name}.")).map(Some)
    }

    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<Set<T>>, SettingsError> {
        let Some((name, value)) = self.get(key) else {
            return Ok(None);
        };
        match read(value) {
            Some(read) => Ok(Some(self.set(read))),
            None => Err(wrong(self.origin, name, expected, value)),
        }
    }

    pub fn text(&self, key: &str) -> Result<Option<Set<String>>, SettingsError> {
        self.read(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    pub fn flag(&self, key: &str) -> Result<Option<Set<bool>>, SettingsError> {
        self.read(key, "true or false", Value::as_bool)
    }

    pub fn count(&self, key: &str) -> Result<Option<Set<u64>>, SettingsError> {
        let above_zero = |value: &Value| value.as_u64().filter(|count| *count > 0);
        self.read(key, "a whole number above 0", above_zero)
    }

    pub fn number(&self, key: &str) -> Result<Option<Set<f64>>, SettingsError> {
        let above_zero = |value: &Value| value.as_f64().filter(|number| *number > 0.0);
        self.read(key, "a number above 0", above_zero)
    }

    pub fn turns(&self, key: &str) -> Result<Option<Set<Option<u32>>>, SettingsError> {
        let turns = |value: &Value| match value.as_str() {
            Some("none") => Some(None),
            Some(_) => None,
            None => {
                let turns = value.as_u64().and_then(|turns| u32::try_from(turns).ok());
                turns.filter(|turns| *turns > 0).map(Some)
            }
        };
        self.read(key, "a whole number above 0, or \"none\"", turns)
    }

    /// An object whose values are texts.
    pub fn texts(&self, key: &str) -> Result<Option<BTreeMap<String, String>>, SettingsError> {
        let Some(inside) = self.inside(key)? else {
            return Ok(None);
        };
        let mut texts = BTreeMap::new();
        for (name, value) in inside.object {
            let text = value.as_str().ok_or_else(|| {
                let key = format!("{}{name}", inside.path);
                wrong(self.origin, key, "a text", value)
            })?;
            texts.insert(name.clone(), text.to_owned());
        }
        Ok(Some(texts))
    }

    pub fn list(&self, key: &str) -> Result<Vec<(String, &'a Value)>, SettingsError> {
        let Some((name, value)) = self.get(key) else {
            return Ok(Vec::new());
        };
        let Value::Array(items) = value else {
            return Err(wrong(self.origin, name, "a list", value));
        };
        let items = items.iter().enumerate();
        Ok(items
            .map(|(at, item)| (format!("{name}[{at}]"), item))
            .collect())
    }

    pub fn text_list(&self, key: &str) -> Result<Vec<String>, SettingsError> {
        let text = |(name, value): (String, &Value)| match value.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(wrong(self.origin, name, "a text", value)),
        };
        self.list(key)?.into_iter().map(text).collect()
    }

    /// The fields by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.object.iter()
    }

    pub fn path(&self) -> &str {
        &self.path
    }
}

fn wrong(origin: &Origin, key: String, expected: &str, found: &Value) -> SettingsError {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("{value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.len() <= 40 => format!("the text {text:?}"),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    SettingsError::Value {
        file: origin.file.to_path_buf(),
        key,
        problem: format!("expected {expected}, found {found}"),
    }
}

/// `fallbackModel` is `fallback_model`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}
