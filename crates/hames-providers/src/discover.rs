//! Which model to use when nothing, or not everything, is said.
//!
//! It asks servers what they have, and sends no prompt to any; the environment comes in as a closure.

mod local;

use std::{fmt, time::Duration};

use hames_types::ApiKind;

use crate::{
    ask::{Service, list, text},
    auth::header_map,
    catalog::{Asked, Catalog, CatalogError, Vendor},
    choice::{Choice, Found, Variables, credential, headers},
    network::Network,
};

/// How long a server on this machine may take to show that it is there.
const GLANCE: Duration = Duration::from_millis(400);
/// How long a server that was chosen may take to say what it has.
const QUESTION: Duration = Duration::from_secs(3);

/// What a user has said about the model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// `--model`
    pub asked: Option<&'a str>,
    /// The settings files' model.
    pub settings: Option<&'a str>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoModel {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error("{vendor} needs a key; set {}", variables.join(" or "))]
    NoKey {
        vendor: String,
        variables: Vec<String>,
    },
    #[error(
        "no model is known at {url}: it does not answer, or has none; write {}",
        a_model_of(vendor)
    )]
    NoneThere { vendor: String, url: String },
    #[error("{0}")]
    Nothing(FourWays),
}

/// How a model of that vendor is named: an address takes a `#`.
fn a_model_of(vendor: &str) -> String {
    let between = if vendor.contains("://") { '#' } else { '/' };
    format!("{vendor}{between}MODEL")
}

/// What to do when there is no model at all, in six lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FourWays {
    /// Where a server answered that has no model.
    pub empty_server: Option<String>,
}

impl fmt::Display for FourWays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = match &self.empty_server {
            Some(url) => {
                format!("ollama pull qwen3  (a server answers at {url}, but has no model)")
            }
            None => {
                "ollama serve & ollama pull qwen3  (llama.cpp, LM Studio, vLLM do as well)".into()
            }
        };
        writeln!(f, "no model was found; there are four ways to get one:")?;
        writeln!(
            f,
            "  set a key        export ANTHROPIC_API_KEY=...  (or OPENAI_API_KEY, OPENROUTER_API_KEY, ...)"
        )?;
        writeln!(f, "  run a server     {run}")?;
        writeln!(
            f,
            "  name a server    hames --model http://HOST:PORT/v1#MODEL  (also anthropic+http://, ollama+http://)"
        )?;
        writeln!(
            f,
            "  do without one   hames demo  (a scripted model: no key, no network)"
        )?;
        write!(
            f,
            "`hames models` lists what is known, `hames doctor` what was looked for"
        )
    }
}

/// The first that answers: what was asked for, the settings, a key in the catalog's order, a server
/// on this machine in the catalog's order.
pub async fn discover(
    catalog: &Catalog,
    wanted: Wanted<'_>,
    variables: Variables<'_>,
    network: &Network,
) -> Result<Choice, NoModel> {
    let seeker = Seeker {
        catalog,
        variables,
        network,
    };
    if let Some(spec) = wanted.asked {
        return seeker.resolve(catalog.find(spec)?, Found::Asked).await;
    }
    if let Some(spec) = wanted.settings {
        return seeker.resolve(catalog.find(spec)?, Found::Settings).await;
    }
    let hosted = catalog.vendors().iter().filter(|vendor| !vendor.local);
    let mut named = hosted.filter_map(|vendor| Some((vendor, seeker.naming_variable(vendor)?)));
    if let Some((vendor, variable)) = named.next() {
        let asked = Asked {
            vendor: vendor.clone(),
            model: None,
        };
        return seeker.resolve(asked, Found::Variable(variable)).await;
    }
    local::first(&seeker).await
}

struct Seeker<'a> {
    catalog: &'a Catalog,
    variables: Variables<'a>,
    network: &'a Network,
}

impl Seeker<'_> {
    /// The variable that says that this vendor is meant: a key, or an address of the user's own.
    fn naming_variable(&self, vendor: &Vendor) -> Option<String> {
        if let Some((_, _, variable)) = credential(vendor, self.variables) {
            return Some(variable);
        }
        let (variable, _) = self.own_address(vendor)?;
        Some(variable)
    }

    fn own_address(&self, vendor: &Vendor) -> Option<(String, String)> {
        vendor.base_url_variables.iter().find_map(|name| {
            let value = (self.variables)(name)?;
            let value = value.trim();
            (!value.is_empty()).then(|| (name.clone(), value.to_owned()))
        })
    }

    fn base_url(&self, vendor: &Vendor) -> String {
        match self.own_address(vendor) {
            Some((_, address)) if vendor.api == ApiKind::OllamaChat => ollama_url(&address),
            Some((_, address)) => address,
            None => vendor.base_url.clone(),
        }
    }

    async fn resolve(&self, asked: Asked, found: Found) -> Result<Choice, NoModel> {
        let Asked { vendor, model } = asked;
        let base_url = self.base_url(&vendor);
        let is_own = vendor.local || base_url != vendor.base_url;
        if !is_own && credential(&vendor, self.variables).is_none() {
            let variables = vendor.keys.into_iter().map(|row| row.variable);
            return Err(NoModel::NoKey {
                vendor: vendor.name,
                variables: variables.collect(),
            });
        }
        let model = match model {
            Some(model) => model,
            None => {
                let name = self.unsaid_model(&vendor, &base_url, is_own).await;
                let none_there = || NoModel::NoneThere {
                    vendor: vendor.name.clone(),
                    url: base_url.clone(),
                };
                self.catalog
                    .model(&vendor.name, &name.ok_or_else(none_there)?)
            }
        };
        Ok(Choice {
            headers: headers(&vendor, self.variables),
            vendor,
            model,
            base_url,
            found,
        })
    }

    /// A variable's, else what a server of the user's own has, else the vendor's default.
    async fn unsaid_model(&self, vendor: &Vendor, base_url: &str, is_own: bool) -> Option<String> {
        let set = |name: &String| (self.variables)(name).filter(|model| !model.trim().is_empty());
        if let Some(model) = vendor.model_variables.iter().find_map(set) {
            return Some(model.trim().to_owned());
        }
        if is_own && let Some(service) = self.service(vendor, base_url, QUESTION) {
            let there = models(&service, vendor.api).await.unwrap_or_default();
            let default = vendor.default_model.as_ref();
            if let Some(model) = default.filter(|model| there.contains(model)) {
                return Some(model.clone());
            }
            if let Some(first) = there.into_iter().next() {
                return Some(first);
            }
        }
        vendor.default_model.clone()
    }

    fn service(&self, vendor: &Vendor, base_url: &str, limit: Duration) -> Option<Service> {
        let headers = header_map(&headers(vendor, self.variables)).ok()?;
        Service::new(self.network, base_url, headers, limit)
    }
}

/// The models of a service that can answer, best first; `None` if nobody answered.
async fn models(service: &Service, api: ApiKind) -> Option<Vec<String>> {
    if api == ApiKind::OllamaChat {
        return local::ollama_models(service).await;
    }
    let answer = service.get("/v1/models").await?;
    let names = list(&answer, "data")
        .iter()
        .filter_map(|model| text(model, "id"));
    let names = names.filter(|name| !name.contains("embed"));
    Some(names.map(str::to_owned).collect())
}

/// `HOST`, `HOST:PORT`, `:PORT` or a URL, as Ollama's own client reads `OLLAMA_HOST`; an address to
/// listen on everywhere is one to be reached at home.
fn ollama_url(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/');
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (name, Some(port)),
        Some(_) | None => (rest, None),
    };
    let name = match name {
        "" | "0.0.0.0" | "[::]" => "127.0.0.1",
        name => name,
    };
    match port {
        Some(port) => format!("{scheme}://{name}:{port}"),
        None if host.contains("://") => format!("{scheme}://{name}"),
        None => format!("{scheme}://{name}:11434"),
    }
}
