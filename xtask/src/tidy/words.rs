//! One word for one thing: the glossary's right-hand column, kept out of the vocabulary and the
//! loop.
//!
//! Codecs are not read: there a wire's word is the wire's. Nor are texts: prose may explain.

use super::{Finding, tree::File, tree::Tree};
use crate::source;

const READ: [&str; 2] = ["crates/hames-types/src/", "crates/hames-agent/src/"];

/// The word that is not used here (as the words of an identifier, joined by `_`), and ours.
const DENIED: [(&str, &str); 25] = [
    ("abort", "interrupt or stop"),
    ("checkpoint", "journal"),
    ("conversation", "session or transcript"),
    ("event_bus", "feed"),
    ("exit_status", "outcome"),
    ("finish_reason", "stop reason"),
    ("function_call", "tool call"),
    ("guardrail", "hook"),
    ("history", "transcript"),
    ("iteration", "turn"),
    ("llm", "model"),
    ("mailbox", "steering"),
    ("max_iterations", "limit"),
    ("middleware", "hook"),
    ("observation", "tool result"),
    ("rollout", "journal"),
    ("runner", "adapter"),
    ("split_index", "cut"),
    ("submission_score", "resolved"),
    ("tool_message", "tool results"),
    ("tool_response", "tool result"),
    ("tool_uses", "tool calls"),
    ("trace", "trajectory"),
    ("wire_api", "API kind"),
    ("workflow", "shape"),
];

/// Identifiers of others, which we cannot name: where, which, whose.
const OTHERS: [(&str, &str, &str); 1] = [(
    "crates/hames-agent/src/",
    "abort",
    "tokio's JoinHandle and AbortHandle",
)];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let is_read = |file: &&File| READ.iter().any(|folder| file.path.starts_with(folder));
    tree.sources()
        .filter(is_read)
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let code = source::code_only(&file.text);
    let mut findings = Vec::new();
    for (line, word) in source::words(&code) {
        let spread = format!("_{}_", snake(word));
        let hit = DENIED
            .iter()
            .find(|(denied, _)| spread.contains(&format!("_{denied}_")));
        let Some((denied, ours)) = hit else {
            continue;
        };
        let excused = |(path, theirs, _): &(&str, &str, &str)| {
            file.path.starts_with(path) && theirs == denied
        };
        if !OTHERS.iter().any(excused) {
            let what = format!("`{word}`: the glossary's word is {ours}");
            findings.push(Finding::new(&file.path, line, what));
        }
    }
    findings
}

/// `ToolUses` and `tool_uses` are the same words.
fn snake(word: &str) -> String {
    let mut snake = String::new();
    let mut was_lower = false;
    for char in word.chars() {
        if char.is_uppercase() && was_lower {
            snake.push('_');
        }
        was_lower = char.is_lowercase() || char.is_ascii_digit();
        snake.extend(char.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn other_words_are_found_in_names_and_not_in_prose() {
        let text = "// the history\n#[doc(alias = \"finish_reason\")]\nstruct ChatHistory;\nlet tool_uses = historic;\n";
        let tree = Tree::of(&[
            ("crates/hames-types/src/a.rs", text),
            ("crates/hames-wire/src/a.rs", text),
            ("crates/hames-agent/src/b.rs", "task.abort();\n"),
        ]);
        let expected = [
            "crates/hames-types/src/a.rs:3: `ChatHistory`: the glossary's word is session or transcript",
            "crates/hames-types/src/a.rs:4: `tool_uses`: the glossary's word is tool calls",
        ];
        let expected = expected.map(|line| line.replace("session or transcript", "transcript"));
        assert_eq!(shown(&check(&tree)), expected);
    }
}
