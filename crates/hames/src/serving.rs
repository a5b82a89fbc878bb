//! Which model serves: a name on the command line, the settings, or what can be found.
//!
//! It opens no connection to a hosted service, and hands no key on but inside a provider.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};

use anyhow::Result;
use hames_providers::{
    Catalog, Choice, HttpProvider, LocalWindow, Network, Scripted, Timeouts, Wanted, discover,
    local_window,
};
use hames_types::{ApiKind, Prices, Provider};
use hames_wire::Delivery;

use crate::{environment::Environment, exit::usage, report::Window, settings::Set};

/// What services there are, and how they are reached.
pub struct Services {
    pub catalog: Catalog,
    pub network: Network,
    /// Those that the settings name; the others are the vendor's.
    timeouts: crate::settings::Timeouts,
}

/// A model that can be asked.
pub struct Serving {
    pub provider: Arc<dyn Provider>,
    /// The same, where it can say what it would send.
    pub http: Option<Arc<HttpProvider>>,
    pub name: Arc<str>,
    pub window: Window,
    pub prices: Option<Prices>,
    /// The variable that holds the key, or `none`.
    pub key_source: String,
    /// Sent with each request, where the server would cut it in silence otherwise.
    pub say_window: Option<u32>,
    /// A server whose window has yet to be asked for.
    pub own_server: Option<Choice>,
    /// For the user.
    pub notes: Vec<String>,
}

impl Services {
    pub fn of(environment: &Environment, timeouts: &crate::settings::Timeouts) -> Result<Self> {
        let variable = |name: &str| environment.var(name).map(str::to_owned);
        let network = Network::from_variables(variable);
        Ok(Self {
            catalog: Catalog::built_in()?,
            network,
            timeouts: timeouts.clone(),
        })
    }

    /// Every variable that may hold a key: no child process gets to see them.
    pub fn secret_variables(&self) -> BTreeSet<String> {
        let mut secret = BTreeSet::new();
        for vendor in self.catalog.vendors() {
            secret.extend(vendor.keys.iter().map(|key| key.variable.clone()));
            secret.extend(
                vendor
                    .headers
                    .iter()
                    .filter_map(|header| header.variable.clone()),
            );
            secret.extend(vendor.custom_headers_variable.clone());
        }
        secret
    }

    /// `asked` on the command line, else `settings`, else what is there.
    pub async fn serving(
        &self,
        asked: Option<&str>,
        settings: Option<&str>,
        environment: &Environment,
    ) -> Result<Serving> {
        if let Some(file) = asked
            .or(settings)
            .and_then(|name| name.strip_prefix("script:"))
        {
            return scripted(&environment.current_dir.join(Path::new(file)));
        }
        let variable = |name: &str| environment.var(name).map(str::to_owned);
        let wanted = Wanted { asked, settings };
        let found = discover(&self.catalog, wanted, &variable, &self.network).await;
        let choice = found.map_err(|none| usage(none.to_string()))?;
        self.connect(choice).await
    }

    async fn connect(&self, choice: Choice) -> Result<Serving> {
        let delivery = Delivery::Stream;
        let connected = choice.connect(self.network.clone(), self.timeouts(&choice), delivery);
        let http = connected.map_err(|error| usage(error.to_string()))?;
        let mut serving = Serving {
            provider: http.clone(),
            http: Some(http),
            name: choice.model.name.as_str().into(),
            window: Window {
                context: choice.model.window.into(),
                output: choice.model.max_output.into(),
            },
            prices: choice.model.prices,
            key_source: choice
                .vendor
                .keys
                .first()
                .map_or("none", |key| &key.variable)
                .to_owned(),
            say_window: None,
            own_server: None,
            notes: Vec::new(),
        };
        if !choice.model.known && !choice.is_own_server() {
            serving.notes.push(unknown(&choice));
        }
        if !choice.is_own_server() {
            return Ok(serving);
        }
        // Ollama cuts a request in silence unless the first one says how much it is to hold.
        if choice.api() == ApiKind::OllamaChat {
            let window = local_window(&choice, &self.network).await;
            serving.take_window(window);
        } else {
            serving.own_server = Some(choice);
        }
        Ok(serving)
    }
}

impl Services {
    fn timeouts(&self, choice: &Choice) -> Timeouts {
        let mut timeouts = choice.timeouts();
        let seconds =
            |set: &Option<Set<f64>>| Duration::try_from_secs_f64(set.as_ref()?.value).ok();
        let set = &self.timeouts;
        timeouts.connect = seconds(&set.connect).unwrap_or(timeouts.connect);
        timeouts.first_byte = seconds(&set.first_byte).unwrap_or(timeouts.first_byte);
        timeouts.idle = seconds(&set.idle).unwrap_or(timeouts.idle);
        timeouts
    }
}

impl Serving {
    fn take_window(&mut self, window: Option<LocalWindow>) {
        let Some(window) = window else {
            return;
        };
        self.window.context = window.tokens.into();
        self.say_window = window.say_in_request.then_some(window.tokens);
    }
}

fn unknown(choice: &Choice) -> String {
    format!(
        "{} is not in the catalog: a window of {} tokens is assumed, and its cost is counted in \
         tokens only",
        choice.spec(),
        choice.model.window
    )
}

fn scripted(file: &Path) -> Result<Serving> {
    let provider = Scripted::open(file).map_err(|error| usage(error.to_string()))?;
    Ok(Serving {
        provider: Arc::new(provider),
        http: None,
        name: "scripted".into(),
        window: Window {
            context: 200_000,
            output: 4096,
        },
        // It costs nothing, and a limit of cost can be tried on it: a dollar a million tokens.
        prices: Some(Prices {
            input: 1.0,
            output: 1.0,
            cache_read: 1.0,
            cache_write: 1.0,
        }),
        key_source: "none".to_owned(),
        say_window: None,
        own_server: None,
        notes: Vec::new(),
    })
}
