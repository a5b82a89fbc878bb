//! The list of faults: blocks of `# name`, `@ path`, `-` lines that are there, `+` lines that take
//! their place. A line `? words` says which tests to show it to first, where its path does not.

use std::{fmt, fs, io, path::Path};

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Mutant {
    pub name: String,
    /// Below the workspace's root.
    pub path: String,
    /// Words of the names of tests that ought to see it.
    pub near: Vec<String>,
    pub old: String,
    pub new: String,
}

impl Mutant {
    /// The text with the fault in it; `None` when the text is gone, or stands there twice.
    pub fn planted_in(&self, text: &str) -> Option<String> {
        let is_there_once = text.matches(&self.old).count() == 1 && !self.old.is_empty();
        is_there_once.then(|| text.replacen(&self.old, &self.new, 1))
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.name)
    }
}

/// Every file of `xtask/mutants`, by name; within one, entries of a file are neighbours.
pub fn load(root: &Path) -> io::Result<Vec<Mutant>> {
    let mut files = Vec::new();
    for file in fs::read_dir(root.join("xtask/mutants"))? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            files.push(path);
        }
    }
    files.sort();
    let mut mutants = Vec::new();
    for file in files {
        let mut own = parse(&fs::read_to_string(file)?);
        own.sort_by(|one, other| one.path.cmp(&other.path));
        mutants.extend(own);
    }
    Ok(mutants)
}

pub fn parse(list: &str) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for line in list.lines() {
        let mut chars = line.chars();
        let (mark, rest) = (chars.next(), chars.as_str());
        if mark == Some('#') {
            let name = rest.trim().to_owned();
            mutants.push(Mutant {
                name,
                ..Mutant::default()
            });
        }
        let Some(mutant) = mutants.last_mut() else {
            continue;
        };
        match mark {
            Some('@') => rest.trim().clone_into(&mut mutant.path),
            Some('?') => mutant.near = rest.split_whitespace().map(str::to_owned).collect(),
            Some('-') => mutant.old += &format!("{rest}\n"),
            Some('+') => mutant.new += &format!("{rest}\n"),
            _ => {}
        }
    }
    mutants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_name_a_path_and_two_texts() {
        let list = "what this is\n\n# off by one\n@ a/b.rs\n? c  d\n-    x < y\n+    x <= y\n\n# gone\n@ c.rs\n-z\n";
        let mutants = parse(list);
        let expected = Mutant {
            name: "off by one".to_owned(),
            path: "a/b.rs".to_owned(),
            near: vec!["c".to_owned(), "d".to_owned()],
            old: "    x < y\n".to_owned(),
            new: "    x <= y\n".to_owned(),
        };
        assert_eq!(mutants[0], expected);
        assert_eq!(
            (mutants[1].old.as_str(), mutants[1].new.as_str()),
            ("z\n", "")
        );
    }

    #[test]
    fn a_fault_is_planted_only_where_its_text_stands_once() {
        let mutant = parse("# n\n@ p\n-x\n+y\n").remove(0);
        assert_eq!(mutant.planted_in("a\nx\n").as_deref(), Some("a\ny\n"));
        assert_eq!(mutant.planted_in("x\nx\n"), None);
        assert_eq!(mutant.planted_in("a\n"), None);
        assert_eq!(parse("# n\n@ p\n+y\n")[0].planted_in("a"), None);
    }
}
