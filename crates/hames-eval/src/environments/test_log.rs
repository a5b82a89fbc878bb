//! A test log in memory: whole, unless somebody floods it, and then its beginning and its end.
//!
//! It is not read here.

use std::collections::VecDeque;

/// Of the beginning, and of the end: verdicts stand at both.
const HALF: usize = 32 << 20;

#[derive(Debug, Default)]
pub(super) struct TestLog {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl TestLog {
    pub fn add(&mut self, piece: &[u8]) {
        let room = HALF.saturating_sub(self.head.len()).min(piece.len());
        let (first, rest) = piece.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..over);
        self.left_out += over;
    }

    pub fn text(mut self) -> String {
        if self.left_out > 0 {
            let note = format!("\n[{} bytes left out]\n", self.left_out);
            self.head.extend_from_slice(note.as_bytes());
        }
        self.head.extend(self.tail);
        match String::from_utf8(self.head) {
            Ok(text) => text,
            Err(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        }
    }
}
