//! Live progress: on a terminal, in a log, and for others to watch.
#![allow(clippy::unwrap_used)]

use std::{fs, sync::Mutex, time::Duration};

use hames_eval::{
    event::{Event, Observer, TrialId},
    progress::{Progress, SILENCE, Snapshot, Watch, block, line, progress_file},
    record::{Failure, FailureClass, InstanceResult},
    stage::{Stage, StageState},
};
use tempfile::tempdir;

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn trial(instance: &str, trial: u32) -> TrialId {
    TrialId {
        instance: instance.to_owned(),
        trial,
    }
}

fn begins(worker: usize, instance: &str, stage: Stage) -> Event {
    Event::StageStarted {
        worker,
        trial: trial(instance, 1),
        stage,
    }
}

fn stage_ends(worker: usize, instance: &str, stage: Stage) -> Event {
    Event::StageEnded {
        worker,
        trial: trial(instance, 1),
        stage,
        state: StageState::Done,
        seconds: 7.0,
    }
}

fn speaks(worker: usize, instance: &str) -> Event {
    Event::AgentSpoke {
        worker,
        trial: trial(instance, 1),
    }
}

fn ends(worker: usize, instance: &str, failure: Option<FailureClass>) -> Event {
    let failure = failure.map(|class| Failure {
        class,
        stage: Stage::Score,
        message: "what \u{1b}[31mwent\u{1b}[0m wrong".to_owned(),
    });
    let mut result = InstanceResult {
        instance_id: instance.to_owned(),
        resolved: failure.is_none(),
        cost_usd: Some(0.5),
        failure,
        ..InstanceResult::default()
    };
    result.usage.input = 1_000;
    result.usage.output = 10;
    Event::TrialEnded {
        worker,
        trial: trial(instance, 1),
        result: Box::new(result),
    }
}

/// Two workers, five trials, at 00:04:00.
fn under_way() -> Progress {
    let mut progress = Progress::new("run", SILENCE);
    let events = [
        (
            0,
            Event::RunStarted {
                trials: 5,
                workers: 2,
            },
        ),
        (0, begins(0, "a__a-1", Stage::Prepare)),
        (0, begins(1, "b__b-2", Stage::Solve)),
        (10, stage_ends(0, "a__a-1", Stage::Prepare)),
        (10, begins(0, "a__a-1", Stage::Solve)),
        (60, ends(1, "b__b-2", None)),
        (60, begins(1, "ç__漢字-3", Stage::Solve)),
        (100, ends(0, "a__a-1", Some(FailureClass::Infrastructure))),
        (100, begins(0, "d__d-4", Stage::Score)),
        (230, speaks(1, "ç__漢字-3")),
    ];
    for (at, event) in events {
        progress.see(&event, secs(at));
    }
    progress
}

#[test]
fn req_w16_workers_spend_and_what_is_left_are_shown() {
    let progress = under_way();
    let shown = block(&progress.snapshot(secs(240), ""), 100);
    let expected = [
        // Trials took 60 and 100 s: the fifth is to come, and the two that run are over their time.
        "█████████░░░░░░░░░░░░░░░ 2/5 done, 4 min 00 s, about 40 s left",
        "  1 of 1 resolved, 1 left out; $1.00, 2000 tokens in, 20 out",
        "  w1  d__d-4     S6_score        2 min 20 s",
        "  w2  ç__漢字-3  S4_solve        3 min 00 s",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn req_w16_a_silent_agent_is_reported_within_the_threshold_once() {
    let mut progress = under_way();
    assert_eq!(progress.fell_silent(secs(349)), Vec::<String>::new());
    let told = progress.fell_silent(secs(350));
    let expected = "00:05:50 ç__漢字-3: the agent has been silent for 2 min 00 s (w2)";
    assert_eq!(told, [expected]);
    assert_eq!(progress.fell_silent(secs(400)), Vec::<String>::new());
    let shown = block(&progress.snapshot(secs(400), ""), 100);
    assert!(
        shown.last().unwrap().ends_with("! silent for 2 min 50 s"),
        "{shown:?}"
    );
    // A word, and a new silence is a new report. S6 of the other worker is never one.
    progress.see(&speaks(1, "ç__漢字-3"), secs(401));
    assert!(
        block(&progress.snapshot(secs(402), ""), 100)
            .iter()
            .all(|line| !line.contains('!'))
    );
    assert_eq!(progress.fell_silent(secs(521)).len(), 1);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;
    let progress = under_way();
    for width in [20, 40, 61, 80] {
        let lines = block(&progress.snapshot(secs(900), ""), width);
        assert!(
            lines.iter().all(|line| line.width() <= width),
            "{width}: {lines:?}"
        );
    }
}

#[test]
fn what_was_done_before_is_no_measure_of_what_is_left() {
    let mut progress = Progress::new("run", SILENCE);
    progress.see(
        &Event::RunStarted {
            trials: 3,
            workers: 1,
        },
        secs(0),
    );
    progress.see(&begins(0, "a__a-1", Stage::Record), secs(0));
    progress.see(&ends(0, "a__a-1", None), secs(0));
    assert_eq!(progress.snapshot(secs(1), "").eta_seconds, None);
    progress.see(&begins(0, "b__b-2", Stage::Solve), secs(1));
    progress.see(&ends(0, "b__b-2", None), secs(31));
    assert_eq!(progress.snapshot(secs(31), "").eta_seconds, Some(30.0));
}

#[test]
fn a_log_has_a_line_for_each_step_and_none_for_each_word() {
    let at = secs(3_725);
    let lines = [
        line(
            &Event::RunStarted {
                trials: 5,
                workers: 1,
            },
            at,
        ),
        line(&begins(0, "a__a-1", Stage::Solve), at),
        line(&stage_ends(0, "a__a-1", Stage::Solve), at),
        line(&speaks(0, "a__a-1"), at),
        line(&ends(0, "a__a-1", Some(FailureClass::Unresolved)), at),
        line(
            &Event::Note {
                trial: None,
                text: "one\ntwo".to_owned(),
            },
            at,
        ),
    ];
    let expected = [
        Some("01:02:05 5 trials for 1 worker"),
        Some("01:02:05 a__a-1 S4_solve begins (w1)"),
        Some("01:02:05 a__a-1 S4_solve is done, 7.0 s"),
        None,
        Some("01:02:05 a__a-1 unresolved: what went wrong; 0.0 s, $0.500"),
        Some("01:02:05 one two"),
    ];
    assert_eq!(lines.each_ref().map(Option::as_deref), expected);
}

#[tokio::test(start_paused = true)]
async fn others_can_watch_it_and_it_is_not_written_for_each_word() {
    let dir = tempdir().unwrap();
    assert_eq!(Snapshot::read(dir.path()).unwrap(), None);
    let said = Mutex::new(Vec::new());
    let watch = Watch::new("run", SILENCE, Some(dir.path()), |line: &str| {
        said.lock().unwrap().push(line.to_owned());
    });
    let read = || Snapshot::read(dir.path()).unwrap().unwrap();
    watch.see(&Event::RunStarted {
        trials: 1,
        workers: 1,
    });
    assert_eq!(read().trials, 1);
    watch.see(&begins(0, "a__a-1", Stage::Solve));
    assert_eq!(read().workers.len(), 0, "written twice within a second");
    tokio::time::advance(secs(1)).await;
    watch.tick();
    let worker = read().workers.remove(0);
    assert_eq!(
        (worker.worker, worker.stage, worker.stage_seconds),
        (1, Some(Stage::Solve), 1.0)
    );
    tokio::time::advance(secs(119)).await;
    watch.tick();
    watch.see(&ends(0, "a__a-1", None));
    watch.finish();
    let last = read();
    assert_eq!(
        (last.tally.done, last.tally.resolved, last.workers.len()),
        (1, 1, 0)
    );
    assert_eq!(last.elapsed_seconds, 120.0);
    assert_eq!(block(&last, 60), watch.block(60));
    let expected = [
        "00:00:00 1 trial for 1 worker",
        "00:00:00 a__a-1 S4_solve begins (w1)",
        "00:02:00 a__a-1: the agent has been silent for 2 min 00 s (w1)",
        "00:02:00 a__a-1 resolved; 0.0 s, $0.500",
    ];
    assert_eq!(*said.lock().unwrap(), expected);
}

#[tokio::test]
async fn an_observer_that_fails_breaks_nothing_and_says_so() {
    let dir = tempdir().unwrap();
    // A folder is where the file should be.
    fs::create_dir(progress_file(dir.path())).unwrap();
    let watch = Watch::new("run", SILENCE, Some(dir.path()), |_: &str| {
        panic!("the terminal is gone")
    });
    watch.see(&Event::RunStarted {
        trials: 1,
        workers: 1,
    });
    watch.see(&ends(0, "a__a-1", None));
    watch.finish();
    assert_eq!(watch.snapshot().tally.done, 1);
    let notes = watch.notes();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("progress.json is not written"))
    );
}
