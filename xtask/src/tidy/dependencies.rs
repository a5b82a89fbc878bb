//! Every third-party crate has its reason, and every reason its crate.

use std::collections::BTreeSet;

use super::{Finding, tree::Tree};
use crate::graph::Graph;

const RECORD: &str = "docs/decisions/0002-dependencies.md";

pub fn check(tree: &Tree, graph: &Graph) -> Vec<Finding> {
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
    let named: BTreeSet<&str> = record.lines().filter_map(named).collect();
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

/// The crate that a line of the list is about: "- name: …", the name in backticks or not.
fn named(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))?;
    let rest = rest.trim_start_matches(['`', '*']);
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let end = rest.find(|char| !is_name(char)).unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph, tidy::tree::shown};

    #[test]
    fn a_crate_without_a_reason_and_a_reason_without_a_crate_are_found() {
        let graph = graph::tests::graph(&[("a", &["*serde", "*tokio-util", "b"])]);
        let record = "# Dependencies\n\n- `serde` (derive): JSON.\n- bytes: kept bytes.\n";
        let tree = Tree::of(&[(RECORD, record)]);
        let expected = [
            format!(
                "{RECORD}: `tokio-util` is depended on without a line `- name: what for; what instead`"
            ),
            format!("{RECORD}: `bytes` has a line and is not depended on"),
        ];
        assert_eq!(shown(&check(&tree, &graph)), expected);
        assert_eq!(
            shown(&check(&Tree::of(&[]), &graph)),
            [format!("{RECORD}: is missing")]
        );
    }
}
