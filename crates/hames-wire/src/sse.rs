//! Server-sent events, read from bytes that come in pieces of any size.
//!
//! No reconnecting and no timers: lines are split as bytes, and text is decoded once an event is whole.

use std::borrow::Cow;

/// One event, as the server meant it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Empty when the server did not name it.
    pub name: &'a str,
    /// Data lines are joined by a line feed; never empty.
    pub data: &'a str,
}

/// An incremental reader; it keeps what is not yet an event.
#[derive(Debug, Default)]
pub struct Reader {
    lines: Lines,
    event: Pending,
}

impl Reader {
    pub fn new() -> Self {
        Self::default()
    }

    /// Hands over each event that these bytes complete; the first `Err` stops the reading.
    pub fn feed<E>(
        &mut self,
        bytes: &[u8],
        mut on_event: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { lines, event } = self;
        lines.feed(bytes, |line| event.take_in(line, &mut on_event))
    }

    /// The body has ended: servers leave out the last blank line, and the last line's end too.
    ///
    /// What was cut inside a line is handed over like the rest: only its reader can tell.
    pub fn finish<E>(
        &mut self,
        mut on_event: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { lines, event } = self;
        lines.finish(|line| event.take_in(line, &mut on_event))?;
        event.dispatch(&mut on_event)
    }
}

/// Splits bytes into lines at LF, CR LF or CR, and drops a byte-order mark.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    begun: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    pub(crate) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        mut on_line: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.partial.extend_from_slice(bytes);
                return Ok(());
            };
            let (line, rest) = bytes.split_at(end);
            self.after_cr = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() {
                on_line(self.without_mark(line))?;
                continue;
            }
            self.partial.extend_from_slice(line);
            let whole = std::mem::take(&mut self.partial);
            on_line(self.without_mark(&whole))?;
            self.partial = whole;
            self.partial.clear();
        }
        Ok(())
    }

    pub(crate) fn finish<E>(
        &mut self,
        on_line: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let last = std::mem::take(&mut self.partial);
        if last.is_empty() {
            return Ok(());
        }
        on_line(self.without_mark(&last))
    }

    fn without_mark<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        if std::mem::replace(&mut self.begun, true) {
            return line;
        }
        line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
    }
}

/// The event that is being put together.
#[derive(Debug, Default)]
struct Pending {
    name: String,
    data: Vec<u8>,
}

impl Pending {
    fn take_in<E>(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            // Comments (an empty field), ids and retry times: nothing of ours.
            _ => {}
        }
        Ok(())
    }

    fn dispatch<E>(
        &mut self,
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut read = Ok(());
        if !self.data.is_empty() {
            let data: Cow<'_, str> = String::from_utf8_lossy(&self.data);
            let name = &self.name;
            read = on_event(Event { name, data: &data });
        }
        self.name.clear();
        self.data.clear();
        read
    }
}
