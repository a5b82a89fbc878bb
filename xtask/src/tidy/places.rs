//! Paths of someone's own machine: nobody else can follow them.

use super::{Finding, tree::Tree};

/// In prose and in scripts; a test's made-up paths are its own affair.
const IN_TEXT: [&str; 4] = ["/work/", "/tmp/", "/root/", "/home/"];
/// Anywhere.
const ANYWHERE: [&str; 2] = ["/work/main", "/work/shared"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let is_text = [".md", ".toml", ".txt"]
            .iter()
            .any(|end| file.path.ends_with(end));
        let is_text = is_text && !file.path.contains("/test_data/");
        let own = file.path == "xtask/src/tidy/places.rs";
        let banned: &[&str] = if own {
            &[]
        } else if is_text {
            &IN_TEXT
        } else {
            &ANYWHERE
        };
        for (line, text) in file.text.lines().enumerate() {
            if let Some(place) = banned.iter().find(|place| text.contains(**place)) {
                let what = format!("`{place}` is a place on one machine");
                findings.push(Finding::new(&file.path, line + 1, what));
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
    fn places_are_found_in_prose_and_the_worst_of_them_anywhere() {
        let tree = Tree::of(&[
            ("a.md", "fine\nsee /tmp/x\n"),
            ("b.rs", "open(\"/tmp/x\")\nopen(\"/work/shared/x\")\n"),
            ("c/test_data/d.txt", "/home/x\n"),
        ]);
        let expected = [
            "a.md:2: `/tmp/` is a place on one machine",
            "b.rs:2: `/work/shared` is a place on one machine",
        ];
        assert_eq!(shown(&check(&tree)), expected);
    }
}
