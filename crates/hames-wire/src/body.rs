//! The frame of an answer: events, lines or one document, cut out of bytes and given to a codec.
//!
//! It knows no wire; it knows that a body may be cut anywhere, and what is then no error of the text.

use hames_types::{ModelEvent, ProviderError, ProviderErrorKind};
use serde::{Deserialize, de::IgnoredAny};

use crate::{Decoder, errors, ndjson, sse};

/// What a codec makes of the JSON values of one answer.
pub(crate) trait Fold: Send {
    /// One value of a stream.
    fn value(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError>;

    /// The one value of a whole body.
    fn whole(&mut self, json: &str, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError>;

    /// Nothing more will come: what was held back is let go.
    fn end(&mut self, out: &mut Vec<ModelEvent>);
}

pub(crate) struct Framed<F> {
    frame: Frame,
    fold: F,
}

enum Frame {
    Events(sse::Reader),
    Lines(ndjson::Reader),
    Whole(Vec<u8>),
    /// A server that was asked for events may send one document: nothing but blanks so far.
    EventsOrWhole(Vec<u8>),
}

impl<F: Fold> Framed<F> {
    pub(crate) fn events(fold: F) -> Self {
        let frame = Frame::EventsOrWhole(Vec::new());
        Self { frame, fold }
    }

    pub(crate) fn lines(fold: F) -> Self {
        let frame = Frame::Lines(ndjson::Reader::new());
        Self { frame, fold }
    }

    pub(crate) fn whole(fold: F) -> Self {
        let frame = Frame::Whole(Vec::new());
        Self { frame, fold }
    }
}

impl<F: Fold> Decoder for Framed<F> {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        if let Frame::EventsOrWhole(blanks) = &mut self.frame {
            blanks.extend_from_slice(bytes);
            let first = blanks.iter().find(|byte| !byte.is_ascii_whitespace());
            let Some(first) = first else {
                return Ok(());
            };
            let is_document = matches!(first, b'{' | b'[');
            let begun = std::mem::take(blanks);
            self.frame = if is_document {
                Frame::Whole(Vec::new())
            } else {
                Frame::Events(sse::Reader::new())
            };
            return self.feed(&begun, out);
        }
        let fold = &mut self.fold;
        match &mut self.frame {
            Frame::Events(reader) => {
                reader.feed(bytes, |event| take_event(fold, event, Last::No, out))
            }
            Frame::Lines(reader) => reader.feed(bytes, |line| fold.value(line, out)),
            Frame::Whole(body) | Frame::EventsOrWhole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        let fold = &mut self.fold;
        let read = match &mut self.frame {
            Frame::Events(reader) => reader.finish(|event| take_event(fold, event, Last::Yes, out)),
            Frame::Lines(reader) => reader.finish(|line| {
                if is_no_json(line) {
                    return Ok(());
                }
                fold.value(line, out)
            }),
            Frame::Whole(body) => take_document(fold, body, out),
            Frame::EventsOrWhole(_) => Ok(()),
        };
        read?;
        self.fold.end(out);
        Ok(())
    }
}

/// Whether it has no end of its own, so that it may have been cut.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Yes,
    No,
}

fn take_event(
    fold: &mut impl Fold,
    event: sse::Event<'_>,
    last: Last,
    out: &mut Vec<ModelEvent>,
) -> Result<(), ProviderError> {
    let is_error = event.name == "error";
    if event.data.contains('\n') && is_no_json(event.data) {
        // Some leave out the blank line between two events.
        let mut lines = event.data.lines();
        return lines.try_for_each(|line| take_data(fold, line, is_error, last, out));
    }
    take_data(fold, event.data, is_error, last, out)
}

fn take_data(
    fold: &mut impl Fold,
    data: &str,
    is_error: bool,
    last: Last,
    out: &mut Vec<ModelEvent>,
) -> Result<(), ProviderError> {
    let data = data.trim();
    // `[DONE]` ends the body and not the message.
    if data.is_empty() || data == "[DONE]" || last == Last::Yes && is_no_json(data) {
        return Ok(());
    }
    if is_error {
        return Err(errors::in_answer(data));
    }
    fold.value(data, out)
}

/// Of the last thing in a body, without an end of its own: it was cut.
fn is_no_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_err()
}

fn take_document(
    fold: &mut impl Fold,
    body: &[u8],
    out: &mut Vec<ModelEvent>,
) -> Result<(), ProviderError> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str::<IgnoredAny>(text) {
        // Cut off: the fold reports no end, and the reader of its events a cut.
        Err(error) if error.is_eof() => Ok(()),
        _ => fold.whole(text, out),
    }
}

/// Reads one JSON value; `room` is for a second try, with halves of surrogate pairs replaced.
pub(crate) fn parse<'a, T: Deserialize<'a>>(
    json: &'a str,
    room: &'a mut String,
) -> Result<T, ProviderError> {
    let error = match serde_json::from_str(json) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let Some(mended) = replace_lone_surrogates(json) else {
        return Err(malformed(json, &error));
    };
    *room = mended;
    let room: &'a str = room;
    serde_json::from_str(room).map_err(|error| malformed(room, &error))
}

/// Servers that cut text between UTF-16 units send each half of a pair in a chunk of its own.
fn replace_lone_surrogates(json: &str) -> Option<String> {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut mended, mut rest, mut replaced) = (String::new(), json, false);
    while let Some(place) = rest.find('\\') {
        let (plain, escape) = rest.split_at(place);
        mended += plain;
        let is_pair = |low: &str| matches!(unit(low), Some(0xdc00..=0xdfff));
        let length = match unit(escape) {
            Some(0xd800..=0xdbff) if escape.get(6..).is_some_and(is_pair) => 12,
            Some(0xd800..=0xdfff) => {
                replaced = true;
                mended.push(char::REPLACEMENT_CHARACTER);
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            Some(_) => 6,
            None => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, after) = escape.split_at_checked(length)?;
        mended += kept;
        rest = after;
    }
    mended += rest;
    replaced.then_some(mended)
}

pub(crate) fn malformed(text: &str, error: &serde_json::Error) -> ProviderError {
    let shown: String = text.chars().take(200).collect();
    let message = format!("the answer cannot be read: {error}, in {shown:?}");
    ProviderError::new(ProviderErrorKind::Malformed, message)
}
