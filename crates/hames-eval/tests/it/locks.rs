//! Locks between real processes: a live holder is named, a dead one holds nothing.

use std::{fs, path::Path, sync::Arc, time::Duration};

use hames_eval::{lock::Lock, stage::StageError};
use hames_tools::{Mark, Program, run_program};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::ground::Ground;

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn req_w15_what_a_live_process_holds_is_refused_by_its_name_and_a_dead_one_holds_nothing() {
    let ground = Ground::new();
    if ground.host.find("flock").is_none() {
        return println!("skipped: there is no flock");
    }
    let path = ground.path("trial.lock");
    let (held, stop) = (Arc::new(Notify::new()), CancellationToken::new());
    let holder = tokio::spawn(hold(
        path.clone(),
        held.clone(),
        stop.clone(),
        ground.host.plain_env(),
    ));
    held.notified().await;
    let pid: u32 = fs::read_to_string(&path).unwrap().trim().parse().unwrap();
    let refused = Lock::take(&path, "demo of run r1").unwrap_err();
    assert_eq!(
        refused,
        StageError::Locked {
            what: "demo of run r1".to_owned(),
            pid: Some(pid)
        }
    );
    let unsigned = StageError::Locked {
        what: "demo".to_owned(),
        pid: None,
    };
    assert!(
        unsigned
            .to_string()
            .starts_with("demo is in use by another process:"),
        "{unsigned}"
    );
    let expected = format!(
        "demo of run r1 is in use by process {pid}: wait for it, or give this run a --run-id of its own"
    );
    assert_eq!(refused.to_string(), expected);
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let waited = Lock::wait(&path, "demo", LONG, &cancelled)
        .await
        .unwrap_err();
    assert_eq!(waited, StageError::Interrupted);
    let waited = Lock::wait(&path, "demo", Duration::ZERO, &CancellationToken::new()).await;
    assert_eq!(
        waited.unwrap_err(),
        StageError::Locked {
            what: "demo".to_owned(),
            pid: Some(pid)
        }
    );

    let waiting = Lock::wait(&path, "demo", LONG, &stop);
    let waiting = tokio::time::timeout(Duration::from_millis(200), waiting).await;
    assert!(waiting.is_err(), "it is held");
    stop.cancel();
    holder.await.unwrap();
    // Its number is still in the file.
    assert_eq!(fs::read_to_string(&path).unwrap().trim(), pid.to_string());
    let lock = Lock::take(&path, "demo").unwrap();
    assert_eq!(
        fs::read_to_string(lock.path()).unwrap(),
        std::process::id().to_string()
    );
}

async fn hold(
    path: std::path::PathBuf,
    held: Arc<Notify>,
    stop: CancellationToken,
    env: Vec<(String, String)>,
) {
    let script = "exec 9<>\"$0\"; flock 9; echo $$ > \"$0\"; echo held; exec sleep 100";
    let program = Program {
        program: Path::new("/bin/sh"),
        args: &["-c", script, &path.to_string_lossy()],
        cwd: Path::new("/"),
        env: &env,
        stdin: None,
        merged: false,
        timeout: LONG,
        grace: Duration::from_millis(10),
        mark: &Mark::fresh(),
        thorough: false,
        cancel: stop,
    };
    run_program(program, &mut |_, _| held.notify_one())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_number_that_somebody_else_has_now_holds_nothing() {
    let ground = Ground::new();
    let path = ground.path("a.lock");
    fs::write(&path, "1").unwrap();
    let lock = Lock::take(&path, "a").unwrap();
    drop(lock);
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    Lock::take(&path, "a").unwrap();
}

#[tokio::test]
async fn of_many_who_wait_one_at_a_time_goes_in() {
    let ground = Ground::new();
    let path = ground.path("a.lock");
    let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tasks = (0..8).map(|_| {
        let (path, inside) = (path.clone(), inside.clone());
        tokio::spawn(async move {
            let _lock = Lock::wait(&path, "a", LONG, &CancellationToken::new())
                .await
                .unwrap();
            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
            tokio::task::yield_now().await;
            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}
