//! Rules one by one behind a flag, as Claude Code takes them: `--allowedTools "Bash(git *)" Read`.
//!
//! Only what is a rule by its looks is taken along: the prompt may stand there as well.

use std::ffi::{OsStr, OsString};

use hames_tools::aliases::our_tool;

const FLAGS: [&str; 4] = [
    "--allowedTools",
    "--allowed-tools",
    "--disallowedTools",
    "--disallowed-tools",
];

/// Claude Code's tools that have no like here; a rule for one is harmless.
const OTHERS: [&str; 7] = [
    "Agent",
    "BashOutput",
    "NotebookEdit",
    "Skill",
    "Task",
    "WebFetch",
    "WebSearch",
];

/// The same line with the rules of each flag in one argument, between commas.
pub fn joined(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut args = args.into_iter().peekable();
    while let Some(arg) = args.next() {
        let takes_rules = FLAGS.iter().any(|flag| arg == *flag);
        joined.push(arg);
        if !takes_rules {
            continue;
        }
        let Some(mut rules) = args.next() else {
            break;
        };
        while let Some(rule) = args.next_if(|next| is_rule(next)) {
            rules.push(",");
            rules.push(rule);
        }
        joined.push(rules);
    }
    joined
}

fn is_rule(arg: &OsStr) -> bool {
    let Some(text) = arg.to_str() else {
        return false;
    };
    let (name, is_bare) = match text.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') => (name, false),
        Some(_) => return false,
        None => (text, true),
    };
    // A prompt may be a word that some harness has for a tool: those are written small.
    let looks_like_a_name = !is_bare || name.starts_with(char::is_uppercase);
    name.starts_with("mcp__")
        || looks_like_a_name && (our_tool(name).is_some() || OTHERS.contains(&name))
}
