//! Every third-party crate has its reason, every reason its crate, and every crate its use.

use std::collections::BTreeSet;

use super::{Finding, tree::Tree};
use crate::{
    graph::{Graph, Package},
    source,
};

const RECORD: &str = "docs/decisions/0002-dependencies.md";

/// Depended on for a feature of theirs that another crate uses.
const FOR_FEATURES: [&str; 0] = [];

pub fn check(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let mut findings = reasons(tree, graph);
    findings.extend(
        graph
            .packages
            .iter()
            .flat_map(|package| unused(tree, package)),
    );
    findings
}

/// In the manifest and nowhere in the code.
fn unused(tree: &Tree, package: &Package) -> Vec<Finding> {
    let folder = format!("{}/", package.folder);
    let own = tree.rust().filter(|file| file.path.starts_with(&folder));
    let code: Vec<String> = own.map(|file| source::code_only(&file.text)).collect();
    let words: BTreeSet<&str> = code
        .iter()
        .flat_map(|code| source::words(code).map(|(_, word)| word))
        .collect();
    let arrows = package.dependencies.iter();
    let idle = arrows.filter(|arrow| {
        let word = arrow.name.replace('-', "_");
        !words.contains(word.as_str()) && !FOR_FEATURES.contains(&arrow.name.as_str())
    });
    let manifest = format!("{folder}Cargo.toml");
    let finding = |name: &str| {
        Finding::new(
            &manifest,
            0,
            format!("`{name}` is in the manifest and nowhere in the code"),
        )
    };
    idle.map(|arrow| finding(&arrow.name)).collect()
}

fn reasons(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let Some(record) = tree.text(RECORD) else {
        return vec![Finding::new(RECORD, 0, "is missing")];
    };
    let arrows = graph
        .packages
        .iter()
        .flat_map(|package| &package.dependencies);
    let used: BTreeSet<&str> = arrows
        .filter(|arrow| !arrow.internal)
        .map(|arrow| arrow.name.as_str())
        .collect();
    let named: BTreeSet<&str> = record.lines().flat_map(named).collect();
    let unnamed = used.difference(&named).map(|name| {
        let what =
            format!("`{name}` is depended on without a line `- name: what for; what instead`");
        Finding::new(RECORD, 0, what)
    });
    let unused = named.difference(&used).map(|name| {
        Finding::new(
            RECORD,
            0,
            format!("`{name}` has a line and is not depended on"),
        )
    });
    unnamed.chain(unused).collect()
}

/// The crates that a line of the list is about: "- a, b (tests): …", in backticks or not.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let rest = line.strip_prefix("- ").unwrap_or_default();
    let names = rest.split_once(':').map_or("", |(names, _)| names);
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    names.split(',').filter_map(move |name| {
        let name = name.trim().trim_start_matches('`');
        name.split(|char| !is_name(char))
            .next()
            .filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph, tidy::tree::shown};

    #[test]
    fn a_crate_without_a_reason_and_a_reason_without_a_crate_are_found() {
        let graph = graph::tests::graph(&[("a", &["*serde", "*tokio-util", "*thiserror", "b"])]);
        let record =
            "# Dependencies\n\n- `serde` (derive): JSON.\n- bytes, `thiserror` (tests): kept.\n";
        let code = "use serde::Serialize;\nstruct A(tokio_util::B, thiserror::C);\n";
        let tree = Tree::of(&[(RECORD, record), ("crates/a/src/lib.rs", code)]);
        let expected = [
            format!(
                "{RECORD}: `tokio-util` is depended on without a line `- name: what for; what instead`"
            ),
            format!("{RECORD}: `bytes` has a line and is not depended on"),
            "crates/a/Cargo.toml: `b` is in the manifest and nowhere in the code".to_owned(),
        ];
        assert_eq!(shown(&check(&tree, &graph)), expected);
        assert_eq!(
            shown(&reasons(&Tree::of(&[]), &graph)),
            [format!("{RECORD}: is missing")]
        );
    }
}
