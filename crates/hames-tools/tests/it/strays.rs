//! Children that hide from every sign but the system's own: their cgroup, or whom orphans come to.
//!
//! Both belong to a whole operating system process, so each of these tests has one to itself.

use std::{fs, path::PathBuf, process::Command};

use hames_tools::{ProcessOptions, Processes};
use serde_json::json;

use crate::{
    bench::{Bench, is_alive, quick, until},
    processes::{has_proc, pids, run_and_cancel},
};

/// True in a process of its own; elsewhere the test is run in one.
fn alone(test: &str) -> bool {
    const ALONE: &str = "HAMES_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut own = Command::new(std::env::current_exe().unwrap());
    own.args(["--exact", &format!("strays::{test}"), "--nocapture"]);
    let output = own.env(ALONE, "1").output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&told)
    );
    false
}

fn in_cgroup() -> ProcessOptions {
    ProcessOptions {
        cgroup: true,
        ..quick()
    }
}

fn of_orphans() -> ProcessOptions {
    ProcessOptions {
        subreaper: true,
        ..quick()
    }
}

/// Each way by itself, and both as the binary has them; those that this machine has.
fn ways() -> Vec<ProcessOptions> {
    if !has_proc() || !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let mut ways = vec![of_orphans()];
    if Processes::new(in_cgroup()).has_cgroups() {
        let both = ProcessOptions {
            subreaper: true,
            ..in_cgroup()
        };
        // Once asked for, orphans come to this process for ever.
        ways = vec![in_cgroup(), of_orphans(), both];
    } else {
        println!("skipped in part: no cgroup (v2) can be made here");
    }
    ways
}

/// Without the mark, without its group, without its parents.
const HIDE: &str = "
    env -i PATH=\"$PATH\" setsid sh -c '(echo $PPID > /dev/null; sh -c \"echo \\$\\$ >> pids; exec sleep 600\" &) ' > /dev/null 2>&1
    until [ -s pids ]; do :; done
";

/// The folder of the cgroup that this process is in.
fn own_group() -> Option<String> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(path.to_owned())
}

#[tokio::test]
async fn req_g02_what_hides_does_not_survive_a_call_that_is_ended() {
    if !alone("req_g02_what_hides_does_not_survive_a_call_that_is_ended") {
        return;
    }
    for way in ways() {
        let bench = Bench::with(way.clone());
        run_and_cancel(&bench, &format!("{HIDE} sleep 600"), 1).await;
        let pid = pids(&bench.workspace).remove(0);
        assert!(!is_alive(&pid), "{pid} has survived {way:?}");
    }
}

#[tokio::test]
async fn fault_e08_what_hides_is_told_of_and_ended_with_the_session() {
    if !alone("fault_e08_what_hides_is_told_of_and_ended_with_the_session") {
        return;
    }
    for way in ways().into_iter().filter(|way| way.cgroup) {
        for by_drop in [false, true] {
            let bench = Bench::with(way.clone());
            let told = bench.ok("bash", json!({ "command": HIDE })).await;
            let pid = pids(&bench.workspace).remove(0);
            let note = format!("still running in the background: pid {pid}]");
            assert!(told.contains(&note), "{told}");
            // It was there before the next call, which is none of its business.
            let told = bench.ok("bash", json!({ "command": "echo hello" })).await;
            assert_eq!(told, "hello\n");
            assert!(is_alive(&pid));
            match by_drop {
                true => drop(bench),
                false => bench.config.processes.kill_all().await,
            }
            until(|| !is_alive(&pid)).await;
        }
    }
}

/// Two workspaces of one session.
fn pair(way: ProcessOptions) -> (Bench, Bench) {
    let one = Bench::with(way);
    let processes = one.config.processes.clone();
    let other = Bench::new().set(|config| config.processes = processes);
    (one, other)
}

#[tokio::test]
async fn req_g02_what_hides_from_one_call_survives_the_end_of_another() {
    if !alone("req_g02_what_hides_from_one_call_survives_the_end_of_another") {
        return;
    }
    for way in ways() {
        let (one, other) = pair(way.clone());
        let hide = format!(
            "until [ -e go ]; do sleep 0.01; done; {HIDE} until [ -e over ]; do sleep 0.01; done"
        );
        let hiding = one.ok("bash", json!({ "command": hide }));
        let ending = async {
            let command = "echo $$ > pids; exec sleep 600";
            let watch = async {
                until(|| !pids(&other.workspace).is_empty()).await;
                one.put("go", "");
                until(|| !pids(&one.workspace).is_empty()).await;
                other.cancel.cancel();
            };
            tokio::join!(other.err("bash", json!({ "command": command })), watch);
            let alive = is_alive(&pids(&one.workspace).remove(0));
            one.put("over", "");
            alive
        };
        let (_, alive) = tokio::join!(hiding, ending);
        assert!(alive, "it was another call's: {way:?}");
        let pid = pids(&one.workspace).remove(0);
        assert!(is_alive(&pid), "{way:?}");
        one.config.processes.kill_all().await;
        assert!(!is_alive(&pid), "{pid} has survived {way:?}");
    }
}

#[tokio::test]
async fn req_g02_what_hides_is_no_call_s_that_began_after_it() {
    if !alone("req_g02_what_hides_is_no_call_s_that_began_after_it") {
        return;
    }
    for way in ways() {
        let (one, other) = pair(way.clone());
        // Cancelled once the other call is under way, which adds a line to the list.
        let hide = format!("{HIDE} touch hidden; sleep 600");
        let hiding = run_and_cancel(&one, &hide, 2);
        let lasting = async {
            until(|| one.workspace.join("hidden").exists()).await;
            let command = "echo $$ > pids; until [ -e over ]; do sleep 0.01; done; echo over";
            let told = other.ok("bash", json!({ "command": command }));
            let watch = async {
                until(|| !pids(&other.workspace).is_empty()).await;
                one.put("pids", one.text("pids") + "go\n");
                let pid = pids(&one.workspace).remove(0);
                until(|| !is_alive(&pid)).await;
                other.put("over", "");
            };
            tokio::join!(told, watch).0
        };
        let (_, told) = tokio::join!(hiding, lasting);
        assert_eq!(told, "over\n", "{way:?}");
    }
}

#[tokio::test]
async fn req_g02_of_two_calls_that_end_at_once_neither_leaves_what_hides() {
    if !alone("req_g02_of_two_calls_that_end_at_once_neither_leaves_what_hides") {
        return;
    }
    for way in ways() {
        let bench = Bench::with(way.clone());
        let hide =
            format!("until [ -e there ]; do sleep 0.01; done; {HIDE} echo >> pids; sleep 600");
        let wait = json!({ "command": "touch there; sleep 600" });
        tokio::join!(run_and_cancel(&bench, &hide, 2), bench.err("bash", wait));
        let pid = pids(&bench.workspace).remove(0);
        assert!(!is_alive(&pid), "{pid} has survived {way:?}");
    }
}

#[tokio::test]
async fn children_of_others_in_this_process_are_left_alone() {
    if !alone("children_of_others_in_this_process_are_left_alone") {
        return;
    }
    for way in ways() {
        let bench = Bench::with(way.clone());
        bench.ok("bash", json!({ "command": "true" })).await;
        let other = Bench::new();
        let command = "setsid sleep 600 > /dev/null 2>&1 & echo $! > pids";
        other.ok("bash", json!({ "command": command })).await;
        let mut own = Command::new("sleep").arg("600").spawn().unwrap();
        let told = bench.ok("bash", json!({ "command": "echo hello" })).await;
        assert_eq!(told, "hello\n", "{way:?}");
        run_and_cancel(&bench, "echo $$ > pids; sleep 600", 1).await;
        bench.config.processes.kill_all().await;
        drop(bench);
        let alive = pids(&other.workspace).iter().all(|pid| is_alive(pid));
        assert!(alive && own.try_wait().unwrap().is_none(), "{way:?}");
        own.kill().unwrap();
        own.wait().unwrap();
    }
}

#[tokio::test]
async fn sessions_share_a_cgroup_and_the_last_leaves_none() {
    if !alone("sessions_share_a_cgroup_and_the_last_leaves_none") {
        return;
    }
    if !Processes::new(in_cgroup()).has_cgroups() {
        return println!("skipped: no cgroup (v2) can be made here");
    }
    let before = own_group();
    let dead = before.as_deref().and_then(folder_of).unwrap();
    // No pid is as large as that.
    let dead = dead.join("hames-x-4200000000");
    fs::create_dir(&dead).unwrap();
    let first = Bench::with(in_cgroup());
    assert_eq!(
        own_group(),
        before,
        "nothing is made before there is a child"
    );
    first.ok("bash", json!({ "command": "true" })).await;
    let within = own_group();
    assert_ne!(within, before);
    assert!(!dead.exists(), "one that was killed has left it");
    let second = Bench::with(in_cgroup());
    let seen = second
        .ok("bash", json!({ "command": "grep ^0:: /proc/self/cgroup" }))
        .await;
    assert_eq!(seen.trim().strip_prefix("0::").map(str::to_owned), within);
    let folder = folder_of(&within.unwrap());
    assert!(folder.is_some(), "it is nowhere to be seen");
    drop(first);
    // What hides is found as before.
    run_and_cancel(&second, &format!("{HIDE} sleep 600"), 1).await;
    assert!(!is_alive(&pids(&second.workspace).remove(0)));
    drop(second);
    assert_eq!(own_group(), before);
    assert!(!folder.is_some_and(|folder| folder.exists()));
}

/// Where a cgroup is mounted, by its name.
fn folder_of(path: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let points = mounts.lines().filter(|line| line.contains(" cgroup2 "));
    let points: Vec<PathBuf> = points
        .filter_map(|line| line.split(' ').nth(1))
        .map(PathBuf::from)
        .collect();
    let name = PathBuf::from(path);
    let below = name.strip_prefix("/").ok()?;
    let folders = points.iter().map(|point| point.join(below));
    folders.into_iter().find(|folder| folder.exists())
}
