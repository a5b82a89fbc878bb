//! A tool and what the model reads of it stand side by side: `read.rs` and `read.md`.

use std::collections::BTreeSet;

use super::{Finding, tree::Tree};

const FOLDER: &str = "crates/hames-tools/src/";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let stems = |ending: &str| -> BTreeSet<&str> {
        let own = tree
            .files
            .iter()
            .filter_map(|file| file.path.strip_prefix(FOLDER));
        own.filter_map(|path| path.strip_suffix(ending)).collect()
    };
    let tools = |stem: &&str| {
        let text = tree.text(&format!("{FOLDER}{stem}.rs"));
        text.is_some_and(|text| text.contains("impl TypedTool for"))
    };
    let (modules, prompts) = (stems(".rs"), stems(".md"));
    let mut findings = Vec::new();
    for stem in modules.iter().filter(|stem| tools(stem)) {
        if !prompts.contains(stem) {
            let what = format!("a tool without its prompt, {stem}.md");
            findings.push(Finding::new(&format!("{FOLDER}{stem}.rs"), 0, what));
        }
    }
    for stem in prompts.iter().filter(|stem| !tools(stem)) {
        let what = "a prompt without its tool beside it";
        findings.push(Finding::new(&format!("{FOLDER}{stem}.md"), 0, what));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn halves_of_a_pair_are_found() {
        let at = |name: &str| format!("{FOLDER}{name}");
        let tool = "impl TypedTool for X {}";
        let (read, read_md, grep, old) =
            (at("read.rs"), at("read.md"), at("grep.rs"), at("old.md"));
        let tree = Tree::of(&[(&read, tool), (&read_md, ""), (&grep, tool), (&old, "")]);
        let expected = [
            format!("{FOLDER}grep.rs: a tool without its prompt, grep.md"),
            format!("{FOLDER}old.md: a prompt without its tool beside it"),
        ];
        assert_eq!(shown(&check(&tree)), expected);
    }
}
