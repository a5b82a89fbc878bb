//! Permission rules: `Tool` or `Tool(specifier)` in three lists; deny beats ask beats allow.
//!
//! Text in, judgement out: no rule is looked up on the disk, and no mode is known here.

mod pattern;
mod shell;
mod suggest;
mod wrappers;

pub use pattern::{Anchors, escape};
pub use shell::{Redirect, Script, Simple, Word, split};
pub use suggest::{Suggestion, suggest};
pub use wrappers::base_name;

use pattern::{PathPattern, Wildcard};

/// How the names and paths of a rule are to be read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Another harness's name for a tool of ours (`run_terminal_cmd` for `bash`); `None` if it has none.
    pub alias: &'a dyn Fn(&str) -> Option<String>,
    pub anchors: Anchors<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    text: String,
    tool: Wildcard,
    about: About,
}

/// What of a call a rule is about.
#[derive(Debug, Clone, PartialEq)]
enum About {
    Call,
    Command(Wildcard),
    Reads(PathPattern),
    Writes(PathPattern),
    Host(String),
    /// A specifier of a tool that this version does not know: it allows nothing, and denies the tool.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the permission rule {rule:?} cannot be read: {problem}")]
pub struct RuleError {
    pub rule: String,
    pub problem: String,
}

/// What the rules say of one part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruled {
    Denied {
        rule: String,
    },
    /// By a rule, or because a denied part may hide in it.
    Asked {
        why: String,
    },
    Allowed,
    /// No rule is about it.
    Unruled,
}

impl Ruled {
    /// Deny, then ask, then what is not ruled; allowed only if all of it is.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (denied @ Self::Denied { .. }, _) | (_, denied @ Self::Denied { .. }) => denied,
            (asked @ Self::Asked { .. }, _) | (_, asked @ Self::Asked { .. }) => asked,
            (Self::Unruled, _) | (_, Self::Unruled) => Self::Unruled,
            (Self::Allowed, Self::Allowed) => Self::Allowed,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    pub allow: Vec<Rule>,
    pub ask: Vec<Rule>,
    pub deny: Vec<Rule>,
}

/// A command line, and what only the places around it can tell.
pub struct Line<'a> {
    pub text: &'a str,
    pub script: &'a Script,
    /// Commands that need no rule beside others that have one (`cd` within the workspace).
    pub harmless: &'a dyn Fn(&Simple) -> bool,
    /// Whether the file a redirection writes may be written.
    pub may_write: &'a dyn Fn(&Redirect) -> bool,
}

/// Commands whose words are data: one of them that looks like a denied command runs nothing.
const WORDS_ARE_DATA: &[&str] = &[
    "[", "basename", "cat", "cd", "cut", "diff", "dirname", "echo", "egrep", "false", "fgrep",
    "file", "grep", "head", "ls", "mkdir", "printf", "pwd", "rmdir", "sort", "stat", "tail",
    "test", "touch", "tr", "true", "type", "uniq", "wc", "which",
];

impl Rule {
    pub fn parse(text: &str, reading: Reading<'_>) -> Result<Self, RuleError> {
        let bad = |problem: &str| RuleError {
            rule: text.to_owned(),
            problem: problem.to_owned(),
        };
        let trimmed = text.trim();
        let (name, specifier) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((name, rest)) => {
                let inside = rest.strip_suffix(')');
                (
                    name,
                    Some(inside.ok_or_else(|| bad("it has to end with `)`"))?.trim()),
                )
            }
        };
        if name.is_empty() {
            return Err(bad("a tool's name comes first, as in Bash(git status)"));
        }
        let named = |c: char| c.is_alphanumeric() || "_-.:*".contains(c);
        if let Some(odd) = name.chars().find(|c| !named(*c)) {
            return Err(bad(&format!("a tool's name cannot hold {odd:?}")));
        }
        if specifier == Some("") {
            return Err(bad(&format!(
                "the brackets are empty; for every call write {name}"
            )));
        }
        let tool = canonical(name, reading.alias);
        let specifier = specifier.filter(|specifier| *specifier != "*");
        let about = About::parse(&tool, specifier, reading.anchors).map_err(bad)?;
        let server = tool.starts_with("mcp__") && tool.matches("__").count() == 1;
        let tool = if server { format!("{tool}__*") } else { tool };
        Ok(Self {
            text: trimmed.to_owned(),
            tool: Wildcard::new(&tool),
            about,
        })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn is_for(&self, tool: &str) -> bool {
        self.tool.matches(tool)
    }
}

impl About {
    fn parse(
        tool: &str,
        specifier: Option<&str>,
        anchors: Anchors<'_>,
    ) -> Result<Self, &'static str> {
        let Some(text) = specifier else {
            return Ok(Self::Call);
        };
        if let Some(host) = text.strip_prefix("domain:") {
            return Ok(Self::Host(host.trim().to_ascii_lowercase()));
        }
        let path = || PathPattern::new(text, anchors);
        Ok(match tool {
            "bash" => Self::Command(command_pattern(text)),
            "read" | "glob" | "grep" => Self::Reads(path()?),
            "write" | "edit" => Self::Writes(path()?),
            _ => Self::Unknown,
        })
    }
}

/// `npm run test:*` is an older way to write `npm run test *`.
fn command_pattern(text: &str) -> Wildcard {
    match text.strip_suffix(":*") {
        Some(prefix) => Wildcard::new(&format!("{prefix} *")),
        None => Wildcard::new(text),
    }
}

/// The caller's names first; then ours, in whatever case.
fn canonical(name: &str, alias: &dyn Fn(&str) -> Option<String>) -> String {
    const OURS: &[&str] = &["bash", "read", "write", "edit", "glob", "grep", "todo"];
    let lower = name.to_ascii_lowercase();
    let ours = || OURS.contains(&lower.as_str()).then(|| lower.clone());
    alias(name).or_else(ours).unwrap_or_else(|| name.to_owned())
}

/// Splits `Bash(git log *), Read` at commas and blanks outside brackets.
pub fn split_list(text: &str) -> Vec<String> {
    let (mut rules, mut rule, mut depth, mut escaped) = (Vec::new(), String::new(), 0_usize, false);
    for c in text.chars() {
        let ends = depth == 0 && (c == ',' || c.is_whitespace());
        match c {
            '(' if !escaped => depth += 1,
            ')' if !escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        if ends {
            rules.push(std::mem::take(&mut rule));
        } else {
            rule.push(c);
        }
    }
    rules.push(rule);
    rules.retain(|rule| !rule.is_empty());
    rules
}

impl Rules {
    /// Reads three lists; the first rule that cannot be read is the error.
    pub fn parse(
        allow: &[String],
        ask: &[String],
        deny: &[String],
        reading: Reading<'_>,
    ) -> Result<Self, RuleError> {
        let list = |texts: &[String]| -> Result<Vec<Rule>, RuleError> {
            texts
                .iter()
                .map(|text| Rule::parse(text, reading))
                .collect()
        };
        Ok(Self {
            allow: list(allow)?,
            ask: list(ask)?,
            deny: list(deny)?,
        })
    }

    pub fn extend(&mut self, other: Self) {
        self.allow.extend(other.allow);
        self.ask.extend(other.ask);
        self.deny.extend(other.deny);
    }

    /// What the rules say that are about the whole tool.
    pub fn on_call(&self, tool: &str) -> Ruled {
        let whole = |rule: &&Rule| rule.is_for(tool) && rule.about == About::Call;
        let barring =
            |rule: &&Rule| whole(rule) || rule.is_for(tool) && rule.about == About::Unknown;
        self.pick(barring, |rule| whole(&rule))
    }

    /// Rules about reading bind every tool that declares what it reads.
    pub fn on_read(&self, path: &str) -> Ruled {
        let denies =
            |rule: &&Rule| matches!(&rule.about, About::Reads(paths) if paths.denies(path));
        let allows = |rule: &Rule| matches!(&rule.about, About::Reads(paths) if paths.allows(path));
        self.pick(denies, allows)
    }

    /// `Edit` rules allow `write` as well; a `Write` rule allows only `write`. Both deny for all.
    pub fn on_write(&self, tool: &str, path: &str) -> Ruled {
        let denies =
            |rule: &&Rule| matches!(&rule.about, About::Writes(paths) if paths.denies(path));
        let allows = |rule: &Rule| {
            let for_it = rule.is_for(tool) || rule.is_for("edit");
            for_it && matches!(&rule.about, About::Writes(paths) if paths.allows(path))
        };
        self.pick(denies, allows)
    }

    pub fn on_host(&self, tool: &str, host: &str) -> Ruled {
        let host = host.to_ascii_lowercase();
        let under = |name: &str| {
            host.strip_suffix(name)
                .is_some_and(|sub| sub.ends_with('.'))
        };
        let denies =
            |rule: &&Rule| matches!(&rule.about, About::Host(name) if *name == host || under(name));
        let allows = |rule: &Rule| {
            rule.is_for(tool) && matches!(&rule.about, About::Host(name) if *name == host)
        };
        self.pick(denies, allows)
    }

    fn pick(&self, bars: impl Fn(&&Rule) -> bool, allows: impl Fn(&Rule) -> bool) -> Ruled {
        if let Some(rule) = self.deny.iter().find(&bars) {
            let rule = rule.text.clone();
            return Ruled::Denied { rule };
        }
        if let Some(rule) = self.ask.iter().find(&bars) {
            let why = format!("the rule {} asks first", rule.text);
            return Ruled::Asked { why };
        }
        if self.allow.iter().any(allows) {
            return Ruled::Allowed;
        }
        Ruled::Unruled
    }

    /// Every command of the line has to be allowed; one that is denied denies it all.
    pub fn on_command(&self, tool: &str, line: &Line<'_>) -> Ruled {
        let named = |rule: &&Rule| {
            matches!(&rule.about, About::Command(pattern)
                if names_whole(pattern, line.text) || line.script.commands.iter().any(|c| bars(pattern, c)))
        };
        match self.pick(named, |_| false) {
            Ruled::Unruled => {}
            barred @ (Ruled::Denied { .. } | Ruled::Asked { .. } | Ruled::Allowed) => {
                return barred;
            }
        }
        if let Some(why) = self.may_hide(line.script) {
            return Ruled::Asked { why };
        }
        if self.allows_line(tool, line) {
            return Ruled::Allowed;
        }
        Ruled::Unruled
    }

    /// Whether what a deny or ask rule is about may run without being seen in the line.
    fn may_hide(&self, script: &Script) -> Option<String> {
        let mut barring = self
            .deny
            .iter()
            .chain(&self.ask)
            .filter_map(|rule| match &rule.about {
                About::Command(pattern) => Some((rule, pattern)),
                About::Call
                | About::Reads(_)
                | About::Writes(_)
                | About::Host(_)
                | About::Unknown => None,
            });
        barring.find_map(|(rule, pattern)| {
            let seen = script
                .commands
                .iter()
                .any(|command| may_become(pattern, command));
            let why = script
                .doubt
                .or(seen.then_some("a part that is only known when it runs"));
            why.map(|why| format!("{why}: the rule {} may be about it", rule.text))
        })
    }

    fn allows_line(&self, tool: &str, line: &Line<'_>) -> bool {
        let own = self.allow.iter().filter(|rule| rule.is_for(tool));
        let patterns: Vec<&Wildcard> = own
            .filter_map(|rule| match &rule.about {
                About::Command(pattern) => Some(pattern),
                About::Call
                | About::Reads(_)
                | About::Writes(_)
                | About::Host(_)
                | About::Unknown => None,
            })
            .collect();
        if patterns
            .iter()
            .any(|pattern| names_whole(pattern, line.text))
        {
            return true;
        }
        let script = line.script;
        let mut real = script
            .commands
            .iter()
            .filter(|command| !command.wraps)
            .peekable();
        if script.doubt.is_some() || real.peek().is_none() {
            return false;
        }
        let named = |command: &Simple| {
            let text = command.text();
            patterns.iter().any(|pattern| pattern.matches(&text))
        };
        let (ruled, rest): (Vec<&Simple>, Vec<&Simple>) = real.partition(|command| named(command));
        let redirects = script.redirects.iter().filter(|redirect| redirect.writes);
        !ruled.is_empty()
            && rest.into_iter().all(line.harmless)
            && redirects.into_iter().all(line.may_write)
    }
}

/// A rule without `*` that is the whole line: what was read is what runs.
fn names_whole(pattern: &Wildcard, line: &str) -> bool {
    pattern.exact().is_some_and(|exact| exact == line.trim())
}

/// For denying, `/bin/rm` is `rm`.
fn bars(pattern: &Wildcard, command: &Simple) -> bool {
    let text = command.text();
    let short = text.get(command.name().len()..).unwrap_or_default();
    let short = format!("{}{short}", base_name(command.name()));
    pattern.matches(&text) || pattern.matches(&short)
}

/// Whether the command may turn out to be what the pattern is about: by what the shell puts in, or
/// because it runs its own arguments.
fn may_become(pattern: &Wildcard, command: &Simple) -> bool {
    let name = base_name(command.name());
    if !command.is_literal() && pattern.first_word().is_none_or(|first| first == name) {
        return true;
    }
    if WORDS_ARE_DATA.contains(&name) {
        return false;
    }
    (1..command.words.len()).any(|from| {
        let words = command.words.get(from..).unwrap_or_default().to_vec();
        let wraps = command.wraps;
        bars(pattern, &Simple { words, wraps })
    })
}
