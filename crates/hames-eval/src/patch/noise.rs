//! Which new files are droppings of tools rather than work: a list, as data.

use std::sync::LazyLock;

const LIST: &str = include_str!("noise.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    /// A component of a path; one `*` stands for anything.
    pub pattern: &'static str,
    pub why: &'static str,
}

static ALL: LazyLock<Vec<Noise>> = LazyLock::new(|| {
    let lines = LIST
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let split = lines.filter_map(|line| line.split_once(' '));
    split.map(|(pattern, why)| Noise { pattern, why }).collect()
});

/// What a path is noise by, if it is.
pub fn noise_of(path: &str) -> Option<Noise> {
    found(path).map(|(_, noise)| noise)
}

/// The part of a path that is noise, with what it is: a folder stands for all that is in it.
pub(super) fn told(path: &str) -> Option<String> {
    let (at, noise) = found(path)?;
    let parts: Vec<&str> = path.split('/').collect();
    let whole = parts.len() == at + 1;
    let named = parts.get(..=at).unwrap_or_default().join("/");
    let end = if whole { "" } else { "/" };
    Some(format!("{named}{end} ({})", noise.why))
}

/// Which component of the path it is, and what for.
fn found(path: &str) -> Option<(usize, Noise)> {
    let mut parts = path.split('/').enumerate();
    parts.find_map(|(at, part)| {
        let mut all = ALL.iter();
        all.find(|noise| matches(noise.pattern, part))
            .map(|noise| (at, *noise))
    })
}

fn matches(pattern: &str, part: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == part,
        Some((before, after)) => {
            let rest = part.strip_prefix(before);
            rest.is_some_and(|rest| rest.len() >= after.len() && rest.ends_with(after))
        }
    }
}
