//! The models of a run: the one that serves, the one that takes over, and those with a role.
//!
//! All of them share one system prompt and one list of tools.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Result;
use hames_agent::{
    Model,
    budget::Limits,
    compaction::{ClearThenSummarize, Compaction, Window as CompactionWindow},
};
use hames_providers::HttpProvider;
use hames_types::{Head, Options, Prices, ToolSpec};
use tokio::sync::OnceCell;

use crate::{
    environment::Environment,
    exit::usage,
    late_window::LateWindow,
    report::Window,
    serving::{Services, Serving},
    settled::Settled,
};

/// What children are labelled by those who open them, and `--model-for` may name.
const ROLES: [&str; 5] = ["critic", "planner", "executor", "reviewer", "compact"];

pub struct Models {
    services: Services,
    common: Common,
    main: Served,
    fallback: Option<Served>,
    roles: BTreeMap<String, Served>,
}

struct Served {
    serving: Serving,
    model: Arc<Model>,
}

/// What all heads have in common.
struct Common {
    system: Arc<str>,
    tools: Vec<Arc<ToolSpec>>,
    max_output: Option<u32>,
    effort: Option<String>,
}

impl Models {
    pub async fn find(
        settled: &Settled,
        environment: &Environment,
        services: Services,
        system: Arc<str>,
        tools: Vec<Arc<ToolSpec>>,
    ) -> Result<Self> {
        let args = &settled.args;
        let common = Common {
            system,
            tools,
            max_output: args.limits.max_output_tokens,
            effort: args.model.effort.clone(),
        };
        let main = services
            .serving(
                args.model.model.as_deref(),
                settled.model.as_deref(),
                environment,
            )
            .await?;
        let fallback = match &args.model.fallback_model {
            Some(name) => Some(services.serving(Some(name), None, environment).await?),
            None => None,
        };
        let mut roles = BTreeMap::new();
        for (role, name) in &args.model.model_for {
            let label = label(role)?;
            let serving = services.serving(Some(name), None, environment).await?;
            roles.insert(label.to_owned(), common.served(serving));
        }
        Ok(Self {
            main: common.served(main),
            fallback: fallback.map(|serving| common.served(serving)),
            roles,
            services,
            common,
        })
    }

    pub fn main(&self) -> Arc<Model> {
        self.main.model.clone()
    }

    pub fn fallback(&self) -> Option<Arc<Model>> {
        self.fallback.as_ref().map(|served| served.model.clone())
    }

    pub fn roles(&self) -> Arc<BTreeMap<String, Arc<Model>>> {
        let roles = self.roles.iter();
        Arc::new(
            roles
                .map(|(label, served)| (label.clone(), served.model.clone()))
                .collect(),
        )
    }

    pub fn http(&self) -> Option<&Arc<HttpProvider>> {
        self.main.serving.http.as_ref()
    }

    pub fn key_source(&self) -> &str {
        &self.main.serving.key_source
    }

    /// Another model in the place of the one that serves; its name, as the journal will have it.
    pub async fn change(&mut self, name: &str, environment: &Environment) -> Result<Arc<Model>> {
        let serving = self.services.serving(Some(name), None, environment).await?;
        self.main = self.common.served(serving);
        Ok(self.main())
    }

    /// A limit of cost that nobody can keep is refused, not ignored.
    pub fn check_cost_limit(&self, limits: &Limits) -> Result<()> {
        let unpriced = self.all().find(|served| served.serving.prices.is_none());
        match (limits.max_cost, unpriced) {
            (Some(_), Some(served)) => Err(usage(format!(
                "--max-cost cannot be kept: the price of {} is not known; use --max-total-tokens",
                served.serving.name
            ))),
            _ => Ok(()),
        }
    }

    pub fn compaction(&self, share: f64) -> Arc<dyn Compaction> {
        let Serving {
            window, own_server, ..
        } = &self.main.serving;
        let assumed = CompactionWindow {
            tokens: window.context,
            source: "the catalog".to_owned(),
        };
        match own_server {
            Some(server) => Arc::new(LateWindow {
                server: server.clone(),
                network: self.services.network.clone(),
                assumed,
                share,
                known: OnceCell::new(),
            }),
            None => Arc::new(ClearThenSummarize::new(assumed, share)),
        }
    }

    pub fn prices(&self) -> BTreeMap<Arc<str>, Prices> {
        let priced = self
            .all()
            .filter_map(|Served { serving, .. }| Some((serving.name.clone(), serving.prices?)));
        priced.collect()
    }

    pub fn windows(&self) -> BTreeMap<Arc<str>, Window> {
        let windows = self
            .all()
            .map(|Served { serving, .. }| (serving.name.clone(), serving.window));
        windows.collect()
    }

    pub fn notes(&self) -> Vec<String> {
        self.all()
            .flat_map(|served| served.serving.notes.clone())
            .collect()
    }

    fn all(&self) -> impl Iterator<Item = &Served> {
        std::iter::once(&self.main)
            .chain(&self.fallback)
            .chain(self.roles.values())
    }
}

impl Common {
    fn served(&self, serving: Serving) -> Served {
        let output = u32::try_from(serving.window.output).unwrap_or(u32::MAX);
        let head = Head {
            api: serving.provider.api(),
            model: serving.name.clone(),
            system: self.system.clone(),
            tools: self.tools.clone(),
            options: Options {
                max_tokens: self.max_output.unwrap_or(output),
                temperature: None,
                effort: self.effort.clone(),
                context_window: serving.say_window,
            },
        };
        let model = Arc::new(Model {
            provider: serving.provider.clone(),
            head: Arc::new(head),
            prices: serving.prices,
        });
        Served { serving, model }
    }
}

/// The label of the children that have a role.
fn label(role: &str) -> Result<&str> {
    if ROLES.contains(&role) {
        return Ok(role);
    }
    Err(usage(format!(
        "--model-for {role}=…: there is no such role; it is one of {}",
        ROLES.join(", ")
    )))
}
