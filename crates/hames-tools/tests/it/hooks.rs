//! A hook's process: what it is given, what it says, and that it ends.

use std::time::Duration;

use hames_tools::{HookCommand, HookOutput, Processes, run_hook};
use tokio_util::sync::CancellationToken;

use crate::bench::{is_alive, quick};

async fn run(command: &str, stdin_json: &str, timeout: Duration) -> HookOutput {
    let mut options = quick();
    options.env = vec![("KEY".into(), "secret".into())];
    options.strip_env = vec!["KEY".into()];
    let folder = tempfile::tempdir().unwrap();
    let hook = HookCommand {
        command,
        stdin_json,
        timeout,
        cwd: folder.path(),
        env: &[("EVENT".into(), "PreToolUse".into())],
    };
    run_hook(&Processes::new(options), hook, CancellationToken::new())
        .await
        .unwrap()
}

const PATIENT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_hook_reads_json_and_its_streams_are_told_apart() {
    let command = "read line; echo \"got $line $EVENT <$KEY>\"; echo no >&2; exit 2";
    let told = run(command, "{\"a\":1}\n", PATIENT).await;
    let wanted = HookOutput {
        code: Some(2),
        stdout: "got {\"a\":1} PreToolUse <>\n".to_owned(),
        stderr: "no\n".to_owned(),
        timed_out: false,
    };
    assert_eq!(told, wanted);
}

#[tokio::test]
async fn a_hook_need_not_read_what_it_is_given() {
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    let told = run("echo fine", &long, PATIENT).await;
    assert_eq!((told.code, told.stdout.as_str()), (Some(0), "fine\n"));
    let told = run("wc -c | tr -d ' '", &long, PATIENT).await;
    assert_eq!(told.stdout, format!("{}\n", long.len()));
}

#[tokio::test]
async fn a_hook_out_of_time_is_ended_with_what_it_started() {
    let command = "setsid sleep 600 & echo $!; sleep 600";
    let told = run(command, "{}", Duration::from_millis(100)).await;
    assert_eq!((told.code, told.timed_out), (None, true));
    let child = told.stdout.trim();
    assert!(!child.is_empty() && !is_alive(child), "{child:?}");
}

#[tokio::test]
async fn a_hook_says_no_more_than_it_may() {
    let told = run(
        "head -c 3000000 /dev/zero | tr '\\0' x; echo e >&2",
        "{}",
        PATIENT,
    )
    .await;
    assert_eq!((told.stdout.len(), told.stderr.as_str()), (1 << 20, "e\n"));
}
