//! Which services and models there are, read from `catalog.toml`, and what `--model` means.
//!
//! Sends nothing and reads no environment.

use std::collections::BTreeSet;

use hames_types::{ApiKind, Prices};
use serde::Deserialize;

use crate::auth::Scheme;

/// What is assumed of a model that no row describes, in tokens: small enough for most.
const UNKNOWN_WINDOW: u32 = 32_768;
const UNKNOWN_OUTPUT: u32 = 4_096;
/// What an answer may take where only the window limits it, so that there is room for the question.
const UNSTATED_OUTPUT: u32 = 16_384;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    #[serde(rename = "vendor")]
    vendors: Vec<Vendor>,
    #[serde(rename = "model")]
    models: Vec<ModelRow>,
}

/// A service, or a kind of local server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    pub name: String,
    pub api: ApiKind,
    pub base_url: String,
    /// Variables that name another base URL; the first that is set counts.
    #[serde(default)]
    pub base_url_variables: Vec<String>,
    #[serde(default)]
    pub model_variables: Vec<String>,
    #[serde(default)]
    pub default_model: Option<String>,
    /// Variables that hold a key; the first that is set counts.
    #[serde(default)]
    pub keys: Vec<KeyRow>,
    #[serde(default)]
    pub headers: Vec<HeaderRow>,
    /// Holds lines of `Name: value`.
    #[serde(default)]
    pub custom_headers_variable: Option<String>,
    /// Runs on this machine or near it: needs no key, costs nothing, and may be slow to begin.
    #[serde(default)]
    pub local: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRow {
    pub variable: String,
    pub scheme: Scheme,
}

/// Either a fixed value, or the variable that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderRow {
    pub name: String,
    #[serde(default)]
    pub value: Option<String>,
    #[serde(default)]
    pub variable: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRow {
    pub vendor: String,
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    pub window: u32,
    #[serde(default)]
    pub max_output: Option<u32>,
    #[serde(default)]
    pub prices: Option<Prices>,
    #[serde(default)]
    pub priced: Option<String>,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// As the service wants it.
    pub name: String,
    /// In tokens, input and output together.
    pub window: u32,
    /// The most tokens that one answer may have.
    pub max_output: u32,
    /// `None`: its cost is told in tokens only.
    pub prices: Option<Prices>,
    /// The month of the prices, `2026-11`.
    pub priced: Option<String>,
    /// No row describes it: window and cap are conservative guesses.
    pub known: bool,
}

/// What `--model` asks for. Without a model, the service's default or a local server's first.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub vendor: Vendor,
    pub model: Option<Model>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("catalog.toml: {0}")]
    Unreadable(String),
    #[error("several vendors have `{model}`; write one of {}", choices.join(", "))]
    Ambiguous { model: String, choices: Vec<String> },
    #[error(
        "there is no vendor `{vendor}`; write VENDOR/MODEL with one of {vendors}, or URL#MODEL"
    )]
    UnknownVendor { vendor: String, vendors: String },
    #[error(
        "no vendor is known to have `{model}`; write VENDOR/MODEL with one of {vendors}, or URL#MODEL"
    )]
    UnknownModel { model: String, vendors: String },
    #[error("no model is named; write VENDOR/MODEL with one of {vendors}, or URL#MODEL")]
    Nothing { vendors: String },
    #[error("`{wire}+` names no wire; a URL may begin with openai+, anthropic+ or ollama+")]
    UnknownWire { wire: String },
}

impl Catalog {
    /// The one that is built in.
    pub fn built_in() -> Result<Self, CatalogError> {
        Self::parse(include_str!("catalog.toml"))
    }

    pub fn parse(text: &str) -> Result<Self, CatalogError> {
        let unreadable = |error: toml::de::Error| CatalogError::Unreadable(error.to_string());
        toml::from_str(text).map_err(unreadable)
    }

    /// A vendor of the user's own; one of the same name is replaced.
    pub fn add(&mut self, vendor: Vendor) {
        self.vendors.retain(|known| known.name != vendor.name);
        self.vendors.push(vendor);
    }

    /// In the order of discovery.
    pub fn vendors(&self) -> &[Vendor] {
        &self.vendors
    }

    pub fn models(&self) -> &[ModelRow] {
        &self.models
    }

    pub fn vendor(&self, name: &str) -> Option<&Vendor> {
        self.vendors.iter().find(|vendor| vendor.name == name)
    }

    /// Reads `VENDOR/MODEL`, `VENDOR`, `MODEL` if one vendor has it, `URL#MODEL` or `URL`.
    pub fn find(&self, spec: &str) -> Result<Asked, CatalogError> {
        let spec = spec.trim();
        if spec.contains("://") {
            return self.at_url(spec);
        }
        let (first, rest) = spec.split_once('/').unwrap_or((spec, ""));
        if let Some(vendor) = self.vendor(first) {
            let model = (!rest.is_empty()).then(|| self.model(first, rest));
            let vendor = vendor.clone();
            return Ok(Asked { vendor, model });
        }
        self.only_vendor_of(spec)
    }

    /// By name, alias, or name with a date behind it.
    pub fn model(&self, vendor: &str, name: &str) -> Model {
        let of_vendor = || self.models.iter().filter(|row| row.vendor == vendor);
        let row = of_vendor().find(|row| row.is(name));
        let row = row.or_else(|| of_vendor().find(|row| without_date(name) == Some(&row.name)));
        let Some(row) = row else {
            return Model {
                name: name.to_owned(),
                window: UNKNOWN_WINDOW,
                max_output: UNKNOWN_OUTPUT,
                prices: None,
                priced: None,
                known: false,
            };
        };
        let is_alias = row.aliases.iter().any(|alias| alias == name);
        Model {
            name: if is_alias { &row.name } else { name }.to_owned(),
            window: row.window,
            max_output: row.max_output.unwrap_or(UNSTATED_OUTPUT),
            prices: row.prices,
            priced: row.priced.clone(),
            known: true,
        }
    }

    fn only_vendor_of(&self, name: &str) -> Result<Asked, CatalogError> {
        let rows = self.models.iter().filter(|row| row.is(name));
        let having: BTreeSet<&str> = rows.map(|row| row.vendor.as_str()).collect();
        let model = name.to_owned();
        let vendors = self.vendor_names();
        let mut having = having.into_iter();
        match (having.next(), having.next()) {
            (Some(only), None) => {
                let model = Some(self.model(only, name));
                let vendor = self.vendor(only).cloned();
                let unknown = CatalogError::UnknownVendor {
                    vendor: only.to_owned(),
                    vendors,
                };
                let vendor = vendor.ok_or(unknown)?;
                Ok(Asked { vendor, model })
            }
            (Some(first), Some(second)) => {
                let all = [first, second].into_iter().chain(having);
                let choices = all.map(|vendor| format!("{vendor}/{name}")).collect();
                Err(CatalogError::Ambiguous { model, choices })
            }
            (None, _) if name.is_empty() => Err(CatalogError::Nothing { vendors }),
            (None, _) => match name.split_once('/') {
                Some((vendor, _)) => Err(CatalogError::UnknownVendor {
                    vendor: vendor.to_owned(),
                    vendors,
                }),
                None => Err(CatalogError::UnknownModel { model, vendors }),
            },
        }
    }

    /// `http://HOST:PORT/v1#MODEL`, its wire OpenAI's unless `anthropic+` or `ollama+` stands before it.
    fn at_url(&self, spec: &str) -> Result<Asked, CatalogError> {
        let (address, model) = spec.split_once('#').unwrap_or((spec, ""));
        let scheme = address.split("://").next().unwrap_or_default();
        let (api, base_url) = match scheme.split_once('+') {
            None => (ApiKind::OpenaiChat, address),
            Some((wire, _)) => {
                let api = match wire {
                    "openai" => ApiKind::OpenaiChat,
                    "anthropic" => ApiKind::AnthropicMessages,
                    "ollama" => ApiKind::OllamaChat,
                    _ => return Err(CatalogError::UnknownWire { wire: wire.into() }),
                };
                (api, address.get(wire.len() + 1..).unwrap_or_default())
            }
        };
        let vendor = self.vendor_at(api, base_url);
        let model = (!model.is_empty()).then(|| self.model(&vendor.name, model));
        Ok(Asked { vendor, model })
    }

    /// Nothing is known about it but its wire. It gets neither the key of the wire's own vendor, which
    /// is not for strangers, nor that vendor's prices.
    fn vendor_at(&self, api: ApiKind, base_url: &str) -> Vendor {
        let of_wire = self.vendors.iter().find(|vendor| vendor.api == api);
        Vendor {
            name: base_url.to_owned(),
            api,
            base_url: base_url.to_owned(),
            base_url_variables: Vec::new(),
            model_variables: Vec::new(),
            default_model: None,
            keys: Vec::from([KeyRow {
                variable: "HAMES_API_KEY".into(),
                scheme: match api {
                    ApiKind::AnthropicMessages => Scheme::XApiKey,
                    ApiKind::OpenaiChat
                    | ApiKind::OpenaiResponses
                    | ApiKind::OllamaChat
                    | ApiKind::GeminiGenerate => Scheme::Bearer,
                },
            }]),
            headers: of_wire.map_or_else(Vec::new, fixed_headers),
            custom_headers_variable: None,
            local: true,
        }
    }

    fn vendor_names(&self) -> String {
        let names = self.vendors.iter().map(|vendor| vendor.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }
}

impl ModelRow {
    fn is(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

fn fixed_headers(vendor: &Vendor) -> Vec<HeaderRow> {
    let fixed = |header: &&HeaderRow| header.value.is_some();
    vendor.headers.iter().filter(fixed).cloned().collect()
}

/// `gpt-4o-2024-08-06` and `claude-haiku-4-5-20251001` are what `gpt-4o` and `claude-haiku-4-5` were.
fn without_date(name: &str) -> Option<&str> {
    let shapes = ["-dddddddd", "-dddd-dd-dd"];
    shapes.iter().find_map(|shape| {
        let at = name.len().checked_sub(shape.len())?;
        let (undated, date) = name.split_at_checked(at)?;
        let mut pairs = date.bytes().zip(shape.bytes());
        let fits = pairs.all(|(byte, wanted)| match wanted {
            b'd' => byte.is_ascii_digit(),
            _ => byte == wanted,
        });
        fits.then_some(undated)
    })
}
