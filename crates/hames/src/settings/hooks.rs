//! The `hooks` of a settings file, in Claude Code's format.
//!
//! It reads what is to run, and runs nothing; what cannot run here is said, never dropped in silence.

use std::time::Duration;

use serde_json::Value;

use super::{Dialect, Origin, Settings, SettingsError, fields::Fields};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    PreToolUse,
    PostToolUse,
    UserPromptSubmit,
    Stop,
}

impl HookEvent {
    pub const ALL: [Self; 4] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::UserPromptSubmit,
        Self::Stop,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
        }
    }
}

/// One command, and when it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct HookSetting {
    pub event: HookEvent,
    /// Empty: every tool.
    pub matcher: String,
    /// A permission rule that the call has to be about.
    pub only_if: Option<String>,
    pub command: String,
    pub timeout: Duration,
    pub origin: Origin,
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

pub fn read(
    settings: &mut Settings,
    fields: &Fields<'_>,
    origin: &Origin,
    dialect: Dialect,
) -> Result<(), SettingsError> {
    let off = fields.flag("disable_all_hooks")?;
    let Some(events) = fields.inside("hooks")? else {
        return Ok(());
    };
    if off.is_some_and(|off| off.value) {
        return Ok(());
    }
    for (name, _) in events.iter() {
        let Some(event) = HookEvent::ALL
            .into_iter()
            .find(|event| event.as_str() == name)
        else {
            // Claude Code has thirty more; whoever wrote them for us is told.
            if dialect == Dialect::Hames {
                let known = HookEvent::ALL.map(HookEvent::as_str).join(", ");
                let warning =
                    format!("{origin}: hooks.{name} does not run here; what runs is {known}");
                settings.warnings.push(warning);
            }
            continue;
        };
        for (path, group) in written(&events, name)? {
            let group = Fields::at(group, origin, format!("{path}."))?;
            read_group(settings, &group, event, origin)?;
        }
    }
    Ok(())
}

/// The list under an event's name, which is no name of ours to convert.
fn written<'a>(events: &Fields<'a>, name: &str) -> Result<Vec<(String, &'a Value)>, SettingsError> {
    let found = events.iter().find(|(own, _)| *own == name);
    let path = format!("{}{name}", events.path());
    match found {
        Some((_, Value::Array(groups))) => {
            let groups = groups.iter().enumerate();
            Ok(groups
                .map(|(at, group)| (format!("{path}[{at}]"), group))
                .collect())
        }
        Some(_) | None => Err(events.error(path, "expected a list of { matcher, hooks }")),
    }
}

fn read_group(
    settings: &mut Settings,
    group: &Fields<'_>,
    event: HookEvent,
    origin: &Origin,
) -> Result<(), SettingsError> {
    let matcher = group
        .text("matcher")?
        .map(|set| set.value)
        .unwrap_or_default();
    for (path, handler) in group.list("hooks")? {
        let handler = Fields::at(handler, origin, format!("{path}."))?;
        let kind = handler
            .text("type")?
            .map_or_else(|| "command".to_owned(), |set| set.value);
        if kind != "command" {
            let warning = format!(
                "{origin}: {path}: a hook of type {kind} does not run here, so it forbids nothing"
            );
            settings.warnings.push(warning);
            continue;
        }
        let Some(command) = handler.text("command")? else {
            return Err(handler.error(path, "a hook needs a command"));
        };
        let args = handler.text_list("args")?;
        let timeout = handler.number("timeout")?;
        let timeout = timeout.and_then(|set| Duration::try_from_secs_f64(set.value).ok());
        settings.hooks.push(HookSetting {
            event,
            matcher: matcher.clone(),
            only_if: handler.text("if")?.map(|set| set.value),
            command: with_args(&command.value, handler.get("args").is_some(), &args),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
            origin: origin.clone(),
        });
    }
    Ok(())
}

/// With `args` there is no shell in between: every word is quoted, the program's name as well.
fn with_args(command: &str, has_args: bool, args: &[String]) -> String {
    if !has_args {
        return command.to_owned();
    }
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    let quoted: Vec<String> = words
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    quoted.join(" ")
}
