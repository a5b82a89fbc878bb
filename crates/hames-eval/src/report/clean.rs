//! Text from agents and tests, made safe to show: no escape sequence, no control character, no
//! hidden direction.
//!
//! It escapes no HTML: that is the template's.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

/// Colours, cursor moves, titles, links: ECMA-48 control sequences and strings, ended or not.
static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \x1b\[ [0-?]* [\x20-/]* [@-~]
        | \x1b [\]PX^_] [^\x07\x1b\n]* (?: \x07 | \x1b\\ )?
        | \x1b [\x20-/]* [0-OQ-WYZ\\`-~]",
    )
    .ok()
});

/// Several lines.
pub fn text(raw: &str) -> String {
    let without = match LazyLock::force(&ESCAPES) {
        Some(escapes) => escapes.replace_all(raw, ""),
        None => Cow::Borrowed(raw),
    };
    let mut shown = String::with_capacity(without.len());
    let mut letters = without.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            _ if is_hidden(letter) => shown.push_str(&format!("‹U+{:04X}›", u32::from(letter))),
            _ => shown.push(letter),
        }
    }
    shown
}

/// The same, on one line.
pub fn line(raw: &str) -> String {
    text(raw).replace(['\n', '\t'], " ")
}

/// Controls, letters without a width, and what turns the direction of text around (CVE-2021-42574).
fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{0}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
    )
}

/// A text that is too long keeps its beginning and its end, and says what is between.
pub fn cut(whole: &str, limit: usize) -> String {
    if whole.len() <= limit {
        return whole.to_owned();
    }
    let (head, tail) = (limit * 2 / 3, limit - limit * 2 / 3);
    let (start, end) = (
        whole.floor_char_boundary(head),
        whole.ceil_char_boundary(whole.len() - tail),
    );
    let between = end - start;
    match (whole.get(..start), whole.get(end..)) {
        (Some(start), Some(end)) => {
            format!("{start}\n⋯ {between} bytes are left out here ⋯\n{end}")
        }
        _ => String::new(),
    }
}

/// The first line that says something, short.
pub fn preview(raw: &str, letters: usize) -> String {
    let raw = raw.trim_start();
    let shown = text(
        raw.get(..raw.floor_char_boundary(4 * letters))
            .unwrap_or(raw),
    );
    let first = shown.lines().map(str::trim).find(|line| !line.is_empty());
    let first = first.unwrap_or_default();
    let mut short: String = first.chars().take(letters).collect();
    if short.len() < first.len() {
        short.push('…');
    }
    short
}
