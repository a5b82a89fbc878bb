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
