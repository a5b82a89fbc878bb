//! The text of the project, read once: every file that is UTF-8, build output left out.

use std::{fs, io, path::Path};

pub struct Tree {
    /// By path.
    pub files: Vec<File>,
}

pub struct File {
    /// Below the root, with `/`.
    pub path: String,
    pub text: String,
}

impl Tree {
    pub fn load(root: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        read_folder(root, "", &mut files)?;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { files })
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        let found = self.files.iter().find(|file| file.path == path);
        found.map(|file| file.text.as_str())
    }

    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// What is built into a crate of the product: no tests, no chores.
    pub fn sources(&self) -> impl Iterator<Item = &File> {
        let is_source = |file: &&File| {
            let inside = file.path.strip_prefix("crates/");
            inside.is_some_and(|path| path.contains("/src/")) && !file.path.ends_with("/tests.rs")
        };
        self.rust().filter(is_source)
    }
}

fn read_folder(root: &Path, below: &str, files: &mut Vec<File>) -> io::Result<()> {
    for file in fs::read_dir(root.join(below))? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && name != ".ci" && name != ".cargo";
        if hidden || name == "target" {
            continue;
        }
        let path = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if file.file_type()?.is_dir() {
            read_folder(root, &path, files)?;
        } else if let Ok(text) = fs::read_to_string(file.path()) {
            files.push(File { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
impl Tree {
    /// A tree of these files, for a rule's tests.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let files = files.iter().map(file).collect();
        Self { files }
    }
}

/// Findings as text, for a rule's tests.
#[cfg(test)]
pub fn shown(findings: &[super::Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
