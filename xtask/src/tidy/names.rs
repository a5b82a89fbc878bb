//! Names that say nothing, and layouts that hide a name.

use super::{Finding, tree::File, tree::Tree};
use crate::{graph::Graph, source};

const MODULES: [&str; 9] = [
    "core", "common", "utils", "util", "helpers", "helper", "misc", "manager", "managers",
];
const TYPES: [&str; 5] = ["Manager", "Helper", "Info", "Data", "Handler"];
/// The source documents' own name for one of the six components.
const ALLOWED_TYPES: [&str; 1] = ["ErrorHandler"];

pub fn check(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let mut findings: Vec<Finding> = tree.rust().flat_map(module).collect();
    findings.extend(tree.sources().flat_map(types));
    for package in &graph.packages {
        let manifest = format!("{}/Cargo.toml", package.folder);
        let folder = package.folder.rsplit('/').next();
        if folder != Some(package.name.as_str()) {
            let what = format!("the folder of {} has another name", package.name);
            findings.push(Finding::new(&manifest, 0, what));
        }
        if package.version != "0.0.0" {
            let what = "a version in the tree: releases are numbered by their tags";
            findings.push(Finding::new(&manifest, 0, what));
        }
        if MODULES
            .iter()
            .any(|banned| package.name.split('-').any(|word| word == *banned))
        {
            findings.push(Finding::new(&manifest, 0, "the crate's name says nothing"));
        }
    }
    findings
}

fn module(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut parts: Vec<&str> = file.path.trim_end_matches(".rs").split('/').collect();
    let name = parts.pop().unwrap_or_default();
    if name == "mod" {
        let what = "`foo.rs` beside `foo/`, never `mod.rs`: a tab's title says what it holds";
        findings.push(Finding::new(&file.path, 0, what));
    }
    let banned = |part: &&str| MODULES.contains(part);
    if banned(&name) || parts.iter().any(banned) {
        findings.push(Finding::new(
            &file.path,
            0,
            "the module's name says nothing",
        ));
    }
    findings
}

/// In the wire crate a wire's word is the wire's.
fn types(file: &File) -> Vec<Finding> {
    if file.path.starts_with("crates/hames-wire/") {
        return Vec::new();
    }
    let code = source::code_only(&file.text);
    let mut findings = Vec::new();
    let mut before = "";
    for (line, word) in source::words(&code) {
        let declares = matches!(before, "struct" | "enum" | "trait");
        let banned = TYPES.iter().any(|ending| word.ends_with(ending));
        if declares && banned && !ALLOWED_TYPES.contains(&word) {
            let what = format!("`{word}`: the ending says nothing");
            findings.push(Finding::new(&file.path, line, what));
        }
        before = word;
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph, tidy::tree::shown};

    #[test]
    fn empty_names_are_found() {
        let tree = Tree::of(&[
            ("crates/a/src/utils.rs", ""),
            ("crates/a/src/common/b.rs", ""),
            ("crates/a/src/b/mod.rs", ""),
            (
                "crates/a/src/c.rs",
                "// struct AManager\npub struct ToolInfo;\nstruct ErrorHandler;",
            ),
            ("crates/hames-wire/src/c.rs", "struct StreamData;"),
        ]);
        let mut graph = graph::tests::graph(&[("hames-a", &[]), ("hames-core", &[])]);
        graph.packages[0].folder = "crates/a".to_owned();
        graph.packages[0].version = "1.0.0".to_owned();
        let expected = [
            "crates/a/src/utils.rs: the module's name says nothing",
            "crates/a/src/common/b.rs: the module's name says nothing",
            "crates/a/src/b/mod.rs: `foo.rs` beside `foo/`, never `mod.rs`: a tab's title says what it holds",
            "crates/a/src/c.rs:2: `ToolInfo`: the ending says nothing",
            "crates/a/Cargo.toml: the folder of hames-a has another name",
            "crates/a/Cargo.toml: a version in the tree: releases are numbered by their tags",
            "crates/hames-core/Cargo.toml: the crate's name says nothing",
        ];
        assert_eq!(shown(&check(&tree, &graph)), expected);
    }
}
