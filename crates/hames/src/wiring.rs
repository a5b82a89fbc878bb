//! From arguments to a session: model, tools, policy, hooks and journal put together.
//!
//! It starts nothing; whoever asked for the session runs it.

mod models;
mod tools;

use std::{
    io::{self, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Result, anyhow};
use hames_agent::{
    QueryContext, Session, Transcript,
    append::{append_user, open},
    budget::{Budget, Limits},
    compaction::Compaction,
    hooks::Hook,
    inform::Inform,
    journal::{Durability, Journal},
    permission::{Approver, Grants},
    recovery::RetryPolicy,
    registry::ToolRegistry,
    repetition::Repeats,
    shapes::Shape,
    steering::Steering,
    stop::Stop,
};
use hames_journal::{FileStore, JournalStore, MemoryStore};
use hames_tools::Processes;
use hames_types::{Origin, Outcome, Seq, UserMessage};

pub use models::Models;

use crate::{
    args::{self, DEFAULT_COMPACT_AT, DEFAULT_CONCURRENCY, Informed, RunArgs},
    arranged::arranged,
    check::CheckCommand,
    environment::Environment,
    exit::usage,
    hooks::{CommandHooks, HookSession},
    instructions::{self, Instructions},
    report::About,
    schema::Schema,
    serving::Services,
    session_id::today,
    settled::{AskTrust, Settled, folder, settle},
    state_dir::SessionsDir,
    system_prompt::{self, Known},
    trust::TrustStore,
};

/// All that a session needs but its journal.
pub struct Parts {
    pub models: Models,
    pub schema: Option<Arc<Schema>>,
    /// Ended when dropped, with all that they started.
    pub processes: Arc<Processes>,
    /// For the user, on stderr.
    pub notes: Vec<String>,
    pub settled: Settled,
    limits: Limits,
    workspace: PathBuf,
    tools: Arc<ToolRegistry>,
    compaction: Arc<dyn Compaction>,
    shape: Arc<dyn Shape>,
}

/// A session that is open, and what a surface needs to show it.
pub struct Wired {
    pub session: Session,
    pub journal: Journal,
    pub steering: Steering,
    /// The first entry that belongs to this run.
    pub from: Seq,
    pub folder: PathBuf,
    pub about: Arc<About>,
}

/// Whatever the user has to ask differently is said here, before a journal exists. `ask`: who is
/// asked whether a workspace is trusted; `None` where there is nobody.
pub async fn prepare(
    args: &RunArgs,
    environment: &Environment,
    ask: Option<AskTrust<'_>>,
) -> Result<Parts> {
    let workspace = workspace(args, environment)?;
    let settled = settle(args, environment, &workspace, ask)?;
    let limits = limits(&settled.args)?;
    let schema = settled.args.output.json_schema.as_deref();
    let schema = schema.map(Schema::read).transpose()?.map(Arc::new);
    let services = Services::of(environment, &settled.timeouts)?;
    let processes = tools::processes(&services, &settled.env);
    let tools = Arc::new(tools::registry(&settled, environment, processes.clone())?);
    let Instructions { files, notes } = instructions::read(&workspace, environment.home());
    let system = system_prompt::render(&Known {
        workspace: &workspace,
        also: &settled.named_dirs,
        mode: settled.mode,
        day: &today(),
        instructions: &files,
        instead: settled.args.model.system_prompt.as_deref(),
        append: settled.args.model.append_system_prompt.as_deref(),
        schema: schema.as_deref().map(Schema::text),
    });
    let models = Models::find(
        &settled,
        environment,
        services,
        system.into(),
        tools.specs(),
    )
    .await?;
    models.check_cost_limit(&limits)?;
    let check = settled
        .args
        .model
        .check
        .clone()
        .map(|command| CheckCommand {
            command,
            workspace: workspace.clone(),
            processes: processes.clone(),
        });
    let shape = arranged(&settled.args, check, schema.clone(), environment)?;
    let share = settled.args.limits.compact_at.unwrap_or(DEFAULT_COMPACT_AT);
    let notes = settled
        .notes
        .iter()
        .cloned()
        .chain(notes)
        .chain(models.notes());
    Ok(Parts {
        notes: notes.collect(),
        compaction: models.compaction(f64::from(share) / 100.0),
        settled,
        models,
        schema,
        processes,
        limits,
        workspace,
        tools,
        shape,
    })
}

impl Parts {
    /// Opens the session that is asked for, or a new one. `approver`: who is asked where no rule
    /// has an answer; `None` where there is nobody.
    pub fn open(
        &self,
        environment: &Environment,
        approver: Option<Arc<dyn Approver>>,
    ) -> Result<Wired> {
        let sessions = SessionsDir::of(environment)?;
        let store = store(&self.settled.args, &sessions, &self.workspace)?;
        let from = store.last_seq() + 1;
        let about = Arc::new(self.about(&store.id().0));
        let hooks = self.hooks(environment, &about.session, sessions.path(&about.session));
        let journal = Journal::new(Arc::new(store), durability(&self.settled.args));
        let cx = self.context(journal.clone(), hooks, approver);
        let steering = cx.steering.clone();
        let session = done(Session::open(cx, self.limits.clone(), self.shape.clone()))?;
        let folder = sessions.folder().to_owned();
        Ok(Wired {
            session,
            journal,
            steering,
            from,
            folder,
            about,
        })
    }

    /// The first request for a prompt, as a curl command; nothing is sent or written.
    pub fn curl(&self, prompt: &str) -> Result<String> {
        let http = self.models.http().ok_or_else(|| {
            usage("--print-curl: a scripted model is asked within the process, not over HTTP")
        })?;
        let journal = Journal::new(MemoryStore::new("curl"), Durability::Os);
        let cx = self.context(journal, Arc::from([]), None);
        let mut transcript: Transcript = done(open(&cx))?;
        let prompt = UserMessage::text(Origin::Human, prompt);
        done(append_user(&cx, &mut transcript, prompt))?;
        let request = transcript.request(&**http);
        let (request, _) = request.ok_or_else(|| anyhow!("there is nothing to send"))?;
        Ok(http.curl(&request))
    }

    fn hooks(
        &self,
        environment: &Environment,
        session: &str,
        transcript_path: PathBuf,
    ) -> Arc<[Arc<dyn Hook>]> {
        let session = HookSession {
            session_id: session.to_owned(),
            transcript_path,
            workspace: self.workspace.clone(),
            home: environment.home().map(Path::to_owned),
            mode: self.settled.mode,
            env: Vec::new(),
        };
        let tell_user = Arc::new(|line: String| {
            let _ = writeln!(io::stderr(), "hames: {line}");
        });
        let settings = self.settled.hooks.clone();
        let hooks = CommandHooks::new(settings, session, self.processes.clone(), tell_user);
        if hooks.is_empty() {
            return Arc::from([]);
        }
        let hooks: Arc<dyn Hook> = Arc::new(hooks);
        Arc::from([hooks])
    }

    fn context(
        &self,
        journal: Journal,
        hooks: Arc<[Arc<dyn Hook>]>,
        approver: Option<Arc<dyn Approver>>,
    ) -> QueryContext {
        let concurrency = self.settled.args.limits.tool_concurrency;
        QueryContext {
            model: self.models.main(),
            fallback: self.models.fallback(),
            roles: self.models.roles(),
            tools: self.tools.clone(),
            workspace: self.workspace.as_path().into(),
            policy: Arc::new(self.settled.policy.clone()),
            approver,
            grants: Grants::default(),
            hooks,
            compaction: self.compaction.clone(),
            retry: RetryPolicy::default(),
            repeats: Repeats::default(),
            inform: inform(&self.settled.args),
            budget: Budget::new(Limits::NONE),
            steering: Steering::new(journal.clone()),
            journal,
            stop: Stop::default(),
            grace: Duration::from_secs(2),
            max_concurrent_tools: concurrency.unwrap_or(DEFAULT_CONCURRENCY),
        }
    }

    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Where a yes for good is kept.
    pub fn trust(&self) -> Option<TrustStore> {
        self.settled.trust.clone()
    }

    pub fn about(&self, session: &str) -> About {
        About {
            session: session.to_owned(),
            cwd: self.workspace.to_string_lossy().into_owned(),
            model: self.models.main().head.model.to_string(),
            tools: self
                .tools
                .specs()
                .iter()
                .map(|tool| tool.name.clone())
                .collect(),
            permission_mode: self.settled.mode.claude_name().to_owned(),
            prices: self.models.prices(),
            windows: self.models.windows(),
            key_source: self.models.key_source().to_owned(),
        }
    }
}

fn done<T>(step: ControlFlow<Outcome, T>) -> Result<T> {
    match step {
        ControlFlow::Continue(value) => Ok(value),
        ControlFlow::Break(Outcome::Failed { error }) => Err(anyhow!(error)),
        ControlFlow::Break(outcome) => Err(anyhow!("it ended at once: {}", outcome.end_cause())),
    }
}

fn workspace(args: &RunArgs, environment: &Environment) -> Result<PathBuf> {
    let cwd = args.session.cwd.as_deref().unwrap_or(Path::new(""));
    folder("--cwd", &environment.current_dir.join(cwd))
}

fn limits(args: &RunArgs) -> Result<Limits> {
    Ok(Limits {
        max_turns: args.limits.turns().map_err(usage)?,
        wall_time: args.limits.max_wall,
        max_tokens: args.limits.max_total_tokens,
        max_cost: args.limits.max_cost,
        ..Limits::NONE
    })
}

fn store(args: &RunArgs, sessions: &SessionsDir, workspace: &Path) -> Result<FileStore> {
    if args.session.continue_newest {
        return sessions.open(&sessions.newest_of(workspace)?.path);
    }
    match &args.session.resume {
        Some(id) => sessions.open(&sessions.find(id)?.path),
        None => sessions.create(workspace),
    }
}

fn durability(args: &RunArgs) -> Durability {
    match args.session.durability {
        Some(args::Durability::Os) => Durability::Os,
        Some(args::Durability::Disk) | None => Durability::Disk,
    }
}

fn inform(args: &RunArgs) -> Inform {
    let asked = |what| args.model.inform.contains(&what);
    Inform {
        turns: asked(Informed::Turns),
        budget: asked(Informed::Budget),
        time: asked(Informed::Time),
    }
}
