//! Rust source, read just far enough for the rules: code without its comments and literals, and
//! the paths that `use` brings in.
//!
//! It is no parser: what needs one is clippy's work.

/// The text with comments and the insides of literals blanked; lines stay where they are.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skipped(&chars, at);
        if end == at {
            code.push(chars[at]);
            at += 1;
            continue;
        }
        let blank = |char: &char| if *char == '\n' { '\n' } else { ' ' };
        code.extend(chars[at..end].iter().map(blank));
        at = end;
    }
    code
}

/// Where the comment or literal that begins here ends; `at` itself when none begins.
fn skipped(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    match (chars[at], next) {
        ('/', Some('/')) => end_of_line(chars, at),
        ('/', Some('*')) => end_of_block(chars, at),
        ('"', _) => end_of_text(chars, at),
        ('\'', _) => end_of_char(chars, at),
        ('r', Some('"' | '#')) if !continues_a_word(chars, at) => end_of_raw(chars, at),
        _ => at,
    }
}

fn continues_a_word(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| chars[before]);
    // `br"…"` is the one word that a raw literal's `r` may end.
    before.is_some_and(|char| (char.is_alphanumeric() && char != 'b') || char == '_')
}

fn end_of_line(chars: &[char], at: usize) -> usize {
    let rest = chars[at..].iter().position(|char| *char == '\n');
    rest.map_or(chars.len(), |rest| at + rest)
}

fn end_of_block(chars: &[char], at: usize) -> usize {
    let (mut depth, mut here) = (0, at);
    while here < chars.len() {
        match (chars[here], chars.get(here + 1)) {
            ('/', Some('*')) => (depth, here) = (depth + 1, here + 2),
            ('*', Some('/')) => (depth, here) = (depth - 1, here + 2),
            _ => here += 1,
        }
        if depth == 0 {
            break;
        }
    }
    here.min(chars.len())
}

fn end_of_text(chars: &[char], at: usize) -> usize {
    let mut here = at + 1;
    while here < chars.len() {
        match chars[here] {
            '\\' => here += 2,
            '"' => return here + 1,
            _ => here += 1,
        }
    }
    chars.len()
}

/// A lifetime is no literal, and ends where it began.
fn end_of_char(chars: &[char], at: usize) -> usize {
    if chars.get(at + 1) == Some(&'\\') {
        let rest = chars.iter().skip(at + 3).position(|char| *char == '\'');
        return rest.map_or(chars.len(), |rest| at + 4 + rest);
    }
    if chars.get(at + 2) == Some(&'\'') {
        return at + 3;
    }
    at
}

/// `r#"…"#`; a raw identifier is no literal.
fn end_of_raw(chars: &[char], at: usize) -> usize {
    let fence = chars[at + 1..]
        .iter()
        .take_while(|char| **char == '#')
        .count();
    let open = at + 1 + fence;
    if chars.get(open) != Some(&'"') {
        return at;
    }
    let closes = |here: &usize| {
        let after = chars[here + 1..]
            .iter()
            .take_while(|char| **char == '#')
            .count();
        chars[*here] == '"' && after >= fence
    };
    let close = (open + 1..chars.len()).find(closes);
    close.map_or(chars.len(), |close| close + 1 + fence)
}

/// A path that a `use` brings in, written out, with the line its `use` stands in.
#[derive(Debug, PartialEq)]
pub struct Import {
    pub line: usize,
    pub path: String,
}

/// Every path of every `use`, groups written out. Expects `code_only` text.
pub fn imports(code: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut offset = 0;
    while let Some(found) = code[offset..].find("use ") {
        let start = offset + found;
        offset = start + "use ".len();
        let before = code[..start]
            .trim_end_matches([' ', '\t'])
            .chars()
            .next_back();
        // After `pub(crate)`, `pub`, or at a line's start; not in the middle of a word.
        let begins = before.is_none_or(|char| matches!(char, '\n' | '{' | '}' | ';' | ')'))
            || code[..start].ends_with("pub ");
        let Some(end) = code[offset..].find(';').filter(|_| begins) else {
            continue;
        };
        let line =
            code[..start].lines().count().max(1) + usize::from(code[..start].ends_with('\n'));
        let tree: String = code[offset..offset + end]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        write_out("", &tree, &mut |path| imports.push(Import { line, path }));
        offset += end;
    }
    imports
}

fn write_out(prefix: &str, tree: &str, found: &mut impl FnMut(String)) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let name = tree.split(" as ").next().unwrap_or(tree).trim();
        if !name.is_empty() {
            found(format!("{prefix}{name}"));
        }
        return;
    };
    let prefix = format!("{prefix}{}", tree[..open].trim());
    let inside = tree[open + 1..].trim_end().trim_end_matches('}');
    // The trimming above takes every closing brace; the depth below needs only the inner ones.
    let (mut depth, mut start) = (0_i32, 0);
    for (at, char) in inside.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                write_out(&prefix, &inside[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
    write_out(&prefix, &inside[start..], found);
}

/// Identifiers with their lines. Expects `code_only` text.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    code.lines().enumerate().flat_map(move |(index, line)| {
        let words = line.split(move |char| !is_word(char));
        words
            .filter(|word| !word.is_empty())
            .map(move |word| (index + 1, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let text =
            "a // x\nb /* y /* z */\n */ c \"d\\\"e\" 'f' '\\'' r#\"g\"h\"# br\"i\" &'j k r#l";
        let code = code_only(text);
        let words: Vec<(usize, &str)> = words(&code).collect();
        let expected = [
            (1, "a"),
            (2, "b"),
            (3, "c"),
            (3, "b"),
            (3, "j"),
            (3, "k"),
            (3, "r"),
            (3, "l"),
        ];
        assert_eq!(words, expected);
        assert_eq!(code.chars().count(), text.chars().count());
    }

    #[test]
    fn groups_are_written_out() {
        let code = "use std::{\n    io::{self, Read},\n    time::Instant as Clock,\n};\n\npub use crate::a;\nlet because = 1;\n    use b::*;\n";
        let import = |line, path: &str| {
            let path = path.to_owned();
            Import { line, path }
        };
        let expected = [
            import(1, "std::io::self"),
            import(1, "std::io::Read"),
            import(1, "std::time::Instant"),
            import(6, "crate::a"),
            import(8, "b::*"),
        ];
        assert_eq!(imports(code), expected);
    }
}
