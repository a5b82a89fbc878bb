//! The model that will be used: whose it is, where, with which key, and how it was found.
//!
//! It sends nothing until it is connected and asked.

use std::{fmt, sync::Arc, time::Duration};

use hames_types::ApiKind;
use hames_wire::Delivery;

use crate::{
    auth::{Header, Key, Scheme, custom_headers},
    catalog::{Model, Vendor},
    http::{ConnectError, Endpoint, HttpProvider},
    network::{Network, Timeouts},
};

/// Reads a variable of the environment.
pub type Variables<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// A local server reads its prompt before it says a word, on a slow machine for minutes.
const LOCAL_PATIENCE: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub vendor: Vendor,
    pub model: Model,
    pub base_url: String,
    pub found: Found,
    pub(crate) headers: Vec<Header>,
}

/// Which way the model was found; its `Display` is the reason, for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Asked,
    Settings,
    Variable(String),
    /// A server that answered at this URL.
    Server(String),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("it was asked for"),
            Self::Settings => f.write_str("the settings name it"),
            Self::Variable(name) => write!(f, "{name} is set"),
            Self::Server(url) => write!(f, "a server answers at {url}"),
        }
    }
}

impl Choice {
    /// `VENDOR/MODEL`, or `URL#MODEL`: what `--model` would take to choose it again.
    pub fn spec(&self) -> String {
        let mark = if self.vendor.name.contains("://") {
            '#'
        } else {
            '/'
        };
        let wire = match self.vendor.api {
            _ if mark == '/' => "",
            ApiKind::AnthropicMessages => "anthropic+",
            ApiKind::OllamaChat => "ollama+",
            ApiKind::OpenaiChat | ApiKind::OpenaiResponses | ApiKind::GeminiGenerate => "",
        };
        format!("{wire}{}{mark}{}", self.vendor.name, self.model.name)
    }

    pub fn api(&self) -> ApiKind {
        self.vendor.api
    }

    /// On this machine or at an address of the user's own, where the catalog's word counts for little.
    pub fn is_own_server(&self) -> bool {
        self.vendor.local || self.base_url != self.vendor.base_url
    }

    /// 10, 60 and 60 s; a local server has ten minutes to say its first and its next word.
    pub fn timeouts(&self) -> Timeouts {
        let mut timeouts = Timeouts::default();
        if self.vendor.local {
            timeouts.first_byte = LOCAL_PATIENCE;
            timeouts.idle = LOCAL_PATIENCE;
        }
        timeouts
    }

    /// Opens no connection yet: that happens at the first call.
    pub fn connect(
        &self,
        network: Network,
        timeouts: Timeouts,
        delivery: Delivery,
    ) -> Result<Arc<HttpProvider>, ConnectError> {
        let endpoint = Endpoint {
            api: self.vendor.api,
            base_url: self.base_url.clone(),
            headers: self.headers.clone(),
        };
        HttpProvider::new(endpoint, network, timeouts, delivery).map(Arc::new)
    }
}

/// The key that is set, how it is shown, and the variable that holds it.
pub(crate) fn credential(
    vendor: &Vendor,
    variables: Variables<'_>,
) -> Option<(Key, Scheme, String)> {
    vendor.keys.iter().find_map(|row| {
        let key = Key::new(&variables(&row.variable)?, &row.variable)?;
        Some((key, row.scheme, row.variable.clone()))
    })
}

pub(crate) fn headers(vendor: &Vendor, variables: Variables<'_>) -> Vec<Header> {
    let credential = credential(vendor, variables);
    let auth = credential.map(|(key, scheme, _)| Header::auth(scheme, key));
    let rows = vendor.headers.iter().filter_map(|row| {
        if let Some(value) = &row.value {
            return Some(Header::plain(&row.name, value.clone()));
        }
        let variable = row.variable.as_deref()?;
        let key = Key::new(&variables(variable)?, variable)?;
        Some(Header::secret(&row.name, "", key))
    });
    let custom = vendor.custom_headers_variable.as_deref();
    let custom = custom.and_then(|name| Some(custom_headers(&variables(name)?, name)));
    auth.into_iter()
        .chain(rows)
        .chain(custom.unwrap_or_default())
        .collect()
}
