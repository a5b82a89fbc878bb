//! The readers of events and lines, by themselves.
#![allow(clippy::unwrap_used)]

use std::convert::Infallible;

use hames_wire::{ndjson, sse};

fn events(pieces: &[&[u8]]) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    let mut reader = sse::Reader::new();
    let mut keep = |event: sse::Event<'_>| -> Result<(), Infallible> {
        seen.push((event.name.to_owned(), event.data.to_owned()));
        Ok(())
    };
    for piece in pieces {
        reader.feed(piece, &mut keep).unwrap();
    }
    reader.finish(&mut keep).unwrap();
    seen
}

#[test]
fn events_are_read_as_the_standard_says() {
    let body = b"\xef\xbb\xbf: note\nevent: a\ndata:  two blanks\ndata\ndata:\ndata:x: y\nid: 1\n\nevent: no data\n\ndata: b\r\rdata: c\r\n\r\ndata: d\nevent";
    let expected = [
        ("a", " two blanks\n\n\nx: y"),
        ("", "b"),
        ("", "c"),
        ("", "d"),
    ];
    let expected = expected.map(|(name, data)| (name.to_owned(), data.to_owned()));
    assert_eq!(events(&[body]), expected);
    for at in 0..body.len() {
        let (one, other) = body.split_at(at);
        assert_eq!(events(&[one, other]), expected, "cut at {at}");
    }
}

#[test]
fn a_byte_order_mark_hides_no_field() {
    let body = "\u{feff}data: \u{feff}a\n\n".as_bytes();
    let expected = [(String::new(), "\u{feff}a".to_owned())];
    assert_eq!(events(&[body]), expected);
    assert_eq!(events(&[&body[..1], &body[1..2], &body[2..]]), expected);
}

/// Keep-alives are bytes, for the idle timer, and nothing else.
#[test]
fn fault_d03_comments_and_pings_make_no_events_and_no_errors() {
    use hames_types::ApiKind;
    use hames_wire::{Delivery, api};
    let bodies = [
        (ApiKind::OpenaiChat, ": PROCESSING\n\n: x\n\n\n\n"),
        (
            ApiKind::AnthropicMessages,
            ": x\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n",
        ),
        (ApiKind::OllamaChat, "\n \n\r\n"),
    ];
    for (kind, body) in bodies {
        let mut decoder = api(kind).unwrap().decoder(Delivery::Stream);
        let mut out = Vec::new();
        decoder.feed(body.as_bytes(), &mut out).unwrap();
        decoder.finish(&mut out).unwrap();
        assert!(out.is_empty(), "{kind:?}: {out:?}");
    }
}

#[test]
fn fault_d01_bytes_that_are_no_text_stay_within_their_line() {
    let body = b"data: a\xf0\x9f\x8c\n\ndata: \xf0\x9f\x8c\x8d\n\n";
    let seen = events(&[&body[..12], &body[12..21], &body[21..]]);
    let data: Vec<&str> = seen.iter().map(|(_, data)| data.as_str()).collect();
    assert_eq!(data, ["a\u{fffd}", "🌍"]);
}

#[test]
fn lines_come_without_blanks_and_without_an_end() {
    let mut seen: Vec<String> = Vec::new();
    let mut reader = ndjson::Reader::new();
    let mut keep = |line: &str| -> Result<(), Infallible> {
        seen.push(line.to_owned());
        Ok(())
    };
    for piece in ["{\"a\":", "1}\r", "\n\n {\"b\"", ":2}"] {
        reader.feed(piece.as_bytes(), &mut keep).unwrap();
    }
    reader.finish(&mut keep).unwrap();
    assert_eq!(seen, ["{\"a\":1}", "{\"b\":2}"]);
}
