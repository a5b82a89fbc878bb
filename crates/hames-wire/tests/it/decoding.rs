//! Bodies of every kind in `test_data/`, decoded whole and in pieces, beside what is right.
//!
//! A bug of a codec becomes a file here: the body, and what it says in `<case>.expect.json`.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use hames_agent::parser::Parser;
use hames_types::{ApiKind, Head, ModelEvent, Options, ProviderError};
use hames_wire::{Api, Delivery, api};
use proptest::prelude::*;
use serde_json::{Value, json};

pub fn head(api: ApiKind) -> Head {
    Head {
        api,
        model: "m".into(),
        system: "".into(),
        tools: vec![],
        options: Options {
            max_tokens: 100,
            temperature: None,
            effort: None,
            context_window: None,
        },
    }
}

/// Nothing is written beside the sources when one fails: what it finds becomes a case.
pub fn tries(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub struct Case {
    pub path: PathBuf,
    pub api: &'static dyn Api,
    pub delivery: Delivery,
    pub body: Vec<u8>,
}

/// Every body below `test_data/`, by the API that its folder names.
pub fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data");
    let kinds = [
        ("openai_chat", ApiKind::OpenaiChat),
        ("anthropic_messages", ApiKind::AnthropicMessages),
        ("ollama_chat", ApiKind::OllamaChat),
    ];
    let mut cases = Vec::new();
    for (folder, kind) in kinds {
        let mut paths: Vec<PathBuf> = fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| !path.to_string_lossy().ends_with(".expect.json"))
            .collect();
        paths.sort();
        assert!(!paths.is_empty(), "{folder} has no cases");
        cases.extend(paths.into_iter().map(|path| {
            let whole = path.extension().unwrap() == "json";
            Case {
                api: api(kind).unwrap(),
                delivery: if whole {
                    Delivery::Whole
                } else {
                    Delivery::Stream
                },
                body: fs::read(&path).unwrap(),
                path,
            }
        }));
    }
    cases
}

pub fn decode<'a>(
    case: &Case,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ModelEvent>, Result<(), ProviderError>) {
    let mut events = Vec::new();
    let mut decoder = case.api.decoder(case.delivery);
    for piece in pieces {
        if let Err(error) = decoder.feed(piece, &mut events) {
            return (events, Err(error));
        }
    }
    let end = decoder.finish(&mut events);
    (events, end)
}

/// The message, an error with what was said before it, or a cut with what was said before it.
fn said((events, end): (Vec<ModelEvent>, Result<(), ProviderError>), api: ApiKind) -> Value {
    let head = head(api);
    let parse = || {
        let mut parser = Parser::new(&head);
        let events = events.iter().cloned();
        events.for_each(|event| drop(parser.feed(event)));
        parser
    };
    let so_far = json!({"said": parse().interrupt().text(), "usage": parse().usage()});
    if let Err(error) = end {
        return json!({"error": error, "before": so_far});
    }
    match parse().finish() {
        Ok(message) => json!({ "message": message }),
        Err(cut) => json!({"cut": cut.kind, "before": so_far}),
    }
}

/// Also P-03, P-06, P-07 (index), P-08 and fault D08, D10, D20: see the names of the cases.
#[test]
fn req_c04_every_case_says_what_stands_beside_it() {
    let mut wrong = Vec::new();
    for case in cases() {
        let said = said(decode(&case, [&*case.body]), case.api.kind());
        let beside = case.path.with_extension("expect.json");
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
        if said != expected {
            let said = serde_json::to_string_pretty(&said).unwrap();
            wrong.push(format!("{}\n{said}\n", beside.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn fault_d01_law_parser_single_bytes_say_the_same() {
    for case in cases() {
        let kind = case.api.kind();
        let whole = said(decode(&case, [&*case.body]), kind);
        let bytes = said(decode(&case, case.body.chunks(1)), kind);
        assert_eq!(bytes, whole, "{}", case.path.display());
    }
}

/// P-07: ten thousand random ways to split, spread over all cases.
#[test]
fn req_p07_law_parser_any_split_says_the_same() {
    let cases = cases();
    // What the Output Parser makes of it; the counts of an answer without an end are compared above.
    let parsed = |case: &Case, pieces: Vec<&[u8]>| {
        let (events, end) = decode(case, pieces);
        let head = head(case.api.kind());
        let mut parser = Parser::new(&head);
        events
            .into_iter()
            .for_each(|event| drop(parser.feed(event)));
        end.and_then(|()| parser.finish())
    };
    let whole: Vec<_> = cases
        .iter()
        .map(|case| parsed(case, vec![&*case.body]))
        .collect();
    let ways = (0..cases.len(), prop::collection::vec(1usize..60, 1..40));
    proptest!(tries(10_000), |((index, lengths) in ways)| {
        let case = &cases[index];
        let mut rest = &*case.body;
        let mut pieces = Vec::new();
        for length in lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*length).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(&parsed(case, pieces), &whole[index]);
    });
}

/// A stream that is cut anywhere is never taken for another message than the whole one: every place
/// near the end, where messages end, and some before.
#[test]
fn a_cut_at_any_byte_is_a_cut_or_the_whole_message() {
    for case in cases() {
        let kind = case.api.kind();
        let whole = said(decode(&case, [&*case.body]), kind);
        let near_the_end = case.body.len().saturating_sub(160);
        let places = (0..near_the_end)
            .step_by(7)
            .chain(near_the_end..case.body.len());
        for end in places {
            let cut = said(decode(&case, [&case.body[..end]]), kind);
            let Some(message) = cut.get("message") else {
                continue;
            };
            let place = format!("{} cut at {end}", case.path.display());
            // What follows the end of a message can only add to it: counts, or more of the same.
            let Some(of_whole) = whole.get("message") else {
                panic!("{place}: {message} of no message");
            };
            let calls = |message: &Value| {
                let blocks = message["blocks"].as_array().cloned().unwrap_or_default();
                let calls = blocks
                    .into_iter()
                    .filter(|block| block["type"] == "tool_call");
                calls.map(|call| call["input"].clone()).collect::<Vec<_>>()
            };
            let (some, all) = (calls(message), calls(of_whole));
            assert!(all.starts_with(&some), "{place}: {some:?} of {all:?}");
        }
    }
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    let scraps = prop::sample::select(vec![
        "data: ",
        "\n",
        "\r\n",
        "\r",
        ":",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "null",
        "event: error",
        r#"{"choices":[{"delta":"#,
        r#"{"type":"content_block_delta","index":0,"delta":"#,
        r#""tool_calls":[{"function":{"arguments":{}}}]"#,
        r#"{"message":{"tool_calls":[{}]}}"#,
        r#""\ud83d""#,
        r#"{"type":"content_block_start","content_block":"#,
        "\u{feff}",
        "é",
        "1e999",
    ]);
    let scraps =
        prop::collection::vec(scraps, 0..30).prop_map(|scraps| scraps.concat().into_bytes());
    prop_oneof![prop::collection::vec(any::<u8>(), 0..300), scraps]
}

proptest! {
    #![proptest_config(tries(2_000))]

    #[test]
    fn fault_d20_no_bytes_make_a_decoder_panic(noise in noise(), at in 0usize..1000, which in 0usize..1000) {
        let cases = cases_once();
        let case = &cases[which % cases.len()];
        let at = at % (case.body.len() + 1);
        let (before, after) = case.body.split_at(at);
        let _ = decode(case, [before, &noise, after]);
        let _ = decode(case, [&*noise]);
        let _ = case.api.classify_error(400, &noise);
    }
}

fn cases_once() -> &'static [Case] {
    static CASES: std::sync::OnceLock<Vec<Case>> = std::sync::OnceLock::new();
    CASES.get_or_init(cases)
}
