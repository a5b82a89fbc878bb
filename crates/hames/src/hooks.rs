//! Hooks as commands, in Claude Code's protocol: JSON in, an exit code and JSON out.
//!
//! It decides nothing itself: whether a workspace's hooks count is settled before it is made, and
//! what a rule denies stays denied, whatever a hook says.

mod answer;
mod input;
mod matcher;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::join_all;
use hames_agent::{
    Transcript,
    hooks::{Hook, PostTool, PreTool, StopHook, UserPrompt},
    permission::modes::Mode,
};
use hames_tools::{HookCommand, Processes, aliases, run_hook};
use hames_types::{BoxFuture, Content, ResultStatus, ToolCall, ToolResult, UserMessage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::settings::{HookEvent, HookSetting};
use answer::{Answer, Permission};
use matcher::Matcher;

/// What every hook is told of the session.
#[derive(Debug, Clone)]
pub struct HookSession {
    pub session_id: String,
    /// The session's journal.
    pub transcript_path: PathBuf,
    /// Also where hooks run.
    pub workspace: PathBuf,
    pub home: Option<PathBuf>,
    pub mode: Mode,
    /// On top of what every child of the session gets.
    pub env: Vec<(String, String)>,
}

/// All the commands of all settings as one hook: those of an event run side by side.
pub struct CommandHooks {
    hooks: Vec<(HookSetting, Matcher)>,
    session: HookSession,
    processes: Arc<Processes>,
    tell_user: Arc<dyn Fn(String) + Send + Sync>,
    /// A hook said that the run is to end, where the loop has no door for it.
    halted: Mutex<Option<String>>,
}

impl CommandHooks {
    /// `tell_user` gets one line at a time: failures, and what hooks want shown.
    pub fn new(
        settings: Vec<HookSetting>,
        session: HookSession,
        processes: Arc<Processes>,
        tell_user: Arc<dyn Fn(String) + Send + Sync>,
    ) -> Self {
        let mut hooks = Vec::new();
        for setting in settings {
            let matcher = Matcher::new(&setting, &session, &*tell_user);
            hooks.push((setting, matcher));
        }
        Self {
            hooks,
            session,
            processes,
            tell_user,
            halted: Mutex::default(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Runs what fits, the same command once, and hears all of them.
    async fn run(&self, event: HookEvent, call: Option<&ToolCall>, input: Value) -> Vec<Answer> {
        let mut fitting: Vec<&HookSetting> = Vec::new();
        for (setting, matcher) in &self.hooks {
            let fits = setting.event == event && call.is_none_or(|call| matcher.fits(call));
            if fits && !fitting.iter().any(|other| other.command == setting.command) {
                fitting.push(setting);
            }
        }
        let input = input.to_string();
        let answers = fitting.into_iter().map(|setting| self.ask(setting, &input));
        let answers = join_all(answers).await;
        for line in answers.iter().flat_map(|answer| &answer.for_user) {
            (self.tell_user)(line.clone());
        }
        answers
    }

    async fn ask(&self, setting: &HookSetting, input: &str) -> Answer {
        let project = self.session.workspace.to_string_lossy().into_owned();
        let mut env = self.session.env.clone();
        env.push(("CLAUDE_PROJECT_DIR".to_owned(), project));
        let hook = HookCommand {
            command: &setting.command,
            stdin_json: input,
            timeout: setting.timeout,
            cwd: &self.session.workspace,
            env: &env,
        };
        match run_hook(&self.processes, hook, CancellationToken::new()).await {
            Ok(output) => Answer::of(setting, &output),
            Err(error) => Answer::failed(setting, &format!("could not be started: {error}")),
        }
    }

    fn halted(&self) -> Option<String> {
        let halted = self.halted.lock();
        halted.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_halted(&self, why: Option<String>) {
        let halted = self.halted.lock();
        *halted.unwrap_or_else(PoisonError::into_inner) = why;
    }

    async fn before(&self, call: &ToolCall) -> PreTool {
        if let Some(reason) = self.halted() {
            return PreTool::Halt { reason };
        }
        let input = input::before_tool(&self.session, call);
        let answers = self.run(HookEvent::PreToolUse, Some(call), input).await;
        let mut said = Vec::new();
        let changed = answers
            .iter()
            .rev()
            .find_map(|answer| answer.updated_input.as_ref());
        if let Some(input) = changed {
            let input = aliases::to_our_input(&call.name, &input.to_string().as_str().into());
            said.push(PreTool::Replace(input));
        }
        said.extend(contexts(&answers).map(PreTool::Remark));
        let asks = answers
            .iter()
            .find(|answer| answer.permission == Some(Permission::Ask));
        let allows = answers
            .iter()
            .any(|answer| answer.permission == Some(Permission::Allow));
        // Deny, then ask, then allow.
        if let Some(reason) = answers.iter().find_map(|answer| answer.halt.clone()) {
            said.push(PreTool::Halt { reason });
        } else if let Some(reason) = blocked(&answers, "a hook does not allow this call") {
            said.push(PreTool::Block { reason });
        } else if let Some(answer) = asks {
            let reason = answer.reason.clone();
            let reason =
                reason.unwrap_or_else(|| "a hook wants this call to be asked for".to_owned());
            said.push(PreTool::Ask { reason });
        } else if allows {
            said.push(PreTool::Allow);
        }
        PreTool::Several(said)
    }

    async fn after(&self, call: &ToolCall, result: &ToolResult) -> PostTool {
        // A failed call is another event in this protocol, and none that is served here.
        if result.status != ResultStatus::Ok {
            return PostTool::default();
        }
        let input = input::after_tool(&self.session, call, result);
        let answers = self.run(HookEvent::PostToolUse, Some(call), input).await;
        if let Some(reason) = answers.iter().find_map(|answer| answer.halt.clone()) {
            self.set_halted(Some(reason));
        }
        let said = blocked(&answers, "")
            .into_iter()
            .filter(|reason| !reason.is_empty());
        let said: Vec<String> = said.chain(contexts(&answers)).collect();
        let replaced = answers
            .iter()
            .rev()
            .find_map(|answer| answer.updated_output.clone());
        PostTool {
            replace: replaced.map(Content::text),
            remark: (!said.is_empty()).then(|| said.join("\n")),
        }
    }

    async fn prompted(&self, prompt: &UserMessage) -> UserPrompt {
        self.set_halted(None);
        let input = input::prompt(&self.session, &prompt.plain_text());
        let answers = self.run(HookEvent::UserPromptSubmit, None, input).await;
        let halt = answers.iter().find_map(|answer| answer.halt.clone());
        if let Some(reason) = halt.or_else(|| blocked(&answers, "no reason given")) {
            return UserPrompt::Block { reason };
        }
        let said: Vec<String> = contexts(&answers).collect();
        let remark = (!said.is_empty()).then(|| said.join("\n"));
        UserPrompt::Accept { remark }
    }

    async fn stopping(&self, transcript: &Transcript, again: usize) -> StopHook {
        if self.halted().is_some() {
            return StopHook::Accept;
        }
        let input = input::stop(&self.session, &transcript.final_text(), again > 0);
        let answers = self.run(HookEvent::Stop, None, input).await;
        if answers.iter().any(|answer| answer.halt.is_some()) {
            return StopHook::Accept;
        }
        match blocked(&answers, "a hook says that this is not done yet") {
            Some(reason) => StopHook::Continue(reason),
            None => StopHook::Accept,
        }
    }
}

/// The reasons of those that block, if any does.
fn blocked(answers: &[Answer], otherwise: &str) -> Option<String> {
    let blocking = answers.iter().filter(|answer| answer.blocks);
    let reasons: Vec<&str> = blocking
        .map(|answer| answer.reason.as_deref().unwrap_or(otherwise))
        .collect();
    (!reasons.is_empty()).then(|| reasons.join("\n"))
}

fn contexts(answers: &[Answer]) -> impl Iterator<Item = String> {
    answers.iter().filter_map(|answer| answer.context.clone())
}

impl Hook for CommandHooks {
    fn name(&self) -> &str {
        "a hook of the settings"
    }

    fn user_prompt<'a>(&'a self, prompt: &'a UserMessage) -> BoxFuture<'a, UserPrompt> {
        Box::pin(self.prompted(prompt))
    }

    fn pre_tool<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, PreTool> {
        Box::pin(self.before(call))
    }

    fn post_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        result: &'a ToolResult,
    ) -> BoxFuture<'a, PostTool> {
        Box::pin(self.after(call, result))
    }

    fn stop<'a>(&'a self, transcript: &'a Transcript, again: usize) -> BoxFuture<'a, StopHook> {
        Box::pin(self.stopping(transcript, again))
    }
}
