//! How a text lies in its file: byte order mark, line ends, encoding.
//!
//! A model is shown plain lines; what it was not shown is put back as it was.

const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file's text as it is matched and shown: `\n` for every line end, no byte order mark.
pub(crate) struct Layout {
    pub has_mark: bool,
    /// Positions in `text` of the line ends that had a `\r` before them.
    returns: Vec<usize>,
    pub text: Vec<u8>,
    line_ends: usize,
}

impl Layout {
    pub fn of(bytes: &[u8]) -> Self {
        let unmarked = bytes.strip_prefix(MARK);
        let body = unmarked.unwrap_or(bytes);
        let mut text = Vec::with_capacity(body.len());
        let mut returns = Vec::new();
        let mut line_ends = 0;
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            line_ends += usize::from(line.ends_with(b"\n"));
            if let Some(line) = line.strip_suffix(b"\r\n") {
                text.extend_from_slice(line);
                returns.push(text.len());
                text.push(b'\n');
            } else {
                text.extend_from_slice(line);
            }
        }
        Self {
            has_mark: unmarked.is_some(),
            returns,
            text,
            line_ends,
        }
    }

    /// Where a position of the shown text lies in the file.
    pub fn in_file(&self, position: usize) -> usize {
        let mark = if self.has_mark { MARK.len() } else { 0 };
        let returns = self.returns.partition_point(|end| *end < position);
        mark + position + returns
    }

    /// True where every line ends in `\r\n`.
    pub fn is_all_crlf(&self) -> bool {
        self.line_ends > 0 && self.returns.len() == self.line_ends
    }

    pub fn has_crlf(&self) -> bool {
        !self.returns.is_empty()
    }

    /// The line end nearest to a position, looking back first.
    pub fn line_end_near(&self, position: usize) -> &'static [u8] {
        let (before, after) = self.text.split_at(position.min(self.text.len()));
        let back = memchr::memrchr(b'\n', before);
        let ahead = || memchr::memchr(b'\n', after).map(|at| at + before.len());
        match back.or_else(ahead) {
            Some(end) if self.returns.binary_search(&end).is_ok() => b"\r\n",
            Some(_) | None => b"\n",
        }
    }

    pub fn line_of(&self, position: usize) -> usize {
        let (before, _) = self.text.split_at(position.min(self.text.len()));
        memchr::memchr_iter(b'\n', before).count() + 1
    }

    /// What to know of it that the lines do not show.
    pub fn remarks(&self) -> Vec<&'static str> {
        let mut remarks = Vec::new();
        if self.is_all_crlf() {
            remarks.push("line ends are CRLF, and are kept");
        } else if self.has_crlf() {
            remarks.push("line ends are mixed, and are kept");
        }
        if self.has_mark {
            remarks.push("it begins with a byte order mark, which is kept");
        }
        remarks
    }

    /// Another text in this one's place, with its mark and line ends, as far as they were uniform.
    pub fn clothe(&self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        if self.has_mark && !text.as_bytes().starts_with(MARK) {
            bytes.extend_from_slice(MARK);
        }
        match self.is_all_crlf() && !text.contains('\r') {
            true => bytes.extend_from_slice(text.replace('\n', "\r\n").as_bytes()),
            false => bytes.extend_from_slice(text.as_bytes()),
        }
        bytes
    }
}
