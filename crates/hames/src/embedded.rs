//! An agent in a few lines, for whoever embeds one: a model, tools, limits, a question.
//!
//! It hides nothing that matters: what it makes is a `Session` like any other. It reads no
//! environment; variables come in as a closure.

use std::{fmt, ops::ControlFlow, path::Path, sync::Arc, time::Duration};

use hames_agent::{
    Model, QueryContext, Session,
    budget::{Budget, Limits},
    compaction::{ClearThenSummarize, Window},
    inform::Inform,
    journal::{Durability, Journal},
    permission::{Grants, PermissionPolicy, Verdict},
    recovery::RetryPolicy,
    registry::ToolRegistry,
    repetition::Repeats,
    shapes::{React, Shape},
    steering::Steering,
    stop::Stop,
};
use hames_journal::{JournalStore, MemoryStore};
use hames_providers::{Catalog, Network, Scripted, Variables, Wanted, discover};
use hames_types::{
    Access, BoxFuture, Concurrency, Head, Options, Origin, Outcome, Prepared, Provider, QueryError,
    RawJson, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolSpec, UserMessage,
};
use hames_wire::Delivery;
use serde::de::DeserializeOwned;

/// A model that can be asked, and what is known of it.
#[derive(Clone)]
pub struct Connected {
    pub provider: Arc<dyn Provider>,
    /// As its service wants it.
    pub name: String,
    /// In tokens.
    pub window: u64,
    pub max_output: u32,
}

/// Finds a model: `VENDOR/MODEL`, `URL#MODEL` or `script:FILE`; without one, what `variables` or this
/// machine offer. Nothing is sent to a hosted service yet.
pub async fn connect(spec: Option<&str>, variables: Variables<'_>) -> Result<Connected, NoAgent> {
    if let Some(file) = spec.and_then(|spec| spec.strip_prefix("script:")) {
        let provider = Scripted::open(file).map_err(NoAgent::because)?;
        return Ok(Connected {
            provider: Arc::new(provider),
            name: "scripted".to_owned(),
            window: 200_000,
            max_output: 4096,
        });
    }
    let catalog = Catalog::built_in().map_err(NoAgent::because)?;
    let network = Network::from_variables(variables);
    let wanted = Wanted {
        asked: spec,
        settings: None,
    };
    let choice = discover(&catalog, wanted, variables, &network).await;
    let choice = choice.map_err(NoAgent::because)?;
    let provider = choice.connect(network, choice.timeouts(), Delivery::Stream);
    Ok(Connected {
        provider: provider.map_err(NoAgent::because)?,
        window: choice.model.window.into(),
        max_output: choice.model.max_output,
        name: choice.model.name,
    })
}

/// Why there is no agent.
#[derive(Debug, Clone, PartialEq)]
pub struct NoAgent(pub String);

impl NoAgent {
    fn because(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

impl fmt::Display for NoAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAgent {}

/// What an agent is to be; `open` makes a session of it.
pub struct Agent {
    model: Connected,
    system: String,
    tools: Vec<Arc<dyn Tool>>,
    limits: Limits,
    policy: Arc<dyn PermissionPolicy>,
    shape: Arc<dyn Shape>,
    store: Arc<dyn JournalStore>,
    max_tokens: u32,
}

impl Agent {
    /// With no tools, eight turns, everything its tools do allowed, and a journal in memory.
    pub fn new(model: Connected) -> Self {
        Self {
            max_tokens: model.max_output.min(4096),
            model,
            system: "You are a helpful agent.".to_owned(),
            tools: Vec::new(),
            limits: Limits::default(),
            policy: Arc::new(Anything),
            shape: Arc::new(React),
            store: MemoryStore::new("embedded"),
        }
    }

    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = text.into();
        self
    }

    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Model calls of one submission.
    #[doc(alias = "max_iter")]
    pub fn max_turns(mut self, most: u32) -> Self {
        self.limits.max_turns = Some(most);
        self
    }

    pub fn wall_time(mut self, most: Duration) -> Self {
        self.limits.wall_time = Some(most);
        self
    }

    /// Output tokens of one call; 4096, or the model's own limit if that is lower.
    pub fn max_tokens(mut self, most: u32) -> Self {
        self.max_tokens = most;
        self
    }

    pub fn policy(mut self, policy: impl PermissionPolicy + 'static) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    pub fn shape(mut self, shape: impl Shape + 'static) -> Self {
        self.shape = Arc::new(shape);
        self
    }

    /// A file journal, for a session that can be gone on with.
    pub fn journal(mut self, store: Arc<dyn JournalStore>) -> Self {
        self.store = store;
        self
    }

    pub fn open(self) -> Result<Session, NoAgent> {
        let tools = ToolRegistry::new(self.tools).map_err(NoAgent::because)?;
        let head = Head {
            api: self.model.provider.api(),
            model: self.model.name.into(),
            system: self.system.into(),
            tools: tools.specs(),
            options: Options {
                max_tokens: self.max_tokens,
                temperature: None,
                effort: None,
                context_window: None,
            },
        };
        let model = Model {
            provider: self.model.provider,
            head: Arc::new(head),
            prices: None,
        };
        let window = Window {
            tokens: self.model.window,
            source: "the catalog".to_owned(),
        };
        let journal = Journal::new(self.store, Durability::Os);
        let cx = QueryContext {
            model: Arc::new(model),
            fallback: None,
            roles: Arc::default(),
            tools: Arc::new(tools),
            workspace: Path::new(".").into(),
            policy: self.policy,
            approver: None,
            grants: Grants::default(),
            hooks: Arc::from([]),
            compaction: Arc::new(ClearThenSummarize::new(window, 0.8)),
            retry: RetryPolicy::default(),
            repeats: Repeats::default(),
            inform: Inform::default(),
            budget: Budget::new(Limits::NONE),
            steering: Steering::new(journal.clone()),
            journal,
            stop: Stop::default(),
            grace: Duration::from_secs(2),
            max_concurrent_tools: 8,
        };
        match Session::open(cx, self.limits, self.shape) {
            ControlFlow::Continue(session) => Ok(session),
            ControlFlow::Break(Outcome::Failed { error }) => Err(NoAgent(error)),
            ControlFlow::Break(outcome) => Err(NoAgent::because(outcome.end_cause())),
        }
    }

    /// One question, to its answer.
    pub async fn ask(self, question: impl Into<String>) -> Result<String, QueryError> {
        let session = self.open();
        let mut session = session.map_err(|none| QueryError::Failed(none.0))?;
        let question = UserMessage::text(Origin::Human, question);
        session.submit(question).await.into_result()?;
        Ok(session.transcript().final_text())
    }
}

/// An embedder's own tools are the embedder's to judge.
struct Anything;

impl PermissionPolicy for Anything {
    fn check(&self, _: &ToolCall, _: &Access) -> Verdict {
        Verdict::Allow
    }
}

/// A tool of a plain async function. What it touches is not known, so it runs alone; a tool that can
/// say more implements `TypedTool`.
pub fn function<I, F, W>(
    name: &str,
    description: &str,
    input_schema: &str,
    function: F,
) -> impl Tool
where
    I: DeserializeOwned + Send + 'static,
    F: Fn(I) -> W + Send + Sync + 'static,
    W: Future<Output = Result<String, String>> + Send + 'static,
{
    let spec = ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: RawJson::from(input_schema),
    };
    let run = move |input: RawJson| {
        let parsed = input.parse::<I>();
        let parsed = parsed
            .map_err(|error| ToolError::invalid(format!("the arguments do not fit: {error}")))?;
        let work = function(parsed);
        Ok::<Work, ToolError>(Box::pin(async move {
            let said = work.await.map_err(ToolError::failed)?;
            Ok(ToolOutput::text(said))
        }))
    };
    Function {
        spec,
        run: Box::new(run),
    }
}

type Work = BoxFuture<'static, Result<ToolOutput, ToolError>>;

struct Function {
    spec: ToolSpec,
    /// Checks the input; the work begins when it is first polled.
    run: Box<dyn Fn(RawJson) -> Result<Work, ToolError> + Send + Sync>,
}

impl Tool for Function {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        input: RawJson,
        _: ToolContext,
    ) -> BoxFuture<'a, Result<Box<dyn Prepared + 'a>, ToolError>> {
        Box::pin(async move {
            let call = FunctionCall {
                work: (self.run)(input)?,
                access: Access::unknown(),
            };
            Ok(Box::new(call) as Box<dyn Prepared + 'a>)
        })
    }
}

struct FunctionCall {
    work: Work,
    access: Access,
}

impl Prepared for FunctionCall {
    fn access(&self) -> &Access {
        &self.access
    }

    fn concurrency(&self) -> Concurrency {
        self.access.concurrency()
    }

    fn run<'a>(self: Box<Self>) -> BoxFuture<'a, Result<ToolOutput, ToolError>>
    where
        Self: 'a,
    {
        self.work
    }
}
