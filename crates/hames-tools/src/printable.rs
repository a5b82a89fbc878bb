//! Bytes of unknown origin made into text that a model can be sent.
//!
//! Nothing is replaced by a mark that hides what was there: a byte that is no text is written out.

use std::fmt::Write;

/// Text with everything that is none written out: `\xff` for a byte that is not UTF-8, `\x00` for a
/// control character. Terminal colours and cursor movements are left out.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_visible(&mut text, chunk.valid());
        for byte in chunk.invalid() {
            push_escaped(&mut text, *byte);
        }
    }
    text
}

/// True where the bytes are a file format or a terminal's noise rather than text.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let control =
        |byte: &&u8| **byte < 32 && !matches!(**byte, b'\n' | b'\r' | b'\t' | 8 | 12 | 27);
    let controls = bytes.iter().filter(control).count();
    let invalid = |chunk: std::str::Utf8Chunk<'_>| chunk.invalid().len();
    let invalid: usize = bytes.utf8_chunks().map(invalid).sum();
    let has_nul = bytes.contains(&0);
    has_nul && (controls + invalid) * 50 > bytes.len() || (controls + invalid) * 4 > bytes.len()
}

/// How many bytes at the end are the beginning of a character whose rest has not come yet.
pub(crate) fn unfinished(bytes: &[u8]) -> usize {
    for len in 1..=bytes.len().min(3) {
        let (_, end) = bytes.split_at(bytes.len() - len);
        if end.first().is_some_and(|byte| *byte >= 0xc0) {
            let error = std::str::from_utf8(end).err();
            let waits = error.is_some_and(|error| error.error_len().is_none());
            return if waits { len } else { 0 };
        }
    }
    0
}

fn push_visible(text: &mut String, valid: &str) {
    let plain = |byte: u8| byte >= 32 && byte != 127 || matches!(byte, b'\n' | b'\r' | b'\t');
    if valid.bytes().all(plain) {
        return text.push_str(valid);
    }
    let mut rest = valid.chars();
    while let Some(char) = rest.next() {
        match char {
            '\x1b' => skip_escape_sequence(&mut rest),
            '\n' | '\r' | '\t' => text.push(char),
            '\0'..='\x1f' | '\x7f' => push_escaped(text, char as u8),
            _ => text.push(char),
        }
    }
}

/// `ESC [ … letter`, `ESC ] … BEL`, or two characters.
fn skip_escape_sequence(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        Some('[') => {
            rest.find(|char| ('@'..='~').contains(char));
        }
        Some(']') => {
            let mut before = ' ';
            rest.find(|char| {
                let ends = *char == '\x07' || before == '\x1b' && *char == '\\';
                before = *char;
                ends
            });
        }
        Some('(' | ')') => {
            rest.next();
        }
        Some(_) | None => {}
    }
}

fn push_escaped(text: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\\x{byte:02x}");
}
