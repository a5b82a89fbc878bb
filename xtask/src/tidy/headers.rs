//! Every file of Rust opens with `//!`: what it owns, before anything it does.

use super::{Finding, tree::Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let opens = |text: &str| {
        let first = text.lines().find(|line| !line.trim().is_empty());
        first.is_some_and(|line| line.starts_with("//! "))
    };
    let without = tree
        .rust()
        .filter(|file| !opens(&file.text) && !is_data(&file.path));
    let finding = |path: &str| Finding::new(path, 1, "opens without `//!`: say what the file owns");
    without.map(|file| finding(&file.path)).collect()
}

/// Rust that a test reads is not Rust of ours.
fn is_data(path: &str) -> bool {
    path.contains("/test_data/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn a_file_that_says_nothing_of_itself_is_found() {
        let tree = Tree::of(&[
            ("a.rs", "\n//! Owns a.\nuse b;\n"),
            ("b.rs", "use b;\n//! Late.\n"),
            ("c.rs", ""),
            ("x/test_data/d.rs", "fn d() {}\n"),
        ]);
        let what = "opens without `//!`: say what the file owns";
        assert_eq!(
            shown(&check(&tree)),
            [format!("b.rs:1: {what}"), format!("c.rs:1: {what}")]
        );
    }
}
