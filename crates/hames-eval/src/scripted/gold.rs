//! A patch as what an editor would do to each file: replace texts, write a new one, or neither.
//!
//! It applies nothing; where the text alone does not tell the whole change, it says so.

pub(super) enum Change<'a> {
    /// In the order of the file.
    Edit {
        path: &'a str,
        hunks: Vec<Hunk>,
    },
    New {
        path: &'a str,
        content: String,
    },
    /// A rename, a mode, a binary, other line ends: the patch's own text.
    Other {
        text: &'a str,
    },
}

#[derive(Default)]
pub(super) struct Hunk {
    pub old: String,
    pub new: String,
}

const FILE: &str = "diff --git ";

/// One for each file of the patch, in its order.
pub(super) fn changes(patch: &str) -> impl Iterator<Item = Change<'_>> {
    sections(patch).into_iter().map(change)
}

impl<'a> Change<'a> {
    /// What can be looked at before the change.
    pub fn existing_file(&self) -> Option<&'a str> {
        match self {
            Self::Edit { path, .. } => Some(path),
            Self::New { .. } => None,
            Self::Other { text } => text.lines().find_map(|line| line.strip_prefix("--- a/")),
        }
    }
}

fn sections(patch: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = patch.match_indices(FILE).map(|(at, _)| at).collect();
    starts.retain(|at| *at == 0 || patch.as_bytes().get(at - 1) == Some(&b'\n'));
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| patch.get(*start..end))
        .collect()
}

fn change(section: &str) -> Change<'_> {
    plain(section).unwrap_or(Change::Other { text: section })
}

/// Only headers, hunks and `\n`: everything else is more than text.
fn plain(section: &str) -> Option<Change<'_>> {
    if section.contains('\r') {
        return None;
    }
    let (mut old, mut new) = (None, None);
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in section.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        match hunks.last_mut() {
            _ if bare.starts_with("@@ ") => hunks.push(Hunk::default()),
            Some(hunk) => hunk.take(line)?,
            None if bare.starts_with("--- ") => old = bare.strip_prefix("--- "),
            None if bare.starts_with("+++ ") => new = bare.strip_prefix("+++ "),
            None if [FILE, "index ", "new file mode 100644"]
                .iter()
                .any(|known| bare.starts_with(known)) => {}
            None => return None,
        }
    }
    let path = new?.strip_prefix("b/")?;
    if old? != "/dev/null" {
        let whole = !hunks.is_empty() && hunks.iter().all(|hunk| !hunk.old.is_empty());
        return whole.then_some(Change::Edit { path, hunks });
    }
    let content = hunks.into_iter().map(|hunk| hunk.new).collect();
    Some(Change::New { path, content })
}

impl Hunk {
    /// None for a line without an end.
    fn take(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_at_checked(1)?;
        match kind {
            " " => {
                self.old.push_str(rest);
                self.new.push_str(rest);
            }
            "\n" => {
                self.old.push('\n');
                self.new.push('\n');
            }
            "-" => self.old.push_str(rest),
            "+" => self.new.push_str(rest),
            _ => return None,
        }
        Some(())
    }
}
