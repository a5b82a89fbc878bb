//! `edit`: what changes, what must not, and what the model is told when nothing can.

use hames_types::JournalId;
use proptest::prelude::*;
use serde_json::json;

use crate::bench::Bench;

async fn edited(before: impl AsRef<[u8]>, old: &str, new: &str) -> Vec<u8> {
    let bench = Bench::new();
    bench.put("f", before);
    bench
        .ok("edit", json!({ "path": "f", "old": old, "new": new }))
        .await;
    bench.get("f")
}

async fn refused(before: impl AsRef<[u8]>, old: &str, new: &str) -> String {
    let bench = Bench::new();
    bench.put("f", &before);
    let told = bench
        .err("edit", json!({ "path": "f", "old": old, "new": new }))
        .await;
    assert_eq!(bench.get("f"), before.as_ref());
    told
}

#[tokio::test]
async fn one_text_takes_the_place_of_another() {
    let bench = Bench::new();
    bench.put("f", "a\nb\nc\n");
    let told = bench
        .ok(
            "edit",
            json!({ "file_path": "f", "old_string": "b\n", "new_string": "B\nB\n" }),
        )
        .await;
    assert_eq!(told, "edited f, line 2");
    assert_eq!(bench.text("f"), "a\nB\nB\nc\n");
}

#[tokio::test]
async fn fault_f01_text_with_other_line_ends_matches_and_keeps_them() {
    assert_eq!(
        edited("a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny").await,
        b"a\r\nx\r\ny\r\nc\r\n"
    );
    assert_eq!(
        edited("a\r\nb\r\n", "a\r\nb", "a\r\nz").await,
        b"a\r\nz\r\n"
    );
    assert_eq!(
        edited("a\nb\r\nc\nd\n", "b\nc", "b\nC").await,
        b"a\nb\r\nC\nd\n"
    );
    assert_eq!(edited("a\r\nb", "b", "b\nc").await, b"a\r\nb\r\nc");
}

#[tokio::test]
async fn a_mark_and_a_missing_last_newline_stay() {
    assert_eq!(
        edited("\u{feff}one\ntwo", "one", "1").await,
        "\u{feff}1\ntwo".as_bytes()
    );
    assert_eq!(edited("one\ntwo", "two", "2").await, b"one\n2");
}

#[tokio::test]
async fn fault_f04_bytes_that_are_not_utf8_stay() {
    assert_eq!(
        edited(b"caf\xe9 = 1\n", "= 1", "= 2").await,
        b"caf\xe9 = 2\n"
    );
    let told = refused(b"caf\xe9 = 1\n", "caf\u{e9}", "tea").await;
    assert!(
        told.starts_with("f is not UTF-8, so only ASCII text can be replaced"),
        "{told}"
    );
    let told = refused(b"caf\xe9 = 1\n", "= 1", "= \u{e9}").await;
    assert!(told.starts_with("f is not UTF-8"), "{told}");
    // In GBK, the second byte of a character may look like an ASCII letter.
    assert_eq!(edited(b"\x81a b a\n", " a", " x").await, b"\x81a b x\n");
    let told = refused(b"\x81a b\n", "a", "x").await;
    assert!(told.starts_with("old is not in f"), "{told}");
    let told = refused(b"\xff\xfea\0b\0c\0\n\0".repeat(20), "b", "x").await;
    assert!(told.starts_with("f is a binary file"), "{told}");
}

#[tokio::test]
async fn an_edit_that_fits_twice_says_where() {
    let told = refused("x = 1\ny\nx = 1\n", "x = 1", "x = 2").await;
    assert!(
        told.starts_with("old occurs 2 times in f (lines 1, 3); add lines"),
        "{told}"
    );
    let told = refused("aaa", "aa", "b").await;
    assert!(told.starts_with("old occurs 2 times"), "{told}");
    let bench = Bench::new();
    bench.put("f", "x\ny\nx\n");
    let input = json!({ "path": "f", "old": "x", "new": "xx", "replace_all": "true" });
    assert_eq!(bench.ok("edit", input).await, "edited f, lines 1, 3");
    assert_eq!(bench.text("f"), "xx\ny\nxx\n");
}

#[tokio::test]
async fn fault_f08_a_text_that_is_not_there_is_answered_with_what_is() {
    let before = "fn a() {\n\tlet total = 1;\n\tprintln!(\"{total}\");\n}\n";
    let told = refused(before, "    let total = 1;", "    let total = 2;").await;
    assert_eq!(
        told,
        "old is not in f: the file has tabs where old has blanks. \
         The nearest text begins at line 2:\n\tlet total = 1;"
    );
    let told = refused(before, "let Total = 1;\n", "x").await;
    assert!(
        told.contains("begins at line 2:\n\tlet total = 1;"),
        "{told}"
    );
    let told = refused(before, "fn A() {", "x").await;
    assert!(
        told.contains("only capital and small letters differ"),
        "{told}"
    );
    let told = refused(before, "something of another kind", "x").await;
    assert_eq!(
        told,
        "old is not in f, nor anything like it; read the file, or find the text with grep"
    );
    let told = refused("a\nb\n", "1\ta\n2\tb", "x").await;
    assert!(
        told.contains("old has line numbers, which are not part of the file"),
        "{told}"
    );
}

#[tokio::test]
async fn fault_f11_an_edit_that_changes_nothing_is_an_error_of_its_own() {
    let told = refused("a\n", "a", "a").await;
    assert!(
        told.starts_with("old and new are the same: this edit would change nothing"),
        "{told}"
    );
    let told = refused("let x = 2;\n", "let x = 1;", "let x = 2;").await;
    assert_eq!(
        told,
        "old is not in f, but new is there already: this edit was made before"
    );
    let told = refused("a\n", "", "b").await;
    assert!(
        told.starts_with("old is empty; say which text to replace, or use write"),
        "{told}"
    );
}

#[tokio::test]
async fn fault_f06_a_file_changed_since_it_was_read_is_not_edited_even_where_the_text_fits() {
    let bench = Bench::new();
    bench.put("f", "a b\n");
    bench.ok("read", json!({ "path": "f" })).await;
    bench.put("f", "a c\n");
    let input = json!({ "path": "f", "old": "a", "new": "x" });
    let told = bench.err("edit", input.clone()).await;
    assert!(
        told.starts_with("f was changed by someone else since you read it"),
        "{told}"
    );
    assert_eq!(bench.text("f"), "a c\n");
    bench.ok("read", json!({ "path": "f" })).await;
    bench.ok("edit", input).await;
    assert_eq!(bench.text("f"), "x c\n");
}

#[tokio::test]
async fn fault_f06_agents_that_edit_one_file_at_once_lose_nothing() {
    let bench = Bench::new();
    let before: String = (0..20).map(|n| format!("line {n};\n")).collect();
    bench.put("f", before);
    let mut calls = Vec::new();
    for n in 0..20 {
        let input =
            json!({ "path": "f", "old": format!("line {n};"), "new": format!("done {n};") });
        let input = hames_types::RawJson::from(input.to_string().as_str());
        let tool = bench.tool("edit").clone();
        let mut cx = bench.cx();
        cx.agent = JournalId::from(format!("a.{n}").as_str());
        calls.push(tokio::spawn(async move {
            tool.prepare(input, cx).await.unwrap().run().await.map(drop)
        }));
    }
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let wanted: String = (0..20).map(|n| format!("done {n};\n")).collect();
    assert_eq!(bench.text("f"), wanted);
}

#[tokio::test]
async fn fault_f10_a_file_that_is_not_there_is_no_crash() {
    let bench = Bench::new();
    let told = bench
        .err("edit", json!({ "path": "f", "old": "a", "new": "b" }))
        .await;
    assert_eq!(
        told,
        "f does not exist; use write to create it, or glob to find it"
    );
    let told = bench
        .err("edit", json!({ "path": ".", "old": "a", "new": "b" }))
        .await;
    assert!(told.contains("is a folder"), "{told}");
    let told = bench.err("edit", json!({ "path": "f", "old": "a" })).await;
    assert!(told.contains("missing field `new`"), "{told}");
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a"),
        Just("bb"),
        Just("\t"),
        Just("é"),
        Just("\n"),
        Just("\r\n"),
        Just("\r")
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fault_f02_every_byte_outside_the_edited_text_stays(before in pieces(), after in pieces(), mark in any::<bool>(), new in "[a-z\n]{0,6}") {
        let mark = if mark { "\u{feff}" } else { "" };
        let file = format!("{mark}{before}<OLD>{after}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let edited = runtime.block_on(edited(&file, "<OLD>", &new));
        let edited = String::from_utf8(edited).unwrap();
        let head = format!("{mark}{before}");
        prop_assert!(edited.starts_with(&head) && edited.ends_with(&after), "{file:?} -> {edited:?}");
        let middle = edited.strip_prefix(&head).unwrap().strip_suffix(&after).unwrap();
        prop_assert_eq!(middle.replace("\r\n", "\n"), new);
    }
}
