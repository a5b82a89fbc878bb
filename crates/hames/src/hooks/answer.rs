//! What a hook's exit code and output mean.
//!
//! Exit code 2 blocks, whatever the JSON says; any other failure is the user's to know and stops nothing.

use hames_tools::HookOutput;
use serde_json::Value;

use crate::settings::{HookEvent, HookSetting};

/// More than this goes into no context.
const LONGEST: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    Allow,
    Ask,
}

#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    pub blocks: bool,
    pub reason: Option<String>,
    pub permission: Option<Permission>,
    /// In Claude Code's names.
    pub updated_input: Option<Value>,
    pub updated_output: Option<String>,
    /// For the model.
    pub context: Option<String>,
    /// The run is to end.
    pub halt: Option<String>,
    pub for_user: Vec<String>,
}

impl Answer {
    pub fn of(setting: &HookSetting, output: &HookOutput) -> Self {
        let stderr = output.stderr.trim();
        match output.code {
            Some(0) => Self::of_success(setting, output.stdout.trim()),
            Some(2) => {
                let said =
                    json(output.stdout.trim()).map(|json| Self::of_json(setting.event, &json));
                let mut answer = said.unwrap_or_default();
                answer.blocks = true;
                answer.permission = None;
                let stderr = (!stderr.is_empty()).then(|| shortened(stderr));
                answer.reason = answer.reason.or(stderr);
                answer
            }
            Some(code) => {
                let first = stderr.lines().next().unwrap_or("no message");
                Self::failed(setting, &format!("ended with exit code {code}: {first}"))
            }
            None if output.timed_out => {
                let limit = setting.timeout.as_secs_f64();
                Self::failed(
                    setting,
                    &format!("took longer than its {limit} s and was stopped"),
                )
            }
            None => Self::failed(setting, "was killed"),
        }
    }

    pub fn failed(setting: &HookSetting, how: &str) -> Self {
        let command = shortened(&setting.command.replace(char::is_control, " "));
        let (event, origin) = (setting.event.as_str(), &setting.origin);
        Self {
            for_user: vec![format!("the {event} hook `{command}` {how} ({origin})")],
            ..Self::default()
        }
    }

    fn of_success(setting: &HookSetting, stdout: &str) -> Self {
        if !stdout.starts_with('{') {
            let heard = setting.event == HookEvent::UserPromptSubmit && !stdout.is_empty();
            let context = heard.then(|| shortened(stdout));
            return Self {
                context,
                ..Self::default()
            };
        }
        match json(stdout) {
            Some(json) => Self::of_json(setting.event, &json),
            None => Self::failed(setting, "wrote JSON that cannot be read"),
        }
    }

    fn of_json(event: HookEvent, json: &Value) -> Self {
        let text = |object: &Value, key: &str| {
            let text = object.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(shortened)
        };
        let own = json.get("hookSpecificOutput").unwrap_or(&Value::Null);
        let stops = json.get("continue").and_then(Value::as_bool) == Some(false);
        let why = || text(json, "stopReason").unwrap_or_else(|| "a hook says so".to_owned());
        let (mut blocks, mut permission) = (false, None);
        match text(own, "permissionDecision")
            .or_else(|| text(json, "decision"))
            .as_deref()
        {
            Some("deny" | "block") => blocks = true,
            Some("allow" | "approve") => permission = Some(Permission::Allow),
            Some("ask" | "defer") => permission = Some(Permission::Ask),
            Some(_) | None => {}
        }
        if event != HookEvent::PreToolUse {
            permission = None;
        }
        let output = own
            .get("updatedToolOutput")
            .filter(|output| !output.is_null());
        let output = output.map(|output| match output {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        Self {
            blocks,
            reason: text(own, "permissionDecisionReason").or_else(|| text(json, "reason")),
            permission,
            updated_input: own
                .get("updatedInput")
                .filter(|input| input.is_object())
                .cloned(),
            updated_output: output,
            context: text(own, "additionalContext"),
            halt: stops.then(why),
            for_user: text(json, "systemMessage").into_iter().collect(),
        }
    }
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

fn shortened(text: &str) -> String {
    match text.split_at_checked(text.floor_char_boundary(LONGEST)) {
        Some((kept, rest)) if !rest.is_empty() => format!("{kept}… ({} bytes more)", rest.len()),
        Some(_) | None => text.to_owned(),
    }
}
