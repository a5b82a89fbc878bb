//! Which calls a hook is about: by the tool's name, and by a rule if it has one.
//!
//! What cannot be read fits every call: a hook that forbids must not fall silent over a typo.

use hames_agent::permission::rules::{Anchors, Line, Reading, Rule, Ruled, Rules, split};
use hames_tools::aliases;
use hames_types::ToolCall;
use regex_automata::meta::Regex;
use serde_json::Value;

use super::HookSession;
use crate::settings::HookSetting;

pub struct Matcher {
    names: Names,
    only_if: Option<Rules>,
    workspace: String,
}

enum Names {
    Every,
    These(Vec<String>),
    Like(Box<Regex>),
}

impl Matcher {
    pub fn new(setting: &HookSetting, session: &HookSession, tell: &dyn Fn(String)) -> Self {
        let workspace = session.workspace.to_string_lossy().into_owned();
        let names = Names::of(&setting.matcher).unwrap_or_else(|why| {
            let (matcher, origin) = (&setting.matcher, &setting.origin);
            tell(format!("{origin}: the matcher {matcher:?} cannot be read ({why}): its hook runs for every tool"));
            Names::Every
        });
        let rule = setting.only_if.as_deref().map(|rule| {
            let home = session.home.as_ref().map(|home| home.to_string_lossy());
            let reading = Reading {
                alias: &|name| aliases::our_tool(name).map(str::to_owned),
                anchors: Anchors {
                    root: &workspace,
                    home: home.as_deref(),
                },
            };
            Rule::parse(rule, reading)
        });
        let only_if = match rule.transpose() {
            Ok(rule) => rule.map(|rule| Rules {
                deny: vec![rule],
                ..Rules::default()
            }),
            Err(error) => {
                tell(format!(
                    "{}: {error}: its hook runs for every call",
                    setting.origin
                ));
                None
            }
        };
        Self {
            names,
            only_if,
            workspace,
        }
    }

    pub fn fits(&self, call: &ToolCall) -> bool {
        let named = [aliases::claude_tool(&call.name), call.name.as_str()];
        let fits = match &self.names {
            Names::Every => true,
            Names::These(names) => named.iter().any(|name| names.iter().any(|own| own == name)),
            Names::Like(regex) => named.iter().any(|name| regex.is_match(name)),
        };
        fits && self
            .only_if
            .as_ref()
            .is_none_or(|rules| self.concerns(rules, call))
    }

    /// Whether the one rule is about the call, or may be.
    fn concerns(&self, rules: &Rules, call: &ToolCall) -> bool {
        let Ok(input) = aliases::to_our_input(&call.name, &call.input).parse::<Value>() else {
            return true;
        };
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let mut ruled = vec![rules.on_call(&call.name)];
        if let Some(command) = text("command") {
            let script = split(command);
            let line = Line {
                text: command,
                script: &script,
                harmless: &|_| false,
                may_write: &|_| false,
            };
            ruled.push(rules.on_command(&call.name, &line));
        }
        if let Some(path) = text("path") {
            let path = if path.starts_with('/') {
                path.to_owned()
            } else {
                format!("{}/{path}", self.workspace)
            };
            ruled.push(match call.name.as_str() {
                "write" | "edit" => rules.on_write(&call.name, &path),
                _ => rules.on_read(&path),
            });
        }
        ruled.iter().any(|ruled| *ruled != Ruled::Unruled)
    }
}

impl Names {
    /// Plain names are a list; anything else is a regular expression, found anywhere in the name.
    fn of(matcher: &str) -> Result<Self, String> {
        let matcher = matcher.trim();
        if matcher.is_empty() || matcher == "*" {
            return Ok(Self::Every);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if matcher.chars().all(plain) {
            let names = matcher.split([',', '|']).map(str::trim);
            return Ok(Self::These(names.map(str::to_owned).collect()));
        }
        let regex = Regex::new(matcher).map_err(|error| error.to_string())?;
        Ok(Self::Like(Box::new(regex)))
    }
}
