//! The differences that are meant: each line of the list says where, what and why.
//!
//! A line explains one field of one recording, or of all with a tag; it cannot excuse everything.

use std::{fmt, fs, io, path::Path};

use super::recording::Recording;

pub struct Difference {
    pub field: &'static str,
    what: String,
}

impl Difference {
    pub fn new(field: &'static str, expected: &impl fmt::Debug, seen: &impl fmt::Debug) -> Self {
        let short = |text: String| text.chars().take(160).collect::<String>();
        let expected = short(format!("{expected:?}"));
        let seen = short(format!("{seen:?}"));
        let what = format!("right is {expected}, we say {seen}");
        Self { field, what }
    }

    pub fn said(field: &'static str, what: String) -> Self {
        Self { field, what }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

pub struct Listed(Vec<Line>);

struct Line {
    /// A file's name, or `protocol tag:name`.
    place: String,
    field: String,
    why: String,
    used: bool,
}

impl Listed {
    /// Lines of `where | field | why`.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        let lines = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let lines: io::Result<Vec<Line>> = lines.map(line).collect();
        lines.map(Self)
    }

    pub fn reason(&mut self, recording: &Recording, difference: &Difference) -> Option<&str> {
        let fits = |line: &&mut Line| line.field == difference.field && line.is_about(recording);
        let line = self.0.iter_mut().find(fits)?;
        line.used = true;
        Some(&line.why)
    }

    pub fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.0.iter().filter(|line| !line.used);
        unused.map(|line| format!("{} | {} | {}", line.place, line.field, line.why))
    }
}

impl Line {
    fn is_about(&self, recording: &Recording) -> bool {
        match self.place.split_once(" tag:") {
            Some((protocol, tag)) => {
                protocol == recording.protocol && recording.tags.iter().any(|own| own == tag)
            }
            None => self.place == recording.file,
        }
    }
}

fn line(line: &str) -> io::Result<Line> {
    let wrong = || io::Error::other(format!("no listed difference: {line}"));
    let mut columns = line.splitn(3, '|').map(|column| column.trim().to_owned());
    let mut next = || {
        columns
            .next()
            .filter(|text| !text.is_empty())
            .ok_or_else(wrong)
    };
    Ok(Line {
        place: next()?,
        field: next()?,
        why: next()?,
        used: false,
    })
}
