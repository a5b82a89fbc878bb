//! The rules of the house that no compiler checks; each is a small function over the tree's text.
//!
//! It reads the tree once and changes nothing.

mod architecture;
mod arrows;
mod dependencies;
mod documents;
mod faults;
mod headers;
mod homes;
mod manifests;
mod names;
mod places;
mod prompts;
mod sizes;
mod test_files;
mod tree;
mod words;

use std::{fmt, io, path::Path};

use crate::graph::Graph;
use tree::Tree;

/// What breaks a rule, and where; line 0 means the file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        let (path, what) = (path.to_owned(), what.into());
        Self { path, line, what }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

pub fn run(root: &Path) -> io::Result<bool> {
    let tree = Tree::load(root)?;
    let graph = Graph::load(root)?;
    let findings = check(&tree, &graph);
    for finding in &findings {
        eprintln!("{finding}");
    }
    let files = tree.files.len();
    eprintln!(
        "tidy: {} rules, {files} files, {} findings",
        RULES.len(),
        findings.len()
    );
    Ok(findings.is_empty())
}

type Rule = fn(&Tree, &Graph) -> Vec<Finding>;

const RULES: [(&str, Rule); 15] = [
    (
        "no file, loop or import list grows past its measure",
        |tree, _| sizes::check(tree),
    ),
    ("every module opens with what it owns", |tree, _| {
        headers::check(tree)
    }),
    (
        "crates, modules and types have names that say something",
        names::check,
    ),
    ("arrows between crates go one way", |_, graph| {
        arrows::check(graph)
    }),
    ("one list of versions, one table of lints", |tree, _| {
        manifests::check(tree)
    }),
    ("effects and clocks stay in their homes", |tree, _| {
        homes::check(tree)
    }),
    ("no test file is forgotten", |tree, _| {
        test_files::check(tree)
    }),
    (
        "a document names every crate, and nothing that is gone",
        documents::check,
    ),
    (
        "the architecture's files, invariants and tests exist",
        |tree, _| architecture::check(tree),
    ),
    ("a tool and its prompt are a pair", |tree, _| {
        prompts::check(tree)
    }),
    ("every planted fault has its place", |tree, _| {
        faults::check(tree)
    }),
    ("one word for one thing", |tree, _| words::check(tree)),
    ("no path of anyone's machine", |tree, _| places::check(tree)),
    ("every dependency has its reason", dependencies::check),
    ("generated tables are current", |tree, _| {
        architecture::generated(tree)
    }),
];

fn check(tree: &Tree, graph: &Graph) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES
        .iter()
        .flat_map(|(_, rule)| rule(tree, graph))
        .collect();
    findings.sort();
    findings.dedup();
    findings
}
