//! A unified diff in the middle of prose: fenced or bare, in one block or several.
//!
//! It applies nothing. Counts of hunks that do not hold are mended; content never is.

use std::sync::LazyLock;

use regex::Regex;

static HUNK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$").ok());

/// All of the diff that a text holds, ready to be applied; none where it holds none.
pub fn find(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let mut diff = Diff::default();
    for line in text.split('\n') {
        diff.line(line);
    }
    diff.end()
}

#[derive(Default)]
struct Diff {
    out: Vec<String>,
    /// Lines that belong to a file's head, until its first hunk comes.
    head: Vec<String>,
    hunk: Option<Hunk>,
    /// Further hunks need no head.
    in_file: bool,
}

struct Hunk {
    old: String,
    new: String,
    about: String,
    /// Lines that are still to come, if its head is right.
    old_left: usize,
    new_left: usize,
    lines: Vec<String>,
}

impl Diff {
    fn line(&mut self, line: &str) {
        if line.trim_start().starts_with("```") {
            return self.leave();
        }
        if self.hunk.is_some() && self.continues(line) {
            return;
        }
        self.close_hunk();
        if let Some(hunk) = opened(line).filter(|_| self.has_a_file()) {
            self.out.append(&mut self.head);
            self.in_file = true;
            self.hunk = Some(hunk);
        } else if is_head(line) {
            self.head_line(line);
        } else {
            self.leave();
        }
    }

    /// Whether a hunk can begin: its file has been named.
    fn has_a_file(&self) -> bool {
        self.in_file || self.head.iter().any(|line| line.starts_with("+++ "))
    }

    fn continues(&mut self, line: &str) -> bool {
        let Some(hunk) = &mut self.hunk else {
            return false;
        };
        // A removed line may begin with two dashes of its own.
        let is_due = hunk.old_left > 0 && !line.starts_with("--- a/");
        if line.starts_with("--- ") && !is_due {
            return false;
        }
        let (old, new) = match line.chars().next() {
            // An empty context line may have lost its blank.
            Some(' ') | None => (1, 1),
            Some('-') => (1, 0),
            Some('+') => (0, 1),
            Some('\\') => (0, 0),
            Some(_) => return false,
        };
        hunk.old_left = hunk.old_left.saturating_sub(old);
        hunk.new_left = hunk.new_left.saturating_sub(new);
        let line = if line.is_empty() { " " } else { line };
        hunk.lines.push(line.to_owned());
        true
    }

    fn head_line(&mut self, line: &str) {
        if line.starts_with("diff --git ") {
            self.keep_headless_file();
        }
        self.in_file = false;
        self.head.push(line.to_owned());
    }

    /// A rename, a mode, an empty new file: a head that stands alone.
    fn keep_headless_file(&mut self) {
        let says_all = |line: &String| {
            [
                "rename to ",
                "new mode ",
                "new file mode ",
                "deleted file mode ",
                "copy to ",
            ]
            .iter()
            .any(|start| line.starts_with(start))
        };
        if self
            .head
            .first()
            .is_some_and(|line| line.starts_with("diff --git "))
            && self.head.iter().any(says_all)
        {
            self.out.append(&mut self.head);
        }
        self.head.clear();
    }

    fn leave(&mut self) {
        self.close_hunk();
        self.keep_headless_file();
        self.in_file = false;
    }

    fn close_hunk(&mut self) {
        let Some(mut hunk) = self.hunk.take() else {
            return;
        };
        // Empty lines behind the last change are the prose's.
        while hunk.lines.last().is_some_and(|line| line == " ") {
            hunk.lines.pop();
        }
        if !hunk.lines.iter().any(|line| line.starts_with(['+', '-'])) {
            return;
        }
        let count = |own: char| {
            let counts = |line: &&String| line.starts_with([' ', own]);
            hunk.lines.iter().filter(counts).count()
        };
        let (old, new) = (count('-'), count('+'));
        let Hunk {
            old: from,
            new: to,
            about,
            ..
        } = &hunk;
        self.out
            .push(format!("@@ -{from},{old} +{to},{new} @@{about}"));
        self.out.append(&mut hunk.lines);
    }

    fn end(mut self) -> Option<String> {
        self.leave();
        let holds_a_change = !self.out.is_empty();
        holds_a_change.then(|| self.out.join("\n") + "\n")
    }
}

fn opened(line: &str) -> Option<Hunk> {
    let numbers = HUNK.as_ref()?.captures(line)?;
    let part = |index| numbers.get(index).map_or("", |part| part.as_str());
    let count = |index| part(index).parse().unwrap_or(1);
    Some(Hunk {
        old: part(1).to_owned(),
        new: part(3).to_owned(),
        about: part(5).to_owned(),
        old_left: count(2),
        new_left: count(4),
        lines: Vec::new(),
    })
}

fn is_head(line: &str) -> bool {
    const STARTS: [&str; 13] = [
        "diff --git ",
        "index ",
        "--- ",
        "+++ ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}
