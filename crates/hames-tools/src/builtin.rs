//! The one list of built-in tools.
//!
//! It knows how they are set up, and nothing of what they do.

use std::{path::PathBuf, sync::Arc};

use hames_types::{Tool, Typed};

use crate::{
    bash::{Bash, TimeLimits},
    capture::OutputLimits,
    edit::Edit,
    files::Files,
    glob::Glob,
    grep::Grep,
    process::{ProcessOptions, Processes},
    read::Read,
    todo::Todo,
    walk::SearchLimits,
    write::Write,
};

/// What the tools of a session share. Two sessions need two.
#[derive(Clone)]
pub struct ToolsConfig {
    /// `bash` where there is one, else `sh`, where it is `None`.
    pub shell: Option<PathBuf>,
    pub time: TimeLimits,
    pub output: OutputLimits,
    pub search: SearchLimits,
    pub processes: Arc<Processes>,
}

impl Default for ToolsConfig {
    fn default() -> Self {
        Self {
            shell: None,
            time: TimeLimits::default(),
            output: OutputLimits::default(),
            search: SearchLimits::default(),
            processes: Processes::new(ProcessOptions::default()),
        }
    }
}

/// All of them, in the order in which a model is shown them.
pub fn builtin(config: &ToolsConfig) -> Vec<Arc<dyn Tool>> {
    let bash = Bash {
        shell: config.shell.clone().unwrap_or_else(Bash::default_shell),
        time: config.time.clone(),
        output: config.output.clone(),
        processes: config.processes.clone(),
    };
    let files = Arc::new(Files::default());
    let limits = config.search.clone();
    let glob = Glob {
        limits: limits.clone(),
    };
    vec![
        Arc::new(Typed::new(bash)),
        Arc::new(Typed::new(Read {
            files: files.clone(),
        })),
        Arc::new(Typed::new(Edit {
            files: files.clone(),
        })),
        Arc::new(Typed::new(Write { files })),
        Arc::new(Typed::new(glob)),
        Arc::new(Typed::new(Grep { limits })),
        Arc::new(Typed::new(Todo)),
    ]
}
