//! ARCHITECTURE.md, held to the tree: the files it names exist, each invariant is there with a
//! test, and the tests it names are real.

use std::collections::BTreeSet;

use super::{Finding, tree::Tree};
use crate::{generate, source};

const FILE: &str = "ARCHITECTURE.md";
const INVARIANTS: std::ops::RangeInclusive<usize> = 1..=23;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(FILE) else {
        return vec![Finding::new(FILE, 0, "is missing")];
    };
    let functions = functions(tree);
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let mut complain = |what: String| findings.push(Finding::new(FILE, index + 1, what));
        for file in ticked(line).filter(|word| word.ends_with(".rs") && !exists(tree, word)) {
            complain(format!("there is no `{file}`"));
        }
        let Some((number, tested)) = invariant(line) else {
            continue;
        };
        seen.insert(number);
        let tests: Vec<&str> = ticked(tested).collect();
        if tests.is_empty() && !tested.contains("tidy") && !tested.contains("not built") {
            complain(format!("invariant {number} names no test"));
        }
        let names = tests
            .into_iter()
            .filter(|test| !test.contains(['/', '.', ' ']));
        for test in names.filter(|test| !is_there(&functions, test)) {
            complain(format!("invariant {number}: there is no test `{test}`"));
        }
    }
    let missing = INVARIANTS.filter(|number| !seen.contains(number));
    findings.extend(
        missing.map(|number| Finding::new(FILE, 0, format!("invariant {number} is missing"))),
    );
    findings
}

/// The number and the last cell of an invariant's row: `| 7 | … | held by | tested by |`.
fn invariant(line: &str) -> Option<(usize, &str)> {
    let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
    let [number, _, _, tested] = cells.as_slice() else {
        return None;
    };
    Some((number.trim().parse().ok()?, tested))
}

/// By its whole name, or without the id of what it proves: `req_l01_…`, `fault_d03_…`.
fn is_there(functions: &BTreeSet<String>, test: &str) -> bool {
    let ending = format!("_{test}");
    functions.contains(test) || functions.iter().any(|name| name.ends_with(&ending))
}

/// What stands between backticks.
fn ticked(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn exists(tree: &Tree, named: &str) -> bool {
    let below = format!("/{named}");
    tree.rust()
        .any(|file| file.path == named || file.path.ends_with(&below))
}

/// Every function of the project, tests and laws included.
fn functions(tree: &Tree) -> BTreeSet<String> {
    let mut functions = BTreeSet::new();
    for file in tree.rust() {
        let code = source::code_only(&file.text);
        let mut before = "";
        for (_, word) in source::words(&code) {
            if before == "fn" {
                functions.insert(word.to_owned());
            }
            before = word;
        }
    }
    functions
}

pub fn generated(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(FILE).unwrap_or_default();
    let files = tree
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.text.as_str()));
    let what = match generate::current(text, &generate::counts(files)) {
        Some(current) if current == text => return Vec::new(),
        Some(_) => "its table is out of date: run `cargo xtask gen`",
        None => "the markers of its generated table are gone",
    };
    vec![Finding::new(FILE, 0, what)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn what_is_named_and_not_there_is_found() {
        let rows: String = (3..=23)
            .map(|n| format!("| {n} | x | y | `works` |\n"))
            .collect();
        let text = format!("see `a.rs`, `b/c.rs` and `gone.rs`\n| 1 | x | y | `never` |\n{rows}");
        let tree = Tree::of(&[
            (FILE, &text),
            (
                "crates/z/src/a.rs",
                "fn req_x01_works() {}\n// fn never() {}\n",
            ),
            ("crates/z/src/b/c.rs", ""),
        ]);
        let expected = [
            "ARCHITECTURE.md:1: there is no `gone.rs`",
            "ARCHITECTURE.md:2: invariant 1: there is no test `never`",
            "ARCHITECTURE.md: invariant 2 is missing",
        ];
        assert_eq!(shown(&check(&tree)), expected);
    }

    #[test]
    fn a_table_that_nobody_counted_again_is_found() {
        let tree = Tree::of(&[(FILE, "no markers")]);
        let expected = ["ARCHITECTURE.md: the markers of its generated table are gone"];
        assert_eq!(shown(&generated(&tree)), expected);
    }
}
