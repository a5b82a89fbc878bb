//! One JSON value a line, read from bytes that come in pieces of any size.
//!
//! It splits and decodes lines; what is in them is the codec's business.

use crate::sse::Lines;

/// An incremental reader; it keeps what is not yet a line.
#[derive(Debug, Default)]
pub struct Reader {
    lines: Lines,
}

impl Reader {
    pub fn new() -> Self {
        Self::default()
    }

    /// Hands over each line that these bytes complete, blank ones left out; the first `Err` stops.
    pub fn feed<E>(
        &mut self,
        bytes: &[u8],
        mut on_line: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.lines.feed(bytes, |line| text(line, &mut on_line))
    }

    /// The body has ended: what has no line end is handed over, too.
    pub fn finish<E>(&mut self, mut on_line: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.lines.finish(|line| text(line, &mut on_line))
    }
}

fn text<E>(line: &[u8], on_line: &mut impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(());
    }
    on_line(&String::from_utf8_lossy(line))
}
