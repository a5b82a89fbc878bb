//! Instructions: AGENTS.md and CLAUDE.md from the workspace upward, with what they import.
//!
//! It reads no file outside the project: a stranger's repository must not be able to name one.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Deeper imports are left as they are written.
const MAX_DEPTH: u32 = 5;
/// Of all files together; what goes beyond is cut, and said.
const MAX_BYTES: usize = 64 * 1024;
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    pub path: PathBuf,
    pub text: String,
}

#[derive(Debug, Default, PartialEq)]
pub struct Instructions {
    /// The outermost first, so that what is nearer to the work is read last.
    pub files: Vec<Instruction>,
    /// What was left out, and why: for the user.
    pub notes: Vec<String>,
}

/// Reads from `workspace` up to the repository's root, else to `home`, else the workspace alone.
pub fn read(workspace: &Path, home: Option<&Path>) -> Instructions {
    let root = root_of(workspace, home);
    let mut folders: Vec<_> = workspace
        .ancestors()
        .take_while(|at| at.starts_with(&root))
        .collect();
    folders.reverse();
    let mut reader = Reader {
        root: &root,
        seen: BTreeSet::new(),
        bytes: 0,
        read: Instructions::default(),
    };
    for folder in folders {
        for name in NAMES {
            reader.take(&folder.join(name), 0);
        }
    }
    reader.read
}

/// How far up instructions count.
pub fn root_of(workspace: &Path, home: Option<&Path>) -> PathBuf {
    let mut above = workspace.ancestors();
    if let Some(repository) = above.find(|folder| folder.join(".git").exists()) {
        return repository.to_owned();
    }
    let home = home.filter(|home| workspace.starts_with(home));
    home.unwrap_or(workspace).to_owned()
}

struct Reader<'a> {
    root: &'a Path,
    /// By their real paths: a link to a file, or a circle of imports, is read once.
    seen: BTreeSet<PathBuf>,
    bytes: usize,
    read: Instructions,
}

impl Reader<'_> {
    fn take(&mut self, path: &Path, depth: u32) {
        let Ok(real) = path.canonicalize() else {
            return;
        };
        if !self.may_read(path, &real) || !self.seen.insert(real.clone()) {
            return;
        }
        let Ok(bytes) = fs::read(&real) else {
            return self.note(path, "it cannot be read");
        };
        let text = self.cut(path, String::from_utf8_lossy(&bytes).into_owned());
        let imports = if depth < MAX_DEPTH {
            imports(&text)
        } else {
            Vec::new()
        };
        let path = path.to_owned();
        let folder = real.parent().unwrap_or(self.root).to_owned();
        if !text.trim().is_empty() {
            self.read.files.push(Instruction { path, text });
        }
        for import in imports {
            self.take(&folder.join(import), depth + 1);
        }
    }

    fn may_read(&mut self, path: &Path, real: &Path) -> bool {
        // A pipe or a device would block, or never end.
        if !fs::metadata(real).is_ok_and(|about| about.is_file()) {
            return false;
        }
        let root = self.root.canonicalize();
        let inside = root.is_ok_and(|root| real.starts_with(root));
        if !inside {
            self.note(path, "it lies outside the project");
        }
        inside
    }

    fn cut(&mut self, path: &Path, mut text: String) -> String {
        let room = MAX_BYTES.saturating_sub(self.bytes);
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            self.note(path, "instructions are cut at 64 KiB");
        }
        self.bytes += text.len();
        text
    }

    fn note(&mut self, path: &Path, why: &str) {
        self.read
            .notes
            .push(format!("instructions: {}: {why}", path.display()));
    }
}

/// The `@path` words of a text, outside code; a name that is no file is nobody's business.
fn imports(text: &str) -> Vec<PathBuf> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(words_outside_code(line).filter_map(import));
        }
    }
    found
}

fn words_outside_code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').step_by(2).flat_map(str::split_whitespace)
}

fn import(word: &str) -> Option<PathBuf> {
    let path = word
        .strip_prefix('@')?
        .trim_end_matches([',', ';', ':', ')']);
    let path = path.strip_suffix('.').unwrap_or(path);
    (!path.is_empty()).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests;
