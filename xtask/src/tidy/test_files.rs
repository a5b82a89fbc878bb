//! One integration binary a crate, and no file that it forgets.

use super::{Finding, tree::File, tree::Tree};
use crate::source;

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter_map(|file| check_file(tree, file))
        .collect()
}

fn check_file(tree: &Tree, file: &File) -> Option<Finding> {
    let (home, inside) = file.path.split_once("/tests/")?;
    if !home.starts_with("crates/") || home.matches('/').count() != 1 {
        return None;
    }
    let Some(topic) = inside.strip_prefix("it/") else {
        let what = "an integration binary of its own: move it into tests/it";
        return Some(Finding::new(&file.path, 0, what));
    };
    if topic == "main.rs" {
        return None;
    }
    let stem = topic.strip_suffix(".rs")?;
    let (parent, name) = match stem.rsplit_once('/') {
        Some((folder, name)) => (format!("{home}/tests/it/{folder}.rs"), name),
        None => (format!("{home}/tests/it/main.rs"), stem),
    };
    let code = source::code_only(tree.text(&parent).unwrap_or_default());
    let registered = code
        .lines()
        .any(|line| line.trim() == format!("mod {name};"));
    let what = format!("never runs: {parent} has no `mod {name};`");
    (!registered).then(|| Finding::new(&file.path, 0, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn forgotten_files_are_found() {
        let tree = Tree::of(&[
            ("crates/a/tests/it/main.rs", "mod turns;\n// mod late;\n"),
            ("crates/a/tests/it/turns.rs", "mod deep;\n"),
            ("crates/a/tests/it/turns/deep.rs", ""),
            ("crates/a/tests/it/turns/lost.rs", ""),
            ("crates/a/tests/it/late.rs", ""),
            ("crates/a/tests/other.rs", ""),
        ]);
        let expected = [
            "crates/a/tests/it/turns/lost.rs: never runs: crates/a/tests/it/turns.rs has no `mod lost;`",
            "crates/a/tests/it/late.rs: never runs: crates/a/tests/it/main.rs has no `mod late;`",
            "crates/a/tests/other.rs: an integration binary of its own: move it into tests/it",
        ];
        assert_eq!(shown(&check(&tree)), expected);
    }
}
