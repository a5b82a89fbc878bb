//! The write law on real files: at every append, with every way in which a disk or process fails.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use hames_agent::{
    Transcript,
    journal::{Durability, Journal},
    replay,
    steering::Steering,
};
use hames_journal::{FileStore, Record, file::read_records};
use hames_testkit::{
    Anything, Rig, Script, asks,
    disks::{Fault, Plan},
    laws, render,
    rig::human,
    says,
};
use hames_types::{Entry, EventKind, Outcome};

fn script() -> Arc<Script> {
    Script::by_history(vec![
        asks(&[("a", "look", "{}"), ("b", "act", "{}")]),
        asks(&[("c", "run", "{}")]),
        asks(&[("d", "slow", "{}"), ("e", "look", "{}")]),
        says("done"),
    ])
}

/// What a run left behind, in memory and on disk.
struct Left {
    /// `None` when the session could not even be opened.
    live: Option<(Transcript, Outcome)>,
    shown: Vec<u64>,
    effects: Vec<String>,
    appends: usize,
}

async fn run(path: &Path, plan: &Plan) -> Left {
    let mut rig = Rig::new(script());
    let mut left = Left {
        live: None,
        shown: Vec::new(),
        effects: Vec::new(),
        appends: 0,
    };
    let Ok(store) = FileStore::create_on(plan.disk(), path, "/") else {
        return left;
    };
    rig.cx.policy = Arc::new(Anything);
    rig.cx.journal = Journal::new(Arc::new(store), Durability::Disk);
    rig.cx.steering = Steering::new(rig.cx.journal.clone());
    let mut events = rig.cx.journal.events(0);
    if let Ok(mut session) = rig.session() {
        let outcome = session.submit(human("go")).await;
        left.live = Some((session.transcript().clone(), outcome));
    }
    while let Some(event) = events.try_next() {
        if let EventKind::Entry { seq, .. } = event.kind {
            left.shown.push(seq);
        }
    }
    left.effects = rig.world.calls();
    left.appends = plan.appends();
    left
}

fn started(records: &[Record]) -> BTreeSet<String> {
    let started = records.iter().filter_map(|record| match &record.entry {
        Entry::ToolStarted { call, .. } => Some(call.0.to_string()),
        _ => None,
    });
    started.collect()
}

#[tokio::test(start_paused = true)]
async fn req_q01_whatever_fails_at_whichever_append_the_file_says_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run(
        &folder.path().join("whole.jsonl"),
        &Plan::new(Fault::NoSpace, 999),
    )
    .await;
    assert!(whole.appends > 20, "{} appends show nothing", whole.appends);
    for fault in Fault::ALL {
        for at in 0..whole.appends {
            let path = folder.path().join(format!("{fault:?}-{at}.jsonl"));
            let plan = Plan::new(fault, at);
            let left = run(&path, &plan).await;
            plan.lose_what_was_not_synced(&path).unwrap();
            holds(fault, at, &path, &left);
            resumes(&path).await;
        }
    }
}

/// The file, opened again, holds what was acknowledged, and announces every effect.
fn holds(fault: Fault, at: usize, path: &Path, left: &Left) {
    let Ok(reopened) = FileStore::open(path) else {
        assert!(
            left.shown.is_empty() || fault == Fault::PowerLost,
            "{fault:?} at {at}"
        );
        assert!(
            left.effects.iter().all(|call| is_local(call)),
            "{fault:?} at {at}"
        );
        return;
    };
    drop(reopened);
    let records: Vec<_> = read_records(path, 0).unwrap().map(Result::unwrap).collect();
    let kept: Vec<_> = records.iter().map(|record| record.seq).collect();
    let announced = started(&records);
    match fault {
        // An unsynced look or edit may be forgotten; what left the workspace may not.
        Fault::PowerLost => {
            let outside = left.effects.iter().filter(|call| !is_local(call));
            assert!(
                outside.clone().all(|call| announced.contains(call)),
                "at {at}"
            );
        }
        Fault::KilledInside
        | Fault::KilledBehind
        | Fault::ShortWrite
        | Fault::NoSpace
        | Fault::Broken => {
            assert!(kept.starts_with(&left.shown), "{fault:?} at {at}");
            assert!(kept.len() <= left.shown.len() + 1, "{fault:?} at {at}");
            assert!(
                left.effects.iter().all(|call| announced.contains(call)),
                "{fault:?} at {at}"
            );
        }
    }
    if let (Some((live, _)), false) = (
        &left.live,
        fault == Fault::KilledBehind || fault == Fault::PowerLost,
    ) {
        let replayed = replay(records).transcript;
        assert_eq!(render(&replayed), render(live), "{fault:?} at {at}");
    }
}

/// `run` leaves the workspace; the others do not.
fn is_local(call: &str) -> bool {
    call != "c"
}

/// However it was left, the session opens, finishes, and begins no announced effect again.
async fn resumes(path: &Path) {
    let Ok(store) = FileStore::open(path) else {
        return;
    };
    let before: Vec<_> = read_records(path, 0).unwrap().map(Result::unwrap).collect();
    let mut rig = Rig::new(script());
    rig.cx.policy = Arc::new(Anything);
    rig.cx.journal = Journal::new(Arc::new(store), Durability::Os);
    rig.cx.steering = Steering::new(rig.cx.journal.clone());
    let mut session = rig.session().unwrap();
    let outcome = match session.continue_pending().await {
        Some(outcome) => outcome,
        None if before
            .iter()
            .any(|record| matches!(record.entry, Entry::User { .. })) =>
        {
            Outcome::Completed
        }
        None => session.submit(human("go")).await,
    };
    assert_eq!(outcome, Outcome::Completed, "{path:?}");
    laws::answered(session.transcript());
    let again = rig.world.calls();
    assert!(
        !again.iter().any(|call| started(&before).contains(call)),
        "{path:?}: {again:?}"
    );
}
