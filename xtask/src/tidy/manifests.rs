//! Manifests: one list of versions, one table of lints, and a panic that can be caught.

use super::{Finding, tree::File, tree::Tree};

const ROOT: &str = "Cargo.toml";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = root(tree.text(ROOT).unwrap_or_default());
    let is_member = |file: &&File| file.path.ends_with("/Cargo.toml");
    findings.extend(tree.files.iter().filter(is_member).flat_map(member));
    findings
}

fn root(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut complain = |line, what: &str| findings.push(Finding::new(ROOT, line, what));
    if !text.contains("default-members = [\"crates/hames\"]") {
        complain(
            0,
            "`cargo run` is the product: default-members = [\"crates/hames\"]",
        );
    }
    let mut before = "";
    for (line, text) in section(text, "workspace.dependencies") {
        let name = text.split([' ', '.']).next().unwrap_or_default();
        let ours = |name: &str| name.starts_with("hames");
        if name < before && ours(name) == ours(before) {
            complain(
                line,
                "out of order: ours first, then the others, each by name",
            );
        }
        before = name;
    }
    for (line, text) in text.lines().enumerate() {
        if text.replace(' ', "").starts_with("panic=\"abort\"") {
            complain(
                line + 1,
                "a tool's panic is told to the model: it must unwind",
            );
        }
    }
    findings
}

fn member(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut complain = |line, what: &str| findings.push(Finding::new(&file.path, line, what));
    if section(&file.text, "lints").all(|(_, line)| line != "workspace = true") {
        complain(0, "has lints of its own: `[lints]` with `workspace = true`");
    }
    for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (line, text) in section(&file.text, table) {
            if text.contains('=') && !text.contains("workspace = true") && is_entry(text) {
                complain(
                    line,
                    "has a version of its own: it belongs to the workspace's list",
                );
            }
        }
    }
    findings
}

/// The first line of a dependency, and none of the lines that its features run over.
fn is_entry(line: &str) -> bool {
    line.starts_with(|char: char| char.is_ascii_lowercase()) && !line.starts_with("features")
}

/// The lines of a table that say something.
fn section<'t>(text: &'t str, name: &str) -> impl Iterator<Item = (usize, &'t str)> {
    let head = format!("[{name}]");
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line));
    let inside = lines.skip_while(move |(_, line)| *line != head).skip(1);
    let inside = inside.take_while(|(_, line)| !line.starts_with('['));
    inside.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn manifests_that_go_their_own_way_are_found() {
        let root = "default-members = [\"crates/hames\"]\n[workspace.dependencies]\nhames-b = { path = \"b\" }\n\
            bytes = \"1\"\nanyhow = \"1\"\n[profile.release]\npanic = \"abort\"\n";
        let good = "[lints]\nworkspace = true\n\n[dependencies]\nbytes.workspace = true\n\
            tokio = { workspace = true, features = [\n    \"rt\",\n] }\n";
        let bad = "[dependencies]\nbytes = \"1\"\n[features]\ncli = []\n";
        let tree = Tree::of(&[(ROOT, root), ("a/Cargo.toml", good), ("b/Cargo.toml", bad)]);
        let expected = [
            "Cargo.toml:5: out of order: ours first, then the others, each by name",
            "Cargo.toml:7: a tool's panic is told to the model: it must unwind",
            "b/Cargo.toml: has lints of its own: `[lints]` with `workspace = true`",
            "b/Cargo.toml:2: has a version of its own: it belongs to the workspace's list",
        ];
        assert_eq!(shown(&check(&tree)), expected);
    }
}
