//! What a command starts, and that nothing of it survives where nothing should.

use std::{path::Path, time::Duration};

use hames_tools::{ProcessOptions, TimeLimits};
use serde_json::json;

use crate::bench::{Bench, is_alive, quick, until};

pub fn pids(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

pub fn has_proc() -> bool {
    let there = Path::new("/proc/self/stat").exists();
    if !there {
        println!("skipped: there is no /proc to look for survivors in");
    }
    there
}

/// Runs a command that never ends and writes down the pids of what it starts, until all of
/// `count` are there; then ends it by `cancel`.
pub async fn run_and_cancel(bench: &Bench, command: &str, count: usize) -> String {
    let watch = async {
        until(|| pids(&bench.workspace).len() >= count).await;
        bench.cancel.cancel();
    };
    let (told, ()) = tokio::join!(bench.err("bash", json!({ "command": command })), watch);
    told
}

const FAMILY: &str = "
    echo $$ >> pids
    (echo $BASHPID >> pids; exec sleep 600) &
    setsid sh -c 'echo $$ >> pids; exec sleep 600' &
    setsid sh -c 'echo $$ >> pids; (trap \"\" TERM; sh -c \"echo \\$\\$ >> pids; exec sleep 600\"); sleep 600' > /dev/null 2>&1 &
    echo ready
    wait
";

#[tokio::test]
async fn req_g02_nothing_of_a_cancelled_command_survives() {
    if !has_proc() {
        return;
    }
    let bench = Bench::new();
    let told = run_and_cancel(&bench, FAMILY, 5).await;
    assert!(
        told.starts_with("ready\n[interrupted; it was killed"),
        "{told}"
    );
    let left: Vec<_> = pids(&bench.workspace)
        .into_iter()
        .filter(|pid| is_alive(pid))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test]
async fn fault_e02_nothing_of_a_command_that_is_out_of_time_survives() {
    if !has_proc() {
        return;
    }
    let limits = TimeLimits {
        default: Duration::from_millis(300),
        most: Duration::from_secs(30),
    };
    let bench = Bench::new().set(|config| config.time = limits);
    let command = format!("trap '' TERM; {FAMILY}");
    let told = bench.err("bash", json!({ "command": command })).await;
    assert!(told.contains("timed out after 0.3 s"), "{told}");
    let left: Vec<_> = pids(&bench.workspace)
        .into_iter()
        .filter(|pid| is_alive(pid))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test]
async fn a_command_that_is_asked_to_end_may_tidy_up() {
    let bench = Bench::new();
    let command = "trap 'echo tidied; exit' TERM; echo $$ >> pids; while :; do sleep 0.01; done";
    let told = run_and_cancel(&bench, command, 1).await;
    assert!(told.contains("tidied\n[interrupted"), "{told}");
}

#[tokio::test]
async fn nothing_of_a_call_that_is_dropped_survives() {
    if !has_proc() {
        return;
    }
    let bench = Bench::new();
    tokio::select! {
        told = bench.call("bash", json!({ "command": FAMILY })) => panic!("{told:?}"),
        () = until(|| pids(&bench.workspace).len() >= 5) => {}
    }
    until(|| !pids(&bench.workspace).iter().any(|pid| is_alive(pid))).await;
}

#[tokio::test]
async fn fault_e01_a_background_child_with_the_pipe_in_hand_delays_nobody_and_lives_on() {
    if !has_proc() {
        return;
    }
    let bench = Bench::new();
    let command = "(echo $BASHPID > pids; while :; do echo tick; sleep 0.01; done) & \
                   until [ -s pids ]; do :; done; echo started";
    let told = bench.ok("bash", json!({ "command": command })).await;
    let pid = pids(&bench.workspace).remove(0);
    assert!(
        told.contains("started\n") && told.contains("[still running in the background: pid "),
        "{told}"
    );
    let log = bench.outputs().join("a.call_1-1.txt");
    assert!(
        told.contains(&format!("; its output goes on in {}]", log.display())),
        "{told}"
    );
    // Its output goes on being read: it is neither stuck nor ended by a pipe that nobody reads.
    let len = std::fs::metadata(&log).unwrap().len();
    until(|| std::fs::metadata(&log).unwrap().len() > len + 50).await;
    let processes = bench.config.processes.clone();
    assert!(processes.background().contains(&pid.parse().unwrap()));
    processes.kill_all().await;
    assert!(!is_alive(&pid));
    assert_eq!(processes.background(), Vec::<u32>::new());
}

#[tokio::test]
async fn fault_e04_a_background_child_without_the_pipe_lives_on_until_the_session_ends() {
    if !has_proc() {
        return;
    }
    let bench = Bench::new();
    let command = "sleep 600 > /dev/null 2>&1 & echo $! > pids";
    let told = bench.ok("bash", json!({ "command": command })).await;
    let pid = pids(&bench.workspace).remove(0);
    assert_eq!(
        told,
        format!("[exit code 0, no output]\n[still running in the background: pid {pid}]\n")
    );
    bench.ok("bash", json!({ "command": "true" })).await;
    assert!(is_alive(&pid));
    bench.config.processes.kill_all().await;
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn fault_e08_a_background_child_that_sheds_its_signs_later_is_known_all_the_same() {
    if !has_proc() {
        return;
    }
    let bench = Bench::new();
    // Once the call is over it leaves its group, its session and its mark: its number stays.
    let command = "(until [ -e go ]; do sleep 0.01; done; exec env -i PATH=\"$PATH\" setsid sleep 600) \
                   > /dev/null 2>&1 & echo $! > pids";
    bench.ok("bash", json!({ "command": command })).await;
    let pid = pids(&bench.workspace).remove(0);
    bench.put("go", "");
    let runs = || std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    until(|| runs() == b"sleep\x00600\0").await;
    let processes = bench.config.processes.clone();
    assert_eq!(processes.background(), [pid.parse::<u32>().unwrap()]);
    processes.kill_all().await;
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn fault_e08_a_daemon_is_ended_with_the_session_that_started_it() {
    if !has_proc() {
        return;
    }
    for by_drop in [false, true] {
        let bench = Bench::new();
        let command = "setsid sh -c 'echo $$ > pids; exec sleep 600' > /dev/null 2>&1 < /dev/null & \
                       until [ -s pids ]; do :; done";
        bench.ok("bash", json!({ "command": command })).await;
        let pid = pids(&bench.workspace).remove(0);
        assert!(is_alive(&pid));
        match by_drop {
            true => drop(bench),
            false => bench.config.processes.kill_all().await,
        }
        until(|| !is_alive(&pid)).await;
    }
}

#[tokio::test]
async fn fault_e02_process_substitution_delays_nobody() {
    let bench = Bench::new().set(|config| config.shell = Some("/bin/bash".into()));
    if !Path::new("/bin/bash").exists() {
        return println!("skipped: there is no bash");
    }
    let command = "echo hello > >(sleep 600; cat); echo over";
    let told = bench.ok("bash", json!({ "command": command })).await;
    assert!(
        told.starts_with("over\n[still running in the background"),
        "{told}"
    );
    let command = "echo hello | tee >(cat >&2) > /dev/null; echo over";
    let told = bench.ok("bash", json!({ "command": command })).await;
    let mut lines: Vec<_> = told.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["hello", "over"], "{told}");
}

#[tokio::test]
async fn req_l16_eight_commands_run_side_by_side() {
    let bench = Bench::new();
    // Each waits until all eight are there: one after the other they would never end.
    let command = |n: usize| {
        let wait = "while [ $(ls here-* | wc -l) -lt 8 ]; do sleep 0.01; done";
        json!({ "command": format!("touch here-{n}; {wait}; echo {n}") })
    };
    let calls = [0, 1, 2, 3, 4, 5, 6, 7]
        .map(command)
        .map(|input| bench.ok("bash", input));
    let [a, b, c, d, e, f, g, h] = calls;
    let told = tokio::join!(a, b, c, d, e, f, g, h);
    let told = [
        told.0, told.1, told.2, told.3, told.4, told.5, told.6, told.7,
    ];
    assert_eq!(told, [0, 1, 2, 3, 4, 5, 6, 7].map(|n| format!("{n}\n")));
}

#[tokio::test]
async fn fault_e02_those_who_end_when_they_are_asked_delay_nobody() {
    if !has_proc() {
        return;
    }
    let bench = Bench::with(ProcessOptions {
        subreaper: true,
        // Nobody who is waited for needs it: the test would run out of time.
        grace: Duration::from_secs(60),
        ..quick()
    });
    let command = "sleep 600 & echo $! >> pids; echo $$ >> pids; sleep 600";
    let told = tokio::time::timeout(Duration::from_secs(20), run_and_cancel(&bench, command, 2));
    assert!(told.await.unwrap().starts_with("[interrupted"));
    assert!(!pids(&bench.workspace).iter().any(|pid| is_alive(pid)));
}

#[tokio::test]
async fn fault_e08_orphans_that_have_ended_are_buried() {
    if !has_proc() || !cfg!(target_os = "linux") {
        return;
    }
    let options = ProcessOptions {
        subreaper: true,
        ..quick()
    };
    let bench = Bench::with(options);
    let command = "(echo $BASHPID >> pids; exec sleep 0.05) & setsid sh -c 'echo $$ >> pids; exec sleep 0.05' & \
                   until [ $(wc -l < pids) = 2 ]; do :; done";
    bench.ok("bash", json!({ "command": command })).await;
    let listed = |pid: &String| Path::new(&format!("/proc/{pid}")).exists();
    let buried = async {
        while pids(&bench.workspace).iter().any(listed) {
            bench.ok("bash", json!({ "command": "true" })).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), buried)
        .await
        .unwrap();
}
