//! Modes: what is allowed where no rule speaks; with the rules they make the policy.
//!
//! Pure: paths are compared as they were declared, and nothing is asked of anyone here.

mod commands;
mod sensitive;

use std::{fmt, str::FromStr};

use hames_types::{Access, ToolCall};

use super::{
    PermissionPolicy, Verdict,
    rules::{Anchors, Ruled, Rules, suggest},
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Looks within the workspace; asks before it acts.
    #[default]
    Default,
    /// Only looks.
    Plan,
    /// Writes within the workspace too.
    AcceptEdits,
    /// Does what it is asked to.
    FullAuto,
}

impl Mode {
    pub const ALL: [Self; 4] = [Self::Default, Self::Plan, Self::AcceptEdits, Self::FullAuto];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
            Self::AcceptEdits => "accept-edits",
            Self::FullAuto => "full-auto",
        }
    }

    /// What Claude Code calls it, for hooks and `stream-json`.
    pub fn claude_name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
            Self::AcceptEdits => "acceptEdits",
            Self::FullAuto => "bypassPermissions",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no permission mode {0:?}: it is default, plan, accept-edits or full-auto")]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    /// With the spellings of Claude Code.
    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text {
            "default" | "manual" => Ok(Self::Default),
            "plan" => Ok(Self::Plan),
            "accept-edits" | "acceptEdits" | "accept_edits" => Ok(Self::AcceptEdits),
            "full-auto" | "full_auto" | "fullAuto" | "bypassPermissions" => Ok(Self::FullAuto),
            other => Err(UnknownMode(other.to_owned())),
        }
    }
}

/// Where things are. Absolute, resolved and without a slash at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    pub workspace: String,
    /// Further folders that count as the workspace (`--add-dir`).
    pub added: Vec<String>,
    pub home: Option<String>,
    /// The folders of hames itself: settings, journals, what is trusted.
    pub own: Vec<String>,
}

impl Places {
    fn contain(&self, path: &str) -> bool {
        let mut folders = std::iter::once(&self.workspace).chain(&self.added);
        let climbs = path.split('/').any(|name| name == "..");
        !climbs && folders.any(|folder| sensitive::is_under(path, folder))
    }

    fn anchors(&self) -> Anchors<'_> {
        Anchors {
            root: &self.workspace,
            home: self.home.as_deref(),
        }
    }
}

/// Built-in places, then deny, ask and allow rules, then the mode.
#[derive(Debug, Clone)]
pub struct Policy {
    pub mode: Mode,
    pub rules: Rules,
    pub places: Places,
}

impl PermissionPolicy for Policy {
    fn check(&self, call: &ToolCall, access: &Access) -> Verdict {
        if let Some(reason) = self.sensitive(access) {
            return Verdict::Deny { reason };
        }
        let on_call = self.rules.on_call(&call.name);
        let parts = self.parts(call, access).into_iter();
        let judged = parts.map(|(part, ruled)| match (&on_call, ruled) {
            // A rule for the whole tool allows whatever no other rule bars.
            (Ruled::Allowed, Ruled::Unruled) => self.judge(&part, Ruled::Allowed),
            (_, ruled) => self.judge(&part, ruled),
        });
        match judged.fold(judged_as_a_whole(&on_call), worse) {
            Judged::Allow => Verdict::Allow,
            Judged::Ask(reason) => self.with_remedy(&reason, call, access),
            Judged::AskEachTime(reason) => Verdict::AskEachTime { reason },
            Judged::Deny(reason) => Verdict::Deny { reason },
        }
    }
}

/// What a call with nothing to declare comes to.
fn judged_as_a_whole(on_call: &Ruled) -> Judged {
    match on_call {
        Ruled::Denied { rule } => denied_by(rule),
        Ruled::Asked { why } => Judged::AskEachTime(why.clone()),
        Ruled::Allowed | Ruled::Unruled => Judged::Allow,
    }
}

/// One thing that a call would touch.
enum Part<'a> {
    Read(&'a str),
    Write(&'a str),
    Command { line: &'a str, named: bool },
    Host(&'a str),
    Unknown,
}

/// A verdict whose question does not say yet how to be spared it.
#[derive(Debug, Clone, PartialEq)]
enum Judged {
    Allow,
    Ask(String),
    /// By a rule: only a person's answer counts.
    AskEachTime(String),
    Deny(String),
}

fn denied_by(rule: &str) -> Judged {
    Judged::Deny(format!(
        "the rule {rule} denies it; do without it, or say why it is needed"
    ))
}

fn worse(one: Judged, other: Judged) -> Judged {
    match (one, other) {
        (denied @ Judged::Deny(_), _) | (_, denied @ Judged::Deny(_)) => denied,
        (asked @ Judged::AskEachTime(_), _) | (_, asked @ Judged::AskEachTime(_)) => asked,
        (asked @ Judged::Ask(_), _) | (_, asked @ Judged::Ask(_)) => asked,
        (Judged::Allow, Judged::Allow) => Judged::Allow,
    }
}

impl Policy {
    /// For a tool that looks into folders: what a deny rule or a built-in place hides from it.
    pub fn hides(&self, path: &str) -> bool {
        let denied = matches!(self.rules.on_read(path), Ruled::Denied { .. });
        denied || sensitive::never_read(path, &self.places).is_some()
    }

    fn sensitive(&self, access: &Access) -> Option<String> {
        let told = |verb: &str, path: &str, why: Option<&str>| {
            why.map(|why| format!("{path} may not be {verb} in any mode: {why}"))
        };
        let mut writes = access.writes.iter().map(|path| path.as_str());
        let mut reads = access.reads.iter().map(|path| path.as_str());
        let written = |path: &str| {
            told(
                "written",
                path,
                sensitive::never_written(path, &self.places),
            )
        };
        let read = |path: &str| told("read", path, sensitive::never_read(path, &self.places));
        let in_command = |line: &String| {
            let touched = commands::touched(line, &self.places);
            touched.into_iter().find_map(|touched| match touched {
                commands::Touched::Written(path) => written(&path),
                commands::Touched::Named(path) => read(&path),
            })
        };
        let found = writes.find_map(written).or_else(|| reads.find_map(read));
        found.or_else(|| access.commands.iter().find_map(in_command))
    }

    fn parts<'a>(&self, call: &ToolCall, access: &'a Access) -> Vec<(Part<'a>, Ruled)> {
        let rules = &self.rules;
        let mut parts = Vec::new();
        for path in &access.writes {
            let ruled = rules.on_write(&call.name, path.as_str());
            parts.push((Part::Write(path.as_str()), ruled));
        }
        for path in &access.reads {
            let mut ruled = rules.on_read(path.as_str());
            // Whoever may change a file may look at it first.
            let changed = access.writes.contains(path);
            if changed && ruled == Ruled::Unruled {
                ruled = rules.on_write(&call.name, path.as_str());
            }
            parts.push((Part::Read(path.as_str()), ruled));
        }
        for line in &access.commands {
            let ruled = commands::ruled(self, &call.name, line);
            let named = ruled == Ruled::Allowed;
            parts.push((Part::Command { line, named }, ruled));
        }
        for host in &access.hosts {
            parts.push((Part::Host(host), rules.on_host(&call.name, host)));
        }
        if access.unknown {
            parts.push((Part::Unknown, Ruled::Unruled));
        }
        parts
    }

    fn judge(&self, part: &Part<'_>, ruled: Ruled) -> Judged {
        let plans = self.mode == Mode::Plan && !part.may_be_planned();
        match ruled {
            Ruled::Denied { rule } => denied_by(&rule),
            Ruled::Asked { .. } | Ruled::Allowed if plans => self.by_mode(part),
            Ruled::Asked { why } => Judged::AskEachTime(why),
            Ruled::Allowed => Judged::Allow,
            Ruled::Unruled => self.by_mode(part),
        }
    }

    fn by_mode(&self, part: &Part<'_>) -> Judged {
        match self.mode {
            Mode::FullAuto => Judged::Allow,
            Mode::Plan => match part {
                Part::Read(path) if self.places.contain(path) => Judged::Allow,
                Part::Read(_) => Judged::Ask(part.needs_a_yes()),
                Part::Write(_) | Part::Command { .. } | Part::Host(_) | Part::Unknown => {
                    let what = part.doing();
                    Judged::Deny(format!(
                        "plan mode only looks, and this is {what}: say what you would do instead"
                    ))
                }
            },
            Mode::Default | Mode::AcceptEdits => {
                let writes = self.mode == Mode::AcceptEdits;
                let fits = match part {
                    Part::Read(path) => self.places.contain(path),
                    Part::Write(path) => writes && self.places.contain(path),
                    Part::Command { line, .. } => {
                        writes && commands::only_makes_files(line, &self.places)
                    }
                    Part::Host(_) | Part::Unknown => false,
                };
                if fits {
                    Judged::Allow
                } else {
                    Judged::Ask(part.needs_a_yes())
                }
            }
        }
    }

    fn with_remedy(&self, reason: &str, call: &ToolCall, access: &Access) -> Verdict {
        let flags = suggest(call, access, self.places.anchors()).flags();
        let within = |path: &hames_types::WorkPath| self.places.contain(path.as_str());
        let only_edits =
            !access.leaves_the_workspace() && access.reads.iter().chain(&access.writes).all(within);
        let mode = if only_edits {
            Mode::AcceptEdits
        } else {
            Mode::FullAuto
        };
        let reason = format!("{reason}; to allow it: {flags} or --permission-mode {mode}");
        Verdict::Ask { reason }
    }
}

impl Part<'_> {
    fn doing(&self) -> String {
        match self {
            Self::Read(path) => format!("reading {path}"),
            Self::Write(path) => format!("writing {path}"),
            Self::Command { line, .. } => format!("running `{}`", line.trim()),
            Self::Host(host) => format!("reaching {host}"),
            Self::Unknown => "of unknown effect".to_owned(),
        }
    }

    fn needs_a_yes(&self) -> String {
        match self {
            Self::Read(_) => format!("{} outside the workspace needs a yes", self.doing()),
            Self::Write(_) | Self::Command { .. } | Self::Host(_) => {
                format!("{} needs a yes", self.doing())
            }
            Self::Unknown => "what this call would touch is unknown, so it needs a yes".to_owned(),
        }
    }

    /// In plan mode a rule opens commands that it names, and no writing.
    fn may_be_planned(&self) -> bool {
        match self {
            Self::Read(_) => true,
            Self::Command { named, .. } => *named,
            Self::Write(_) | Self::Host(_) | Self::Unknown => false,
        }
    }
}
