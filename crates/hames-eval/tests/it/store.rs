//! The results store: idempotent, shared by processes, whole after a kill, rebuilt from the runs.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use hames_eval::{
    experiment::{Experiment, write_atomically},
    record::{AdapterAttempt, Failure, FailureClass, InstanceResult},
    stage::{Stage, StageState},
    store::{Appended, Store, StoreError, VERSION},
    test_lists::TestLists,
};
use tempfile::tempdir;

fn result(run: &str, instance: &str, trial: u32, resolved: bool) -> InstanceResult {
    let failure = (!resolved).then(|| Failure {
        class: FailureClass::Unresolved,
        stage: Stage::Score,
        message: "1 of 2 tests fails".to_owned(),
    });
    InstanceResult {
        instance_id: instance.to_owned(),
        run_id: run.to_owned(),
        trial,
        model: "a/model".to_owned(),
        adapter: "replay".to_owned(),
        dataset: "mini".to_owned(),
        resolved,
        report_source: "v5".to_owned(),
        cost_usd: Some(0.25),
        stages: [(Stage::Solve, StageState::Done)].into(),
        stage_timings: [(Stage::Solve, 2.5), (Stage::Score, 0.5)].into(),
        fail_to_pass: TestLists {
            pass: vec!["tests/test_ä.py::test_one".to_owned()],
            fail: vec!["test_two".to_owned()],
            left_out: Vec::new(),
        },
        adapter_attempts: vec![AdapterAttempt {
            adapter: "replay".to_owned(),
            returncode: Some(-15),
            killed: true,
            ..AdapterAttempt::default()
        }],
        failure,
        generated_at: format!("2026-01-01T00:00:0{trial}Z"),
        ..InstanceResult::default()
    }
}

fn lines(root: &Path) -> Vec<InstanceResult> {
    let text = fs::read_to_string(Store::lines(root)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_result_is_stored_once_and_comes_back_whole() {
    let root = tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let first = result("run", "pallets__flask-1", 1, false);
    assert_eq!(store.append(&first).unwrap(), Appended::New);
    assert_eq!(store.append(&first).unwrap(), Appended::Known);
    let regraded = result("run", "pallets__flask-1", 1, true);
    assert_eq!(store.append(&regraded).unwrap(), Appended::Replaced);
    let second = result("run", "pallets__flask-1", 2, false);
    assert_eq!(store.append(&second).unwrap(), Appended::New);
    let stored = Store::open(root.path()).unwrap().results("run").unwrap();
    assert_eq!(stored, [regraded.clone(), second.clone()]);
    assert_eq!(lines(root.path()), [first, regraded, second]);
}

#[test]
fn users_can_ask_for_what_is_in_it() {
    let root = tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let mut broken = result("run", "psf__requests-9", 1, false);
    broken.failure.as_mut().unwrap().class = FailureClass::Infrastructure;
    let trials = [
        result("run", "pallets__flask-1", 1, true),
        result("run", "pallets__flask-1", 2, false),
        result("run", "psf__requests-2", 1, true),
        broken,
    ];
    for trial in &trials {
        store.append(trial).unwrap();
    }
    let asked = [
        ("SELECT resolved_pct FROM resolved_by_run", "75"),
        (
            "SELECT resolved_pct FROM resolved_by_repository WHERE repository = 'pallets/flask'",
            "50",
        ),
        ("SELECT cost_per_resolved FROM cost_by_run", "0.5"),
        ("SELECT trials FROM failures_by_run WHERE NOT counted", "1"),
        ("SELECT count(*) FROM tests WHERE verdict = 'fail'", "4"),
        ("SELECT count(*) FROM attempts WHERE returncode = -15", "4"),
        (
            "SELECT sum(seconds) FROM stages WHERE stage = 'S4_solve'",
            "10",
        ),
    ];
    for (sql, expected) in asked {
        assert_eq!(
            store.value(sql).unwrap().as_deref(),
            Some(expected),
            "{sql}"
        );
    }
    let runs = store.runs().unwrap();
    let run = runs.first().unwrap();
    assert_eq!((run.trials, run.counted, run.instances), (4, 3, 2));
    assert_eq!((run.resolved_pct, run.cost_usd), (Some(75.0), Some(1.0)));
}

#[test]
fn a_torn_last_line_is_cut_off_and_a_whole_one_ended() {
    let root = tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let first = result("run", "a__b-1", 1, true);
    store.append(&first).unwrap();
    let file = Store::lines(root.path());
    let whole = fs::read_to_string(&file).unwrap();
    // Longer than one piece that is read at the end.
    let torn = format!("{whole}{{\"instance_id\": \"{}", "é".repeat(9_000));
    fs::write(&file, torn).unwrap();
    let second = result("run", "a__b-2", 1, true);
    store.append(&second).unwrap();
    assert_eq!(lines(root.path()), [first.clone(), second.clone()]);

    let unended = fs::read_to_string(&file).unwrap();
    fs::write(&file, unended.trim_end()).unwrap();
    let third = result("run", "a__b-3", 1, true);
    store.append(&third).unwrap();
    assert_eq!(lines(root.path()), [first, second, third]);
}

#[test]
fn a_newer_store_and_a_foreign_database_are_refused() {
    let root = tempdir().unwrap();
    drop(Store::open(root.path()).unwrap());
    let file = Store::database(root.path());
    let set = |pragma: &str, value: u32| {
        let other = rusqlite::Connection::open(&file).unwrap();
        other.pragma_update(None, pragma, value).unwrap();
    };
    set("user_version", VERSION + 1);
    let refused = Store::open(root.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found, .. } if found == VERSION + 1));
    let expected = format!(
        "{} has schema 2, and this program knows up to 1: use the version of hames that wrote it, or move it away and rebuild it from the runs",
        file.display()
    );
    assert_eq!(refused.to_string(), expected);
    set("application_id", 7);
    let refused = Store::open(root.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Foreign(_)), "{refused}");
}

#[test]
fn the_store_is_rebuilt_from_the_runs_and_a_damaged_one_put_aside() {
    let root = tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    store.append(&result("gone", "a__b-1", 1, true)).unwrap();
    drop(store);
    let kept = [
        result("run", "a__b-1", 1, true),
        result("run", "a__b-1", 2, false),
    ];
    let run = Experiment::new(root.path(), "run");
    for result in &kept {
        let mut older = result.clone();
        older.run_id = String::new();
        let text = serde_json::to_vec(&older).unwrap();
        let place = run.trial(&result.instance_id, result.trial).result();
        write_atomically(&place, &text).unwrap();
    }
    write_atomically(&run.trial("a__b-3", 1).result(), b"{\"instance_id\": 3").unwrap();
    fs::write(
        Store::database(root.path()),
        b"not a database, and long enough".repeat(40),
    )
    .unwrap();
    let damaged = Store::open(root.path()).unwrap_err();
    assert!(matches!(damaged, StoreError::Damaged(_)), "{damaged}");

    let (store, rebuilt) = Store::rebuild(root.path()).unwrap();
    assert_eq!((rebuilt.results, rebuilt.unreadable.len()), (2, 1));
    assert!(rebuilt.unreadable.first().unwrap().contains("a__b-3"));
    let aside = rebuilt.put_aside.unwrap();
    assert_eq!(aside.file_name().unwrap(), "results.sqlite.damaged-1");
    assert_eq!(store.results("run").unwrap(), kept);
    assert_eq!(lines(root.path()), kept);
    assert_eq!(store.runs().unwrap().len(), 1);
}

const ROOT: &str = "HAMES_TEST_STORE";

/// The other process of the two tests below; alone it does nothing.
#[test]
fn appends_until_it_is_ended() {
    let Ok(told) = std::env::var(ROOT) else {
        return;
    };
    let (root, run) = told.split_once('|').unwrap();
    let store = Store::open(Path::new(root)).unwrap();
    for trial in 1.. {
        store.append(&result(run, "a__b-1", trial, true)).unwrap();
        println!("appended {trial}");
    }
}

fn writer(root: &Path, run: &str) -> std::process::Child {
    let told = format!("{}|{run}", root.display());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::appends_until_it_is_ended", "--nocapture"])
        .env(ROOT, told)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Until so many appends of it are acknowledged; then it is killed.
fn kill_after(mut child: std::process::Child, appends: u32) {
    let said = BufReader::new(child.stdout.take().unwrap());
    let last = format!("appended {appends}");
    let _ = said
        .lines()
        .map_while(Result::ok)
        .find(|line| line.ends_with(&last));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_writer_that_is_killed_loses_nothing_it_acknowledged() {
    let root = tempdir().unwrap();
    for (run, appends) in [("one", 1), ("two", 2), ("three", 5)] {
        kill_after(writer(root.path(), run), appends);
        let store = Store::open(root.path()).unwrap();
        assert!(store.results(run).unwrap().len() >= appends as usize);
        // Mends what was torn, and goes on.
        store.append(&result(run, "z__z-1", 1, true)).unwrap();
        let stored: usize = store
            .value("SELECT count(*) FROM results")
            .unwrap()
            .unwrap()
            .parse()
            .unwrap();
        assert!(lines(root.path()).len() >= stored);
    }
}

#[test]
fn processes_share_it() {
    let root = tempdir().unwrap();
    let writers = ["one", "two", "three"].map(|run| (run, writer(root.path(), run)));
    for (_, child) in writers {
        kill_after(child, 10);
    }
    let store = Store::open(root.path()).unwrap();
    for run in ["one", "two", "three"] {
        assert!(store.results(run).unwrap().len() >= 10);
    }
    assert!(lines(root.path()).len() >= 30);
}
