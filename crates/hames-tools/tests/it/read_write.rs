//! `read` and `write`: files of every kind, and nothing written over that was not seen.

use std::os::unix::fs::{PermissionsExt, symlink};

use hames_types::{Access, Content, JournalId};
use serde_json::json;

use crate::bench::Bench;

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    let bench = Bench::new();
    bench.put("a.txt", "one\n\ttwo\n");
    assert_eq!(
        bench.ok("read", json!({ "path": "a.txt" })).await,
        "one\n\ttwo\n"
    );
    let full = bench.workspace.join("a.txt");
    assert_eq!(
        bench.ok("read", json!({ "file_path": full })).await,
        "one\n\ttwo\n"
    );
    bench.put("empty", "");
    assert_eq!(
        bench.ok("read", json!({ "path": "empty" })).await,
        "[it is empty]"
    );
}

#[tokio::test]
async fn a_part_of_a_file_says_how_to_read_on() {
    let bench = Bench::new();
    let text: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    bench.put("long", &text);
    let told = bench
        .ok("read", json!({ "path": "long", "offset": 3, "limit": "2" }))
        .await;
    assert_eq!(told, "3\n4\n[lines 3 to 4 of 5000; read on with offset 5]");
    let told = bench.ok("read", json!({ "path": "long" })).await;
    assert!(
        told.ends_with("2000\n[lines 1 to 2000 of 5000; read on with offset 2001]"),
        "{told}"
    );
    let told = bench
        .ok(
            "read",
            json!({ "path": "long", "offset": 4999, "limit": -1 }),
        )
        .await;
    assert_eq!(told, "4999\n5000\n[lines 4999 to 5000 of 5000]");
    let told = bench
        .err("read", json!({ "path": "long", "offset": 5001 }))
        .await;
    assert_eq!(told, "long has 5000 lines; offset 5001 is behind its end");
}

#[tokio::test]
async fn fault_b08_long_lines_and_large_files_are_cut_or_refused_with_advice() {
    let bench = Bench::new();
    bench.put("wide", format!("{}\nend\n", "é".repeat(3000)));
    let told = bench.ok("read", json!({ "path": "wide" })).await;
    let wanted = format!(
        "{}[… 4000 more bytes in this line]\nend\n",
        "é".repeat(1000)
    );
    assert_eq!(told, wanted);
    bench.put("heavy", format!("{}\n", "x".repeat(1500)).repeat(100));
    let told = bench.ok("read", json!({ "path": "heavy" })).await;
    assert!(
        told.len() < 49_000 && told.ends_with("[lines 1 to 31 of 100; read on with offset 32]")
    );
    let huge = std::fs::File::create(bench.workspace.join("huge")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let told = bench.err("read", json!({ "path": "huge" })).await;
    assert!(
        told.contains("1073741824 bytes, too many") && told.contains("grep"),
        "{told}"
    );
}

#[tokio::test]
async fn what_is_no_text_is_refused_with_advice() {
    let bench = Bench::new();
    bench.put("binary", [0u8, 159, 146, 150, 0, 1, 2, 3].repeat(100));
    let told = bench.err("read", json!({ "path": "binary" })).await;
    assert!(
        told.starts_with("binary is a binary file of 800 bytes; use bash"),
        "{told}"
    );
    let told = bench.err("read", json!({ "path": "." })).await;
    assert!(told.contains("is a folder; use glob"), "{told}");
    let made = std::process::Command::new("mkfifo")
        .arg(bench.workspace.join("pipe"))
        .status();
    if made.is_ok_and(|status| status.success()) {
        let told = bench.err("read", json!({ "path": "pipe" })).await;
        assert!(
            told.starts_with("pipe is neither a file nor a folder"),
            "{told}"
        );
    }
    bench.put("Config.TOML", "x");
    let told = bench.err("read", json!({ "path": "config.yaml" })).await;
    assert_eq!(
        told,
        "config.yaml does not exist; in that folder there is Config.TOML"
    );
    let told = bench.err("read", json!({ "path": "no/such" })).await;
    assert_eq!(told, "no/such does not exist; find it with glob");
}

#[tokio::test]
async fn a_picture_is_shown_as_one() {
    let bench = Bench::new();
    bench.put("p.txt", b"\x89PNG\r\n\x1a\n\0\0");
    let content = bench
        .content("read", json!({ "path": "p.txt" }))
        .await
        .unwrap();
    let wanted = Content::Image {
        media_type: "image/png".to_owned(),
        base64: "iVBORw0KGgoAAA==".into(),
    };
    assert_eq!(content, [wanted]);
}

#[tokio::test]
async fn fault_f01_how_a_text_lies_in_its_file_is_told() {
    let bench = Bench::new();
    bench.put("crlf", "one\r\ntwo\r\n");
    let told = bench.ok("read", json!({ "path": "crlf" })).await;
    assert_eq!(told, "one\ntwo\n[line ends are CRLF, and are kept]");
    bench.put("mixed", "\u{feff}one\r\ntwo\nthree");
    let told = bench.ok("read", json!({ "path": "mixed" })).await;
    let remarks = "line ends are mixed, and are kept; it begins with a byte order mark, which is kept; \
                   no newline at its end";
    assert_eq!(told, format!("one\ntwo\nthree\n[{remarks}]"));
}

#[tokio::test]
async fn fault_a17_bytes_that_are_not_utf8_are_written_out() {
    let bench = Bench::new();
    bench.put("latin1", b"caf\xe9 and more text\n");
    let told = bench.ok("read", json!({ "path": "latin1" })).await;
    let remark = "it is not UTF-8: other bytes are shown as \\xff, and edit keeps them";
    assert_eq!(told, format!("caf\\xe9 and more text\n[{remark}]"));
}

#[tokio::test]
async fn a_new_file_gets_its_folders() {
    let bench = Bench::new();
    let told = bench
        .ok("write", json!({ "path": "a/b/c.txt", "content": "x\ny\n" }))
        .await;
    assert_eq!(told, "created a/b/c.txt, 2 lines");
    assert_eq!(bench.text("a/b/c.txt"), "x\ny\n");
    // What an agent has written, it knows.
    let told = bench
        .ok("write", json!({ "path": "a/b/c.txt", "content": "z" }))
        .await;
    assert_eq!(told, "wrote over a/b/c.txt, 1 lines");
    let told = bench
        .ok("write", json!({ "path": "a/b/c.txt", "content": "z" }))
        .await;
    assert_eq!(
        told,
        "a/b/c.txt holds exactly this already; nothing was written"
    );
    let left: Vec<_> = std::fs::read_dir(bench.workspace.join("a/b"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1);
}

#[tokio::test]
async fn fault_f06_a_file_that_was_not_read_is_not_written_over() {
    let bench = Bench::new();
    bench.put("a", "theirs");
    let told = bench
        .err("write", json!({ "path": "a", "content": "mine" }))
        .await;
    assert!(
        told.starts_with("a is there already and you have not read it; read it first"),
        "{told}"
    );
    assert_eq!(bench.text("a"), "theirs");
}

#[tokio::test]
async fn fault_f06_a_file_changed_since_it_was_read_is_not_written_over() {
    let bench = Bench::new();
    bench.put("a", "first");
    bench.ok("read", json!({ "path": "a" })).await;
    bench.put("a", "second");
    let told = bench
        .err("write", json!({ "path": "a", "content": "mine" }))
        .await;
    assert!(
        told.starts_with("a was changed by someone else since you read it"),
        "{told}"
    );
    assert_eq!(bench.text("a"), "second");
    bench.ok("read", json!({ "path": "a" })).await;
    bench
        .ok("write", json!({ "path": "a", "content": "mine" }))
        .await;
    assert_eq!(bench.text("a"), "mine");
}

#[tokio::test]
async fn fault_f06_what_one_agent_has_read_another_has_not() {
    let mut bench = Bench::new();
    bench.put("a", "first");
    bench.ok("read", json!({ "path": "a" })).await;
    bench.agent = JournalId::from("a.1");
    let told = bench
        .err("write", json!({ "path": "a", "content": "mine" }))
        .await;
    assert!(told.contains("you have not read it"), "{told}");
    assert_eq!(bench.text("a"), "first");
}

#[tokio::test]
async fn fault_f02_line_ends_and_mark_stay_where_a_whole_file_is_replaced() {
    let bench = Bench::new();
    bench.put("a", "\u{feff}one\r\ntwo\r\n");
    bench.ok("read", json!({ "path": "a" })).await;
    let told = bench
        .ok("write", json!({ "path": "a", "content": "three\nfour\n" }))
        .await;
    assert!(
        told.ends_with("its byte order mark and CRLF line ends were kept"),
        "{told}"
    );
    assert_eq!(bench.text("a"), "\u{feff}three\r\nfour\r\n");
}

#[tokio::test]
async fn a_file_keeps_its_mode_and_a_read_only_one_its_content() {
    let bench = Bench::new();
    bench.put("run.sh", "old");
    let path = bench.workspace.join("run.sh");
    let mode =
        |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o751);
    bench.ok("read", json!({ "path": "run.sh" })).await;
    bench
        .ok("write", json!({ "path": "run.sh", "content": "new" }))
        .await;
    assert_eq!(
        path.metadata().unwrap().permissions().mode() & 0o7777,
        0o751
    );
    mode(0o444);
    let told = bench
        .err("write", json!({ "path": "run.sh", "content": "newer" }))
        .await;
    assert!(
        told.starts_with(
            "run.sh was not written and is as it was: permission denied; it is read-only"
        ),
        "{told}"
    );
    assert_eq!(bench.text("run.sh"), "new");
}

#[tokio::test]
async fn policy_is_shown_where_a_path_really_leads() {
    let bench = Bench::new();
    let outside = bench.workspace.with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    symlink(&outside, bench.workspace.join("link")).unwrap();
    let judged = bench
        .judged("write", json!({ "path": "link/new/a", "content": "" }))
        .await;
    assert_eq!(judged.0, Access::write(outside.join("new/a")));
    let judged = bench
        .judged("read", json!({ "path": "link/../outside/b" }))
        .await;
    assert_eq!(judged.0, Access::read(outside.join("b")));
    let judged = bench
        .judged("edit", json!({ "path": "link/a", "old": "x", "new": "y" }))
        .await;
    let (read, write) = (
        Access::read(outside.join("a")),
        Access::write(outside.join("a")),
    );
    assert_eq!(
        (judged.0.reads, judged.0.writes),
        (read.reads, write.writes)
    );
}

#[tokio::test]
async fn paths_that_cannot_be_judged_are_refused() {
    let bench = Bench::new();
    symlink("nowhere", bench.workspace.join("dangling")).unwrap();
    for (path, said) in [
        ("", "path is empty; . is the workspace"),
        ("~/x", "~ is not expanded here"),
        ("a\0b", "path holds a NUL character"),
        ("dangling", "is a link to something that does not exist"),
    ] {
        let told = bench
            .err("write", json!({ "path": path, "content": "x" }))
            .await;
        assert!(told.contains(said), "{path:?}: {told}");
    }
    assert_eq!(std::fs::read_dir(&bench.workspace).unwrap().count(), 1);
}

#[tokio::test]
async fn a_way_that_changes_after_it_was_judged_leads_nowhere() {
    let bench = Bench::new();
    let outside = bench.workspace.with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::create_dir(bench.workspace.join("inside")).unwrap();
    bench.put("secret", "theirs");
    for (tool, rest) in [
        ("write", json!({ "content": "x" })),
        ("edit", json!({ "old": "a", "new": "b" })),
    ] {
        let mut input = rest;
        input["path"] = json!("inside/a");
        let input = hames_types::RawJson::from(input.to_string().as_str());
        let prepared = bench.tool(tool).prepare(input, bench.cx()).await.unwrap();
        std::fs::rename(
            bench.workspace.join("inside"),
            bench.workspace.join("moved"),
        )
        .unwrap();
        symlink(&outside, bench.workspace.join("inside")).unwrap();
        let told = prepared.run().await.unwrap_err().message;
        assert!(
            told.contains("leads elsewhere now; nothing was done"),
            "{told}"
        );
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        std::fs::remove_file(bench.workspace.join("inside")).unwrap();
        std::fs::rename(
            bench.workspace.join("moved"),
            bench.workspace.join("inside"),
        )
        .unwrap();
    }
}
