//! A workspace with all tools, to be called as the loop does.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use hames_tools::{OutputLimits, ProcessOptions, Processes, TimeLimits, ToolsConfig, builtin};
use hames_types::{
    Access, BoxFuture, CallId, Concurrency, Content, JournalId, RawJson, Subagents, Tool,
    ToolContext, ToolError,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub struct Bench {
    /// Goes away with it.
    _folder: tempfile::TempDir,
    pub workspace: PathBuf,
    pub config: ToolsConfig,
    pub cancel: CancellationToken,
    pub agent: JournalId,
    pub heard: Arc<Mutex<String>>,
    tools: Vec<Arc<dyn Tool>>,
}

struct Nobody;

impl Subagents for Nobody {
    fn ask<'a>(&'a self, _: &'a str, _: String) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async { Err(ToolError::failed("nobody is here")) })
    }
}

/// Graces of tens of milliseconds.
pub fn quick() -> ProcessOptions {
    ProcessOptions {
        grace: Duration::from_millis(50),
        drain: Duration::from_millis(50),
        ..ProcessOptions::default()
    }
}

impl Bench {
    pub fn new() -> Self {
        Self::with(quick())
    }

    pub fn with(options: ProcessOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = root.join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let config = ToolsConfig {
            time: TimeLimits {
                default: Duration::from_secs(20),
                most: Duration::from_secs(30),
            },
            output: OutputLimits {
                folder: Some(root.join("outputs")),
                ..OutputLimits::default()
            },
            processes: Processes::new(options),
            ..ToolsConfig::default()
        };
        let tools = builtin(&config);
        Self {
            _folder: folder,
            workspace,
            config,
            cancel: CancellationToken::new(),
            agent: JournalId::from("a"),
            heard: Arc::default(),
            tools,
        }
    }

    /// The same tools under other settings.
    pub fn set(mut self, change: impl FnOnce(&mut ToolsConfig)) -> Self {
        change(&mut self.config);
        self.tools = builtin(&self.config);
        self
    }

    pub fn outputs(&self) -> PathBuf {
        self.workspace.with_file_name("outputs")
    }

    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.workspace.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn get(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.workspace.join(path)).unwrap()
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.get(path)).unwrap()
    }

    pub fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        let named = |tool: &&Arc<dyn Tool>| tool.spec().name == name;
        self.tools.iter().find(named).unwrap()
    }

    pub fn cx(&self) -> ToolContext {
        let heard = self.heard.clone();
        let progress = move |piece: &str| heard.lock().unwrap().push_str(piece);
        let workspace: Arc<Path> = self.workspace.clone().into();
        ToolContext::new(
            CallId::from("call_1"),
            self.agent.clone(),
            workspace,
            self.cancel.clone(),
            Arc::new(progress),
            Arc::new(Nobody),
        )
    }

    pub async fn content(&self, tool: &str, input: Value) -> Result<Vec<Content>, ToolError> {
        let input = RawJson::from(input.to_string().as_str());
        let prepared = self.tool(tool).prepare(input, self.cx()).await?;
        Ok(prepared.run().await?.content)
    }

    pub async fn call(&self, tool: &str, input: Value) -> Result<String, String> {
        let content = self.content(tool, input).await;
        let content = content.map_err(|error| error.message)?;
        Ok(content.iter().filter_map(Content::as_text).collect())
    }

    pub async fn ok(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.unwrap()
    }

    pub async fn err(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.unwrap_err()
    }

    /// What policy is shown of a call.
    pub async fn judged(&self, tool: &str, input: Value) -> (Access, Concurrency) {
        let input = RawJson::from(input.to_string().as_str());
        let prepared = self.tool(tool).prepare(input, self.cx()).await.unwrap();
        (prepared.access().clone(), prepared.concurrency())
    }
}

/// Lets the machine go on until `there` says so; after half a minute it never will.
pub async fn until(mut there: impl FnMut() -> bool) {
    let watch = async {
        while !there() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), watch)
        .await
        .unwrap();
}

/// A process that has ended may still be listed until its parent has looked.
pub fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    let state = stat.ok().and_then(|stat| {
        let (_, fields) = stat.rsplit_once(") ")?;
        fields.chars().next()
    });
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
