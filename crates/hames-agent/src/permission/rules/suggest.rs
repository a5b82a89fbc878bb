//! From a call to the rules that would allow it, as wide as a person would say them.
//!
//! A command that can do anything (`rm`, `python`, `sudo`) is only ever suggested word for word.

use hames_types::{Access, ToolCall};

use super::{escape, pattern::Anchors, shell};

/// Rules that together allow what a call would touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion(pub Vec<String>);

/// Programs whose second word says what they do.
const HAVE_SUBCOMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gem",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "rustup",
    "terraform",
    "uv",
    "yarn",
];

/// Their second word runs what the third says.
const RUN_SCRIPTS: &[&str] = &["bun", "deno", "npm", "pnpm", "yarn"];

/// Second words that run whatever comes next: no `*` may stand there.
const RUN_ANYTHING: &[&str] = &["dlx", "exec", "eval", "run", "x"];

pub fn suggest(call: &ToolCall, access: &Access, anchors: Anchors<'_>) -> Suggestion {
    let mut rules = Vec::new();
    for line in &access.commands {
        rules.extend(for_line(line));
    }
    let written = access.writes.iter();
    rules.extend(written.map(|path| format!("Edit({})", place(path.as_str(), anchors))));
    let only_read = access
        .reads
        .iter()
        .filter(|path| !access.writes.contains(path));
    rules.extend(only_read.map(|path| format!("Read({})", place(path.as_str(), anchors))));
    let hosts = access.hosts.iter();
    rules.extend(hosts.map(|host| format!("{}(domain:{host})", call.name)));
    if rules.is_empty() || access.unknown {
        rules = vec![call.name.clone()];
    }
    rules.dedup();
    Suggestion(rules)
}

impl Suggestion {
    /// As flags on a command line, quoted for a shell.
    pub fn flags(&self) -> String {
        let quoted = self.0.iter().map(|rule| rule.replace('\'', "'\\''"));
        let flags: Vec<String> = quoted
            .map(|rule| format!("--allowed-tools '{rule}'"))
            .collect();
        flags.join(" ")
    }
}

/// One rule a command; the whole line, word for word, where it cannot be taken apart.
fn for_line(line: &str) -> Vec<String> {
    let script = shell::split(line);
    let writes = script.redirects.iter().any(|redirect| redirect.writes);
    if script.doubt.is_some() || writes || script.commands.is_empty() {
        return vec![format!("Bash({})", escape(line.trim()))];
    }
    let real = script.commands.iter().filter(|command| !command.wraps);
    let mut rules: Vec<String> = real.map(for_command).collect();
    rules.dedup();
    rules
}

fn for_command(command: &shell::Simple) -> String {
    let word = |at: usize| command.words.get(at).filter(|word| word.literal);
    let plain = |at: usize| {
        let text = word(at).map(|word| word.text.as_str());
        text.filter(|text| text.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    let name = command.name();
    match (plain(1), plain(2)) {
        (Some("run"), Some(script)) if RUN_SCRIPTS.contains(&name) => {
            format!("Bash({name} run {} *)", escape(script))
        }
        (Some(second), _)
            if HAVE_SUBCOMMANDS.contains(&name) && !RUN_ANYTHING.contains(&second) =>
        {
            format!("Bash({name} {} *)", escape(second))
        }
        (Some(_) | None, _) => format!("Bash({})", escape(&command.text())),
    }
}

/// A file of the workspace by its folder; one elsewhere alone.
fn place(path: &str, anchors: Anchors<'_>) -> String {
    let inside = path
        .strip_prefix(anchors.root)
        .and_then(|rest| rest.strip_prefix('/'));
    let Some(inside) = inside else {
        return format!("/{}", escape(path));
    };
    match inside.rsplit_once('/') {
        Some((folder, _)) => format!("/{}/**", escape(folder)),
        None => format!("/{}", escape(inside)),
    }
}
