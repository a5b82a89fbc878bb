//! Keys that never show themselves, and the header each one travels in.
//!
//! Nothing here reads an environment: a key arrives with the shell expression that names it.

use std::{fmt, sync::Arc};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;

/// Something that must not be seen: its `Debug` and `Display` are the shell expression for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    text: Arc<str>,
    shell: Arc<str>,
}

impl Key {
    /// `variable` is where it came from, or where a user would put it. `None` if it is blank.
    pub fn new(text: &str, variable: &str) -> Option<Self> {
        Self::named(text, format!("${variable}"))
    }

    pub(crate) fn named(text: &str, shell: String) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self {
            text: text.into(),
            shell: shell.into(),
        })
    }

    pub(crate) fn expose(&self) -> &str {
        &self.text
    }

    /// Servers quote the key that they refuse.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        text.replace(&*self.text, &self.shell)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shell)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shell)
    }
}

/// How a vendor wants to be shown the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// `Authorization: Bearer KEY`
    Bearer,
    /// `x-api-key: KEY`
    XApiKey,
}

/// One header of every request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub name: String,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Plain(String),
    Secret { before: &'static str, key: Key },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the header {name} cannot be sent: {value} holds a character that HTTP does not allow")]
pub struct BadHeader {
    name: String,
    value: String,
}

impl Header {
    pub fn plain(name: &str, value: impl Into<String>) -> Self {
        let (name, value) = (name.to_owned(), Value::Plain(value.into()));
        Self { name, value }
    }

    pub fn secret(name: &str, before: &'static str, key: Key) -> Self {
        let (name, value) = (name.to_owned(), Value::Secret { before, key });
        Self { name, value }
    }

    pub fn auth(scheme: Scheme, key: Key) -> Self {
        match scheme {
            Scheme::Bearer => Self::secret("Authorization", "Bearer ", key),
            Scheme::XApiKey => Self::secret("x-api-key", "", key),
        }
    }
}

/// Lines of `Name: value`, as `ANTHROPIC_CUSTOM_HEADERS` holds them; a value may be a credential.
pub(crate) fn custom_headers(lines: &str, variable: &str) -> Vec<Header> {
    let header = |(at, line): (usize, &str)| {
        let (name, value) = line.split_once(':')?;
        let nth = at + 1;
        let shell =
            format!("$(printf '%s\\n' \"${variable}\" | sed -n '{nth}s/^[^:]*:[[:blank:]]*//p')");
        let key = Key::named(value, shell)?;
        Some(Header::secret(name.trim(), "", key))
    };
    lines.lines().enumerate().filter_map(header).collect()
}

/// Marks what is secret, so that no log of the HTTP library prints it.
pub(crate) fn header_map(headers: &[Header]) -> Result<HeaderMap, BadHeader> {
    let mut map = HeaderMap::new();
    for header in headers {
        let (text, secret) = match &header.value {
            Value::Plain(text) => (text.clone(), false),
            Value::Secret { before, key } => (format!("{before}{}", key.expose()), true),
        };
        let bad = || BadHeader {
            name: header.name.clone(),
            value: match &header.value {
                Value::Plain(text) => text.clone(),
                Value::Secret { key, .. } => key.to_string(),
            },
        };
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(&text).map_err(|_| bad())?;
        value.set_sensitive(secret);
        map.insert(name, value);
    }
    Ok(map)
}
