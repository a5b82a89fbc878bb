//! Why a text was not found, and what stands there that is most like it.
//!
//! It only explains: nothing is ever replaced because it is similar.

use std::collections::HashSet;

use hames_types::ToolError;
use similar::TextDiff;

use crate::{layout::Layout, printable::printable};

/// How many places are compared letter by letter.
const CLOSE_LOOKS: usize = 12;

/// How much of the file is shown.
const SHOWN_BYTES: usize = 2000;

/// Below this, what is there has nothing to do with what was looked for.
const ALIKE: f32 = 0.5;

pub(super) fn not_found(layout: &Layout, old: &str, new: &str, shown: &str) -> ToolError {
    let text = printable(&layout.text);
    if !new.trim().is_empty() && text.contains(new) {
        return ToolError::failed(format!(
            "old is not in {shown}, but new is there already: this edit was made before"
        ));
    }
    let Some(near) = nearest(&text, old) else {
        return ToolError::failed(format!(
            "old is not in {shown}, nor anything like it; read the file, or find the text with grep"
        ));
    };
    let Nearest { line, found } = near;
    let why = difference(old, &found);
    let end = found.floor_char_boundary(SHOWN_BYTES);
    let found = found.get(..end).unwrap_or_default();
    ToolError::failed(format!(
        "old is not in {shown}: {why}. The nearest text begins at line {line}:\n{found}"
    ))
}

struct Nearest {
    line: usize,
    found: String,
}

fn nearest(text: &str, old: &str) -> Option<Nearest> {
    let wanted: Vec<&str> = old.lines().collect();
    let lines: Vec<&str> = text.lines().collect();
    let size = wanted.len().min(lines.len());
    if size == 0 {
        return None;
    }
    let trimmed: Vec<HashSet<&str>> = wanted.iter().map(|line| words(line)).collect();
    let rated = lines.windows(size).enumerate().map(|(at, window)| {
        let pairs = window.iter().zip(&trimmed);
        let shared = pairs.map(|(line, wanted)| words(line).intersection(wanted).count());
        (shared.sum::<usize>(), at)
    });
    let mut rated: Vec<_> = rated.filter(|(shared, _)| *shared > 0).collect();
    // The best first, and of equals the earlier.
    rated.sort_by_key(|(shared, at)| (std::cmp::Reverse(*shared), *at));
    let look = |(_, at): &(usize, usize)| {
        let found = lines.get(*at..at + size)?.join("\n");
        let ratio = likeness(&found, old);
        Some((ratio, at + 1, found))
    };
    let looked = rated.iter().take(CLOSE_LOOKS).filter_map(look);
    let best = looked.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let (ratio, line, found) = best?;
    (ratio >= ALIKE).then_some(Nearest { line, found })
}

fn words(line: &str) -> HashSet<&str> {
    line.split(|char: char| !char.is_alphanumeric() && char != '_')
        .filter(|word| !word.is_empty())
        .collect()
}

/// Letter by letter costs the product of both lengths, so long texts are compared by lines.
fn likeness(found: &str, old: &str) -> f32 {
    match found.len() + old.len() < 4000 {
        true => TextDiff::from_chars(found, old.trim_end_matches('\n')).ratio(),
        false => {
            let strip = |text: &str| {
                text.lines()
                    .map(|line| format!("{}\n", line.trim()))
                    .collect::<String>()
            };
            TextDiff::from_lines(strip(found), strip(old)).ratio()
        }
    }
}

/// The kind of difference, where it is of one kind.
fn difference(old: &str, found: &str) -> &'static str {
    let bare = |text: &str| {
        text.chars()
            .filter(|char| !char.is_whitespace())
            .collect::<String>()
    };
    let plain = |text: &str| {
        text.replace(['\u{2018}', '\u{2019}'], "'")
            .replace(['\u{201c}', '\u{201d}'], "\"")
    };
    let numbered = |line: &str| {
        line.trim_start()
            .starts_with(|char: char| char.is_ascii_digit())
    };
    if bare(old) == bare(found) {
        return match (old.contains('\t'), found.contains('\t')) {
            (true, false) => "old has tabs where the file has blanks",
            (false, true) => "the file has tabs where old has blanks",
            (true, true) | (false, false) => "only blanks, indentation or line breaks differ",
        };
    }
    if old.to_lowercase() == found.to_lowercase() {
        return "only capital and small letters differ";
    }
    if plain(old) == plain(found) {
        return "only the kind of quotation marks differs";
    }
    if old.lines().count() > 1 && old.lines().all(numbered) && !found.lines().all(numbered) {
        return "old has line numbers, which are not part of the file";
    }
    "the words differ"
}
