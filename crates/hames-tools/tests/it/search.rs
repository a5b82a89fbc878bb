//! `glob`, `grep` and `todo`: what is found, in which order, and what is said when it is not all.

use std::{os::unix::fs::symlink, time::Duration};

use hames_tools::{TodoItem, TodoStatus, todo_items};
use hames_types::{Access, RawJson};
use serde_json::json;

use crate::bench::Bench;

fn tree() -> Bench {
    let bench = Bench::new();
    bench.put(".gitignore", "target/\n*.log\n");
    bench.put(".github/ci.yml", "on: push\n");
    bench.put(".git/config", "fn hidden() {}\n");
    bench.put("src/main.rs", "fn main() {\n    run();\n}\n");
    bench.put("src/deep/run.rs", "// Run it\nfn run() {}\n");
    bench.put("target/out.rs", "fn run() {}\n");
    bench.put("a.log", "fn run() {}\n");
    bench.put("blob.rs", b"fn run() {}\0\0\n");
    bench.put("README.md", "run it\n");
    bench
}

#[tokio::test]
async fn files_are_listed_in_order_and_ignored_ones_are_not() {
    let bench = tree();
    let told = bench.ok("glob", json!({ "pattern": "*.rs" })).await;
    assert_eq!(told, "blob.rs\nsrc/deep/run.rs\nsrc/main.rs");
    let told = bench.ok("glob", json!({ "pattern": "src/*.rs" })).await;
    assert_eq!(told, "src/main.rs");
    let told = bench
        .ok("glob", json!({ "pattern": "./*.rs", "path": "src/deep" }))
        .await;
    assert_eq!(told, "src/deep/run.rs");
    let told = bench
        .ok("glob", json!({ "pattern": "**/*.{yml,md}" }))
        .await;
    assert_eq!(told, ".github/ci.yml\nREADME.md");
    let told = bench.ok("glob", json!({ "pattern": "*.py" })).await;
    assert!(told.starts_with("[no file fits"), "{told}");
}

#[tokio::test]
async fn patterns_and_places_that_are_none_are_refused() {
    let bench = tree();
    for (pattern, said) in [
        ("a[", "the glob pattern: "),
        ("/etc/*", "a glob pattern begins at path"),
        ("../*", "a glob pattern begins at path"),
        ("", "the glob pattern is empty"),
    ] {
        let told = bench.err("glob", json!({ "pattern": pattern })).await;
        assert!(told.contains(said), "{told}");
    }
    let told = bench
        .err("glob", json!({ "pattern": "*", "path": "none" }))
        .await;
    assert!(
        told.starts_with("none: ") && told.ends_with(". is the workspace"),
        "{told}"
    );
    let told = bench.err("grep", json!({ "pattern": "run(" })).await;
    assert!(
        told.starts_with("pattern is not a regular expression"),
        "{told}"
    );
    let told = bench.err("grep", json!({ "pattern": "" })).await;
    assert_eq!(told, "pattern is empty; say what to search for");
}

#[tokio::test]
async fn fault_e11_a_list_that_is_cut_says_so() {
    let bench = tree().set(|config| config.search.files = 2);
    let told = bench.ok("glob", json!({ "pattern": "*.rs" })).await;
    assert_eq!(
        told,
        "blob.rs\nsrc/deep/run.rs\n[PARTIAL: the first 2 files; narrow the pattern or the path]"
    );
    let told = bench
        .ok("grep", json!({ "pattern": "run", "max": 1 }))
        .await;
    assert_eq!(
        told,
        "README.md:1:run it\n[PARTIAL: the first 1 matching lines; narrow the pattern, path or glob, or raise max]"
    );
}

#[tokio::test]
async fn fault_e11_a_search_out_of_time_or_interrupted_ends_and_says_so() {
    let bench = tree().set(|config| config.search.time = Duration::ZERO);
    for (tool, input) in [
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "run" })),
    ] {
        let told = bench.ok(tool, input.clone()).await;
        assert!(
            told.starts_with("[PARTIAL: stopped after 0 s; narrow"),
            "{told}"
        );
        let bench = tree();
        bench.cancel.cancel();
        let told = bench.ok(tool, input).await;
        assert!(told.starts_with("[PARTIAL: interrupted"), "{told}");
    }
}

#[tokio::test]
async fn fault_e11_a_file_of_endless_zeros_is_left_at_once() {
    let bench = Bench::new();
    let huge = std::fs::File::create(bench.workspace.join("huge")).unwrap();
    huge.set_len(1 << 40).unwrap();
    bench.put("small", "run\n");
    let told = bench.ok("grep", json!({ "pattern": "run" })).await;
    assert_eq!(told, "small:1:run\n");
}

#[tokio::test]
async fn fault_e11_links_are_not_followed() {
    let bench = tree();
    symlink(&bench.workspace, bench.workspace.join("src/loop")).unwrap();
    symlink("/", bench.workspace.join("src/everything")).unwrap();
    // Neither of those above: a walk that followed links would end at once in either of them.
    let beside = bench.workspace.with_file_name("beside");
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(beside.join("main.rs"), "fn main() {}\n").unwrap();
    symlink(&beside, bench.workspace.join("src/beside")).unwrap();
    symlink("deep", bench.workspace.join("src/again")).unwrap();
    let told = bench.ok("glob", json!({ "pattern": "*.rs" })).await;
    assert_eq!(told, "blob.rs\nsrc/deep/run.rs\nsrc/main.rs");
    let told = bench.ok("grep", json!({ "pattern": "fn main" })).await;
    assert_eq!(told, "src/main.rs:1:fn main() {\n");
}

#[tokio::test]
async fn lines_are_found_with_their_surroundings() {
    let bench = tree();
    let told = bench.ok("grep", json!({ "pattern": r"run\(" })).await;
    assert_eq!(
        told,
        "src/deep/run.rs:2:fn run() {}\nsrc/main.rs:2:    run();\n"
    );
    let told = bench
        .ok(
            "grep",
            json!({ "pattern": "RUN", "-i": true, "include": "*.md" }),
        )
        .await;
    assert_eq!(told, "README.md:1:run it\n");
    let input = json!({ "query": "run", "path": "src/main.rs", "-C": 1 });
    let told = bench.ok("grep", input).await;
    assert_eq!(
        told,
        "src/main.rs-1-fn main() {\nsrc/main.rs:2:    run();\nsrc/main.rs-3-}\n"
    );
    let told = bench.ok("grep", json!({ "pattern": "nowhere" })).await;
    assert!(told.starts_with("[no line matches"), "{told}");
    bench.put(
        "wide.md",
        format!("{}needle{}\n", "é".repeat(300), "x".repeat(9000)),
    );
    let told = bench.ok("grep", json!({ "pattern": "needle" })).await;
    assert_eq!(told, format!("wide.md:1:{} […]\n", "é".repeat(200)));
}

#[tokio::test]
async fn policy_is_shown_what_is_searched() {
    let bench = tree();
    for (tool, input) in [
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "x" })),
    ] {
        let judged = bench.judged(tool, input.clone()).await;
        assert_eq!(judged.0, Access::read(&bench.workspace));
        let mut input = input;
        input["path"] = json!("..");
        let judged = bench.judged(tool, input).await;
        assert_eq!(judged.0, Access::read(bench.workspace.parent().unwrap()));
    }
}

#[tokio::test]
async fn a_list_is_replaced_whole_and_can_be_had_from_the_journal() {
    let bench = Bench::new();
    let items = json!([
        { "text": "look", "status": "done" },
        { "content": "mend", "status": "in_progress", "activeForm": "mending" },
        { "text": "test" },
    ]);
    let told = bench.ok("todo", json!({ "items": items })).await;
    assert_eq!(told, "2 of 3 to do\n[x] look\n[>] mend\n[ ] test\n");
    let told = bench
        .ok(
            "todo",
            json!({ "todos": [{ "text": "rest", "status": "completed" }] }),
        )
        .await;
    assert_eq!(told, "0 of 1 to do\n[x] rest\n");
    let input = RawJson::from(json!({ "items": items }).to_string().as_str());
    let item = |text: &str, status| TodoItem {
        text: text.to_owned(),
        status,
    };
    let wanted = vec![
        item("look", TodoStatus::Done),
        item("mend", TodoStatus::InProgress),
        item("test", TodoStatus::Pending),
    ];
    assert_eq!(todo_items(&input), Some(wanted));
    let told = bench
        .err("todo", json!({ "items": [{ "text": " " }] }))
        .await;
    assert_eq!(told, "item 1 has no text");
}
