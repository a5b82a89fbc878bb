//! `--check CMD`: the task's own check, as a command that succeeds or does not.
//!
//! What it prints is told to the model; how often it may fail is the shape's business.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hames_agent::shapes::Check;
use hames_tools::{HookCommand, HookOutput, Processes, run_hook};
use hames_types::BoxFuture;
use tokio_util::sync::CancellationToken;

/// A check that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(600);

/// In bytes: how much of its output, from the end, the model is told.
const TOLD: usize = 4_000;

pub struct CheckCommand {
    pub command: String,
    pub workspace: PathBuf,
    pub processes: Arc<Processes>,
}

impl Check for CheckCommand {
    fn name(&self) -> &str {
        &self.command
    }

    fn run(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            let command = HookCommand {
                command: &self.command,
                stdin_json: "",
                timeout: PATIENCE,
                cwd: &self.workspace,
                env: &[],
            };
            // Dropped when the submission is stopped: the process ends with it.
            let cancel = CancellationToken::new();
            let _ends_with_us = cancel.clone().drop_guard();
            match run_hook(&self.processes, command, cancel).await {
                Ok(HookOutput { code: Some(0), .. }) => Ok(()),
                Ok(output) => Err(told(&output)),
                Err(error) => Err(format!("the check could not be started: {error}")),
            }
        })
    }
}

fn told(output: &HookOutput) -> String {
    let end = match output.code {
        Some(code) => format!("exit code {code}"),
        None if output.timed_out => "it took too long".to_owned(),
        None => "it was killed".to_owned(),
    };
    let said = format!("{}{}", output.stdout, output.stderr);
    let from = said.ceil_char_boundary(said.len().saturating_sub(TOLD));
    let (_, tail) = said.split_at(from);
    format!("{end}\n{}", tail.trim_end())
}
