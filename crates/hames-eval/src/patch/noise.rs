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
    let fits = |noise: &&Noise| path.split('/').any(|part| matches(noise.pattern, part));
    ALL.iter().find(fits).copied()
}

fn matches(pattern: &str, part: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == part,
        Some((before, after)) => {
            let rest = part
                .strip_prefix(before)
                .filter(|rest| rest.len() >= after.len());
            rest.is_some_and(|rest| rest.ends_with(after))
        }
    }
}
