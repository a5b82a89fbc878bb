//! `bash`: what a command said, how it ended, and what of long or odd output is shown.

use std::time::Duration;

use hames_tools::TimeLimits;
use hames_types::{Access, Concurrency};
use serde_json::json;

use crate::bench::Bench;

#[tokio::test]
async fn output_comes_in_the_order_it_was_written_in() {
    let bench = Bench::new();
    let command = "echo one; echo two >&2; echo three";
    assert_eq!(
        bench.ok("bash", json!({ "command": command })).await,
        "one\ntwo\nthree\n"
    );
    assert_eq!(*bench.heard.lock().unwrap(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_and_its_exit_code_is_told() {
    let bench = Bench::new();
    let told = bench
        .ok("bash", json!({ "cmd": "pwd; exit 3", "timeout": "5" }))
        .await;
    assert_eq!(
        told,
        format!("{}\n[exit code 3]\n", bench.workspace.display())
    );
    let told = bench.ok("bash", json!({ "command": "true" })).await;
    assert_eq!(told, "[exit code 0, no output]\n");
    let told = bench
        .ok("bash", json!({ "command": "printf x; kill -9 $$" }))
        .await;
    assert_eq!(told, "x\n[killed by signal 9]\n");
}

#[tokio::test]
async fn fault_e09_a_command_that_reads_stdin_ends_at_once() {
    let bench = Bench::new();
    assert_eq!(
        bench
            .ok("bash", json!({ "command": "cat; echo done" }))
            .await,
        "done\n"
    );
}

#[tokio::test]
async fn fault_e05_a_command_without_an_end_is_ended_and_what_it_said_is_kept() {
    let limits = TimeLimits {
        default: Duration::from_millis(80),
        most: Duration::from_secs(30),
    };
    let bench = Bench::new().set(|config| config.time = limits);
    let told = bench
        .err("bash", json!({ "command": "echo first; sleep 600" }))
        .await;
    let (first, rest) = told.split_once('\n').unwrap();
    assert_eq!(first, "first");
    assert!(
        rest.starts_with("[timed out after 0.08 s; it was killed"),
        "{rest}"
    );
}

#[tokio::test]
async fn fault_e06_a_time_limit_that_is_none_is_replaced_and_said() {
    let limits = TimeLimits {
        default: Duration::from_secs(20),
        most: Duration::from_secs(30),
    };
    let bench = Bench::new().set(|config| config.time = limits);
    for (asked, said) in [
        (json!(-1), "timeout -1 is no time to run in; 20 s was used"),
        (json!(0), "timeout 0 is no time to run in; 20 s was used"),
        (
            json!(120_000),
            "timeout 120000 s was lowered to 30 s, the most there is",
        ),
        (json!(1e300), "was lowered to 30 s, the most there is"),
    ] {
        let told = bench
            .ok("bash", json!({ "command": "echo x", "timeout": asked }))
            .await;
        assert!(told.starts_with("x\n[") && told.contains(said), "{told}");
    }
}

#[tokio::test]
async fn fault_b08_long_output_keeps_its_ends_and_the_whole_is_on_disk() {
    let bench = Bench::new().set(|config| config.output.shown = 300);
    let told = bench.ok("bash", json!({ "command": "seq 1 10000" })).await;
    assert!(told.starts_with("1\n2\n3\n"), "{told}");
    assert!(told.ends_with("9999\n10000\n"), "{told}");
    let path = bench.outputs().join("a.call_1-1.txt");
    let note = format!(
        "bytes left out here; the whole output is in {} …]",
        path.display()
    );
    assert!(told.contains(&note), "{told}");
    let whole = std::fs::read_to_string(path).unwrap();
    let wanted: String = (1..=10_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(whole, wanted);
    assert!(told.len() < 500, "{}", told.len());
}

#[tokio::test]
async fn output_up_to_the_cap_makes_no_file() {
    let bench = Bench::new().set(|config| config.output.shown = 300);
    let told = bench
        .ok("bash", json!({ "command": "printf '%300s' x" }))
        .await;
    assert_eq!(told, format!("{:>300}", "x"));
    assert!(!bench.outputs().exists());
}

#[tokio::test]
async fn fault_e06_output_without_end_fills_neither_memory_nor_disk() {
    let bench = Bench::new().set(|config| {
        config.output.kept = 10_000;
        config.output.shown = 300;
    });
    let told = bench
        .ok("bash", json!({ "command": "yes | head -c 3000000" }))
        .await;
    assert!(told.contains("the first 10000 bytes are in"), "{told}");
    let path = bench.outputs().join("a.call_1-1.txt");
    assert_eq!(std::fs::metadata(path).unwrap().len(), 10_000);
}

#[tokio::test]
async fn characters_are_never_cut_at_the_gap() {
    let bench = Bench::new().set(|config| config.output.shown = 100);
    for shift in ["", "x", "xx"] {
        let command = format!("printf '%s' '{shift}'; for i in $(seq 50); do printf '€'; done");
        let told = bench.ok("bash", json!({ "command": command })).await;
        assert!(!told.contains('\\') && !told.contains('\u{fffd}'), "{told}");
        let shown = told.chars().filter(|char| *char == '€').count();
        let left_out: usize = told
            .split_once("[… ")
            .and_then(|(_, rest)| rest.split_once(' '))
            .unwrap()
            .0
            .parse()
            .unwrap();
        assert_eq!(shown * 3 + left_out, 150, "{told}");
    }
}

#[tokio::test]
async fn progress_is_told_in_whole_characters() {
    let bench = Bench::new();
    let command = r"printf '\342'; sleep 0.03; printf '\202\254'";
    assert_eq!(bench.ok("bash", json!({ "command": command })).await, "€");
    assert_eq!(*bench.heard.lock().unwrap(), "€");
}

#[tokio::test]
async fn fault_a17_bytes_that_are_no_text_are_written_out() {
    let bench = Bench::new();
    let command =
        r"echo 'a long enough line of plain text'; printf 'caf\351 \001\033[31mred\033[0m\n'";
    let told = bench.ok("bash", json!({ "command": command })).await;
    assert_eq!(
        told,
        "a long enough line of plain text\ncaf\\xe9 \\x01red\n"
    );
    let told = bench
        .ok("bash", json!({ "command": "head -c 1000 /dev/zero" }))
        .await;
    assert!(told.starts_with("[1000 bytes of binary output"), "{told}");
}

#[tokio::test]
async fn req_l20_an_empty_command_is_refused_before_it_is_judged() {
    let bench = Bench::new();
    let told = bench.err("bash", json!({ "command": "  " })).await;
    assert_eq!(told, "command is empty; say what to run");
    let told = bench
        .err("bash", json!({ "command": "ls", "dir": "x" }))
        .await;
    assert!(
        told.contains("unknown field `dir`, expected one of"),
        "{told}"
    );
}

#[tokio::test]
async fn policy_is_shown_the_command_line() {
    let bench = Bench::new();
    let judged = bench
        .judged("bash", json!({ "command": "ls -l | wc" }))
        .await;
    assert_eq!(
        judged,
        (Access::command("ls -l | wc"), Concurrency::SideBySide)
    );
    let judged = bench
        .judged("bash", json!({ "command": "cd x && git commit -m y" }))
        .await;
    assert_eq!(judged.1, Concurrency::Alone);
}

#[tokio::test]
async fn keys_are_taken_out_of_a_commands_environment() {
    let mut options = crate::bench::quick();
    options.env.push(("SECRET_KEY".into(), "s3cret".into()));
    options.env.push(("OPEN".into(), "yes".into()));
    options.strip_env = vec!["SECRET_KEY".into(), "PATH_OF_NOBODY".into()];
    let bench = Bench::with(options);
    let command = "echo \"<$SECRET_KEY> <$OPEN> <$PAGER>\"";
    assert_eq!(
        bench.ok("bash", json!({ "command": command })).await,
        "<> <yes> <cat>\n"
    );
}

#[tokio::test]
async fn a_shell_that_is_not_there_is_named() {
    let bench = Bench::new().set(|config| config.shell = Some("/nowhere/sh".into()));
    let told = bench.err("bash", json!({ "command": "true" })).await;
    assert!(
        told.starts_with("the shell /nowhere/sh did not start"),
        "{told}"
    );
    let bench = Bench::new();
    std::fs::remove_dir(&bench.workspace).unwrap();
    let told = bench.err("bash", json!({ "command": "true" })).await;
    assert_eq!(
        told,
        format!("the workspace {} is gone", bench.workspace.display())
    );
}
