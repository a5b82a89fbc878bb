//! From arguments to a session: model, tools, policy, hooks and journal put together.
//!
//! It starts nothing; whoever asked for the session runs it.

use std::{
    collections::BTreeMap,
    fs::File,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, anyhow};
use hames_agent::{
    Model, QueryContext, Session,
    budget::{Budget, Limits},
    compaction::{ClearThenSummarize, Window},
    inform::Inform,
    journal::{Durability, Journal},
    permission::{Approver, Grants, PermissionPolicy, Verdict},
    recovery::RetryPolicy,
    registry::ToolRegistry,
    repetition::Repeats,
    shapes::{React, Shape},
    steering::Steering,
    stop::Stop,
};
use hames_journal::{FileStore, JournalStore};
use hames_types::{Access, Head, Options, Outcome, Seq, ToolCall};

use crate::{
    args::{self, Informed, Mode, RunArgs},
    environment::Environment,
    exit::usage,
    instructions::{self, Instructions},
    report::About,
    serving::{Serving, serving},
    session_id::today,
    state_dir::SessionsDir,
    system_prompt::{self, Known},
};

/// What a run needs beside its arguments.
pub struct Wired {
    pub session: Session,
    pub journal: Journal,
    pub steering: Steering,
    /// The first entry that belongs to this run.
    pub from: Seq,
    pub folder: PathBuf,
    pub about: Arc<About>,
    /// For the user, on stderr.
    pub notes: Vec<String>,
}

/// `approver`: who is asked where a rule has no answer; `None` where there is nobody.
pub fn wire(
    args: &RunArgs,
    environment: &Environment,
    approver: Option<Arc<dyn Approver>>,
) -> Result<Wired> {
    let limits = limits(args)?;
    let workspace = workspace(args, environment)?;
    let serving = serving(args.model.model.as_deref())?;
    if limits.max_cost.is_some() && serving.prices.is_none() {
        return Err(usage(format!(
            "--max-cost cannot be kept: nobody knows the price of {}; use --max-total-tokens",
            serving.name
        )));
    }
    let mode = args.permission.mode().unwrap_or(Mode::Default);
    let Instructions { files, notes } = instructions::read(&workspace, environment.home());
    let tools = ToolRegistry::new([])?;
    let day = today();
    let system = system_prompt::render(&Known {
        workspace: &workspace,
        also: &args.permission.add_dir,
        mode,
        day: &day,
        instructions: &files,
        instead: args.model.system_prompt.as_deref(),
        append: args.model.append_system_prompt.as_deref(),
        schema: None,
    });
    let model = model(args, &serving, system.into(), &tools);
    let sessions = SessionsDir::of(environment)?;
    let store = store(args, &sessions, &workspace)?;
    let from = store.last_seq() + 1;
    let about = about(&serving, store.id().0.to_string(), &workspace, mode, &tools);
    let journal = Journal::new(Arc::new(store), durability(args));
    let steering = Steering::new(journal.clone());
    let cx = QueryContext {
        model,
        fallback: None,
        roles: Arc::default(),
        tools: Arc::new(tools),
        workspace: workspace.into(),
        policy: Arc::new(Placeholder(mode)),
        approver,
        grants: Grants::default(),
        hooks: Arc::from([]),
        compaction: Arc::new(compaction(args, &serving)),
        retry: RetryPolicy::default(),
        repeats: Repeats::default(),
        inform: inform(args),
        budget: Budget::new(Limits::NONE),
        journal: journal.clone(),
        steering: steering.clone(),
        stop: Stop::default(),
        grace: Duration::from_secs(2),
        max_concurrent_tools: args.limits.tool_concurrency,
    };
    let shape: Arc<dyn Shape> = Arc::new(React);
    let session = opened(Session::open(cx, limits, shape))?;
    let folder = sessions.folder().to_owned();
    Ok(Wired {
        session,
        journal,
        steering,
        from,
        folder,
        about: Arc::new(about),
        notes,
    })
}

/// Until the modes and rules are there.
struct Placeholder(Mode);

impl PermissionPolicy for Placeholder {
    fn check(&self, _: &ToolCall, access: &Access) -> Verdict {
        match self.0 {
            Mode::FullAuto => Verdict::Allow,
            _ if access.only_looks() => Verdict::Allow,
            _ => Verdict::Ask {
                reason: "it acts".to_owned(),
            },
        }
    }
}

fn opened(session: ControlFlow<Outcome, Session>) -> Result<Session> {
    match session {
        ControlFlow::Continue(session) => Ok(session),
        ControlFlow::Break(Outcome::Failed { error }) => Err(anyhow!(error)),
        ControlFlow::Break(outcome) => Err(anyhow!("{outcome:?}")),
    }
}

fn workspace(args: &RunArgs, environment: &Environment) -> Result<PathBuf> {
    let cwd = args.session.cwd.as_deref().unwrap_or(Path::new(""));
    let cwd = environment.current_dir.join(cwd);
    match cwd.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(usage(format!(
            "--cwd {}: it is not a folder",
            cwd.display()
        ))),
        Err(error) => Err(usage(format!("--cwd {}: {error}", cwd.display()))),
    }
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
        args::Durability::Os => Durability::Os,
        args::Durability::Disk => Durability::Disk,
    }
}

fn model(args: &RunArgs, serving: &Serving, system: Arc<str>, tools: &ToolRegistry) -> Arc<Model> {
    let output = args.limits.max_output_tokens;
    let output = output.unwrap_or(u32::try_from(serving.window.output).unwrap_or(4096));
    let head = Head {
        api: serving.provider.api(),
        model: serving.name.clone(),
        system,
        tools: tools.specs(),
        options: Options {
            max_tokens: output,
            temperature: None,
            effort: args.model.effort.clone(),
            context_window: None,
        },
    };
    Arc::new(Model {
        provider: serving.provider.clone(),
        head: Arc::new(head),
        prices: serving.prices,
    })
}

fn compaction(args: &RunArgs, serving: &Serving) -> ClearThenSummarize {
    let window = Window {
        tokens: serving.window.context,
        source: "the catalog".to_owned(),
    };
    ClearThenSummarize::new(window, f64::from(args.limits.compact_at) / 100.0)
}

fn inform(args: &RunArgs) -> Inform {
    let asked = |what| args.model.inform.contains(&what);
    Inform {
        turns: asked(Informed::Turns),
        budget: asked(Informed::Budget),
        time: asked(Informed::Time),
    }
}

fn about(
    serving: &Serving,
    session: String,
    workspace: &Path,
    mode: Mode,
    tools: &ToolRegistry,
) -> About {
    let prices = serving.prices.map(|prices| (serving.name.clone(), prices));
    About {
        session,
        cwd: workspace.to_string_lossy().into_owned(),
        model: serving.name.to_string(),
        tools: tools.specs().iter().map(|tool| tool.name.clone()).collect(),
        permission_mode: claude_mode(mode).to_owned(),
        prices: prices.into_iter().collect(),
        windows: BTreeMap::from([(serving.name.clone(), serving.window)]),
        key_source: serving.key_source.clone(),
    }
}

fn claude_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::Plan => "plan",
        Mode::AcceptEdits => "acceptEdits",
        Mode::FullAuto => "bypassPermissions",
    }
}

/// Where the run log goes: a failure here changes nothing, and is said.
pub fn run_log(args: &RunArgs, folder: &Path, session: &str) -> Result<File> {
    let beside = || folder.join(format!("{session}.run.jsonl"));
    let path = args.session.log.clone().unwrap_or_else(beside);
    let file = File::options().create(true).append(true).open(&path);
    file.with_context(|| format!("{}", path.display()))
}
