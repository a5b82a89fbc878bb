//! Planted faults that no longer fit: a text that is gone is a fault that nobody looks for.

use std::collections::BTreeSet;

use super::{Finding, tree::Tree};
use crate::mutants::list;

const FOLDER: &str = "xtask/mutants/";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut names = BTreeSet::new();
    let mut findings = Vec::new();
    let is_list = |path: &str| path.starts_with(FOLDER) && path.ends_with(".txt");
    for file in tree.files.iter().filter(|file| is_list(&file.path)) {
        for mutant in list::parse(&file.text) {
            let mut complain = |what: &str| {
                let what = format!("`{}`: {what}", mutant.name);
                findings.push(Finding::new(&file.path, 0, what));
            };
            if !names.insert((mutant.path.clone(), mutant.name.clone())) {
                complain("the name is taken");
            }
            if mutant.old == mutant.new {
                complain("changes nothing");
            }
            match tree.text(&mutant.path) {
                None => complain(&format!("there is no {}", mutant.path)),
                Some(text) if mutant.planted_in(text).is_none() => {
                    let times = text.matches(&mutant.old).count();
                    complain(&format!("its text stands {times} times in {}", mutant.path));
                }
                Some(_) => {}
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn faults_that_cannot_be_planted_are_found() {
        let list =
            "# gone\n@ a.rs\n-z\n+y\n\n# twice\n@ a.rs\n-x\n+y\n\n# no file\n@ b.rs\n-x\n+y\n
# good\n@ a.rs\n-once\n+never\n\n# good\n@ a.rs\n-once\n+once\n";
        let tree = Tree::of(&[("a.rs", "x\nx\nonce\n"), ("xtask/mutants/a.txt", list)]);
        let expected = [
            "xtask/mutants/a.txt: `gone`: its text stands 0 times in a.rs",
            "xtask/mutants/a.txt: `twice`: its text stands 2 times in a.rs",
            "xtask/mutants/a.txt: `no file`: there is no b.rs",
            "xtask/mutants/a.txt: `good`: the name is taken",
            "xtask/mutants/a.txt: `good`: changes nothing",
        ];
        assert_eq!(shown(&check(&tree)), expected);
    }
}
