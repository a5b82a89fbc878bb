//! Documents that must be complete: every crate, every word of the source documents, one test
//! command for people and for CI.

use super::{Finding, tree::Tree};
use crate::graph::Graph;

const CRATES: &str = "crates/README.md";
const GLOSSARY: &str = "GLOSSARY.md";
const ARCHITECTURE: &str = "ARCHITECTURE.md";
const ARCHITECTURE_LINES: usize = 500;

/// Names of the two documents that the project was made from; a reader who knows them finds ours.
const SOURCE_NAMES: [&str; 33] = [
    "QueryEngine",
    "submit_message",
    "continue_pending",
    "has_pending_continuation",
    "run_query",
    "QueryContext",
    "CostTracker",
    "max_turns",
    "MaxTurnsExceeded",
    "auto_compact_if_needed",
    "stream_message",
    "ApiTextDeltaEvent",
    "StreamEvent",
    "AssistantTextDelta",
    "AssistantTurnComplete",
    "ToolResultBlock",
    "_execute_tool_call",
    "PreToolUse",
    "PostToolUse",
    "State Manager",
    "Tool Registry",
    "Output Parser",
    "Loop Controller",
    "Error Handler",
    "Logger",
    "messages[]",
    "TOOL_REGISTRY",
    "finish_reason",
    "max_iterations",
    "MaxIterError",
    "LengthError",
    "TimeoutError",
    "S1",
];

pub fn check(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    crates(tree, graph, &mut findings);
    glossary(tree, &mut findings);
    test_command(tree, &mut findings);
    for path in [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ] {
        if tree.text(path).is_none() {
            findings.push(Finding::new(path, 0, "is missing"));
        }
    }
    findings
}

fn crates(tree: &Tree, graph: &Graph, findings: &mut Vec<Finding>) {
    let list = tree.text(CRATES).unwrap_or_default();
    let architecture = tree.text(ARCHITECTURE).unwrap_or_default();
    for package in graph
        .packages
        .iter()
        .filter(|package| package.folder.starts_with("crates/"))
    {
        let name = &package.name;
        if !list.contains(&format!("`{name}`")) {
            findings.push(Finding::new(CRATES, 0, format!("says nothing of `{name}`")));
        }
        if !architecture.contains(&format!("`{name}`")) {
            findings.push(Finding::new(
                ARCHITECTURE,
                0,
                format!("says nothing of `{name}`"),
            ));
        }
    }
    for (line, text) in list.lines().enumerate() {
        let named = text
            .split('`')
            .nth(1)
            .filter(|name| name.starts_with("hames"));
        let gone = named.filter(|name| text.starts_with('|') && graph.package(name).is_none());
        let complain = |name| Finding::new(CRATES, line + 1, format!("there is no `{name}`"));
        findings.extend(gone.map(complain));
    }
    let lines = architecture.lines().count();
    if lines > ARCHITECTURE_LINES {
        let what = format!("{lines} lines, at most {ARCHITECTURE_LINES}: nobody reads more");
        findings.push(Finding::new(ARCHITECTURE, 0, what));
    }
}

/// Every name of the source documents, and every alias that the code's documentation gives.
fn glossary(tree: &Tree, findings: &mut Vec<Finding>) {
    let text = tree.text(GLOSSARY).unwrap_or_default();
    for name in SOURCE_NAMES.iter().filter(|name| !text.contains(**name)) {
        let what = format!("the source documents' `{name}` is missing");
        findings.push(Finding::new(GLOSSARY, 0, what));
    }
    // What is not built yet, and what no identifier can be.
    let elsewhere = ["S1", "messages[]"];
    for name in SOURCE_NAMES.iter().filter(|name| !elsewhere.contains(name)) {
        if !tree.sources().any(|file| file.text.contains(name)) {
            let what = format!("`{name}` leads nowhere: give it to an item as `#[doc(alias)]`");
            findings.push(Finding::new(GLOSSARY, 0, what));
        }
    }
    for file in tree.sources() {
        for (line, code) in file.text.lines().enumerate() {
            for alias in aliases(code).filter(|alias| !text.contains(alias)) {
                let what = format!("the alias `{alias}` is not in {GLOSSARY}");
                findings.push(Finding::new(&file.path, line + 1, what));
            }
        }
    }
}

/// The names in `#[doc(alias = "a")]` and `#[doc(alias("a", "b"))]`.
fn aliases(line: &str) -> impl Iterator<Item = &str> {
    let list = line
        .trim_start()
        .strip_prefix("#[doc(alias")
        .unwrap_or_default();
    list.split('"').skip(1).step_by(2)
}

/// The README's second command is what CI runs: there is one way to test.
fn test_command(tree: &Tree, findings: &mut Vec<Finding>) {
    const COMMAND: &str = "cargo test --workspace";
    for path in ["README.md", ".ci/run"] {
        let text = tree.text(path).unwrap_or_default();
        if !text.lines().any(|line| line.trim() == COMMAND) {
            let what = format!("has no line `{COMMAND}`: README and CI test by one command");
            findings.push(Finding::new(path, 0, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph, tidy::tree::shown};

    #[test]
    fn gaps_are_found() {
        let graph = graph::tests::graph(&[("hames-a", &[]), ("hames-b", &[])]);
        let mut names = SOURCE_NAMES.join(" ");
        names = names.replace("LengthError", "");
        let names_in_code = format!("// {}", SOURCE_NAMES.join(" ").replace("StreamEvent", ""));
        let tree = Tree::of(&[
            ("crates/hames-a/src/names.rs", &names_in_code),
            (CRATES, "| `hames-a` | x |\n| `hames-c` | y |\n"),
            (ARCHITECTURE, "`hames-a` `hames-b`"),
            (GLOSSARY, &names),
            (
                "crates/hames-a/src/lib.rs",
                "#[doc(alias(\"run_query\", \"Nobody\"))]\n",
            ),
            (".ci/run", "cargo test --workspace\n"),
            ("README.md", "```\ncargo test\n```\n"),
            ("CONTRIBUTING.md", ""),
            ("CHANGELOG.md", ""),
            ("LICENSE-MIT", ""),
        ]);
        let expected = [
            "crates/README.md: says nothing of `hames-b`",
            "crates/README.md:2: there is no `hames-c`",
            "GLOSSARY.md: the source documents' `LengthError` is missing",
            "GLOSSARY.md: `StreamEvent` leads nowhere: give it to an item as `#[doc(alias)]`",
            "crates/hames-a/src/lib.rs:1: the alias `Nobody` is not in GLOSSARY.md",
            "README.md: has no line `cargo test --workspace`: README and CI test by one command",
            "LICENSE-APACHE: is missing",
        ];
        assert_eq!(shown(&check(&tree, &graph)), expected);
    }
}
