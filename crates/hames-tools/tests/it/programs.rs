//! Whole programs, run for real: what is left of them afterwards is nothing.

use std::{path::Path, time::Duration};

use hames_tools::{EndCause, Mark, Program, ProgramEnd, Stream, run_program};
use tokio_util::sync::CancellationToken;

struct Ran {
    end: ProgramEnd,
    out: String,
    err: String,
}

async fn run(script: &str, timeout: Duration, mark: &Mark) -> Ran {
    let env = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let program = Program {
        program: Path::new("/bin/sh"),
        args: &["-c", script],
        cwd: Path::new("/"),
        env: &env,
        stdin: Some(b"told\n"),
        merged: false,
        timeout,
        grace: Duration::from_millis(50),
        mark,
        thorough: false,
        cancel: CancellationToken::new(),
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut listen = |stream, piece: &[u8]| match stream {
        Stream::Out => out.extend_from_slice(piece),
        Stream::Err => err.extend_from_slice(piece),
    };
    let end = run_program(program, &mut listen).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        end,
        out: text(out),
        err: text(err),
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_program_gets_its_own_variables_and_stdin_alone() {
    let mark = Mark::fresh();
    let script = "read word; echo \"$word\"; env | cut -d= -f1 | sort | tr '\\n' ' ' >&2; exit 7";
    let ran = run(script, LONG, &mark).await;
    assert_eq!(ran.out, "told\n");
    assert_eq!(ran.err, format!("{} PATH PWD ", mark.as_str()));
    let end = ProgramEnd {
        returncode: Some(7),
        cause: EndCause::ByItself,
        survivors: 0,
    };
    assert_eq!(ran.end, end);
}

#[tokio::test]
async fn req_w06_the_wall_limit_ends_those_who_ignore_the_polite_signal() {
    if !cfg!(target_os = "linux") {
        return println!("skipped: the process table is read on Linux only");
    }
    let script = "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $!; \
                  setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & \
                  while :; do sleep 1; done";
    let ran = run(script, Duration::from_millis(300), &Mark::fresh()).await;
    assert_eq!(ran.end.cause, EndCause::TimedOut);
    assert_eq!(ran.end.returncode, Some(-9));
    let pids: Vec<&str> = ran.out.lines().collect();
    assert_eq!(pids.len(), 2);
    assert_eq!(pids.into_iter().filter(|pid| is_alive(pid)).count(), 0);
}

#[tokio::test]
async fn req_w05_a_program_that_heeds_the_polite_signal_ends_by_it() {
    let ran = run("exec sleep 60", Duration::from_millis(100), &Mark::fresh()).await;
    assert_eq!(ran.end.returncode, Some(-15));
}

#[tokio::test]
async fn fault_n03_what_outlives_a_program_is_ended_and_counted() {
    if !cfg!(target_os = "linux") {
        return println!("skipped: the process table is read on Linux only");
    }
    let script = "setsid sleep 60 >/dev/null 2>&1 & echo $!; sleep 61 & echo $!";
    let ran = run(script, LONG, &Mark::fresh()).await;
    assert_eq!((ran.end.returncode, ran.end.survivors), (Some(0), 2));
    assert_eq!(ran.out.lines().filter(|pid| is_alive(pid)).count(), 0);
}

#[tokio::test]
async fn fault_n02_a_mark_that_was_written_down_finds_what_a_dead_caller_left() {
    if !cfg!(target_os = "linux") {
        return println!("skipped: the process table is read on Linux only");
    }
    let written = Mark::fresh();
    let mut left = std::process::Command::new("/bin/sh")
        .args(["-c", "sleep 60 & sleep 60"])
        .env(written.as_str(), "1")
        .spawn()
        .unwrap();
    let read_back = Mark::parse(written.as_str()).unwrap();
    while read_back_sees_fewer_than_two(left.id()) {
        std::thread::yield_now();
    }
    assert!(read_back.end(Duration::from_millis(50)).await >= 2);
    left.wait().unwrap();
    assert_eq!(read_back.end(Duration::from_millis(50)).await, 0);
    assert_eq!(Mark::parse("HOME"), None);
}

fn read_back_sees_fewer_than_two(shell: u32) -> bool {
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
    children.unwrap_or_default().split_whitespace().count() < 2
}
