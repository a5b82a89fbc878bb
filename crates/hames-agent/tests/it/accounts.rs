//! The ledger and the run log: what a journal alone tells about a run.

use std::time::Duration;

use hames_agent::{
    ledger::{Ledger, Owners},
    logger::RunLog,
};
use hames_testkit::{
    Rig, Script, asks, fails,
    rig::{human, records},
    says,
};
use hames_types::{Outcome, ProviderErrorKind, Usage};
use serde_json::Value;

fn rig() -> Rig {
    let calls = [("a", "look", "{}"), ("b", "fail", "{}")];
    Rig::new(Script::in_order(vec![
        asks(&calls),
        fails(ProviderErrorKind::Overloaded),
        says("done"),
    ]))
}

#[tokio::test(start_paused = true)]
async fn req_c09_each_moment_has_one_owner_and_each_turn_one_model_step() {
    let rig = rig();
    let _ = rig.go().await.unwrap();
    let mut records = records(&*rig.memory);
    for (at, record) in (0..).zip(&mut records) {
        record.at = at * 10;
    }
    let whole = records.last().unwrap().at;
    let ledger = Ledger::of(records);
    assert_eq!(ledger.ends, [Outcome::Completed]);
    assert_eq!(ledger.time().total(), Duration::from_millis(whole));
    let [first, second] = &ledger.turns[..] else {
        panic!("{ledger:?}");
    };
    let ms = Duration::from_millis;
    // From the first that is announced to the last that is answered.
    let (model, tool) = (ms(10), ms(40));
    assert_eq!(
        (first.time.model, first.time.tool),
        (model, tool),
        "{first:?}"
    );
    assert_eq!((first.calls, first.call_errors, first.attempts), (2, 1, 1));
    let expected = Owners {
        model: ms(10),
        waiting: ms(10),
        ..second.time
    };
    assert_eq!((second.time, second.attempts), (expected, 2));
    assert_eq!(ledger.tool_calls(), 2);
    let usage = Usage {
        input: 20,
        output: 10,
        ..Usage::default()
    };
    assert_eq!(ledger.usage(), usage);
    assert_eq!(ledger.cost(|_| None), None);
}

/// A process that was killed amid its first round, and one that went on: both count from turn one.
#[tokio::test(start_paused = true)]
async fn req_c09_a_turn_that_was_answered_is_kept_beside_the_one_of_the_resumed_run() {
    let rig = rig();
    let _ = rig.go().await.unwrap();
    let mut records = records(&*rig.memory);
    let mut answers = 0;
    for record in &mut records {
        if let hames_types::Entry::TurnStarted { turn, .. } = &mut record.entry {
            *turn = 1;
        }
        answers += usize::from(matches!(record.entry, hames_types::Entry::Assistant { .. }));
    }
    let ledger = Ledger::of(records);
    assert_eq!((ledger.turns.len(), answers), (2, 2), "{ledger:?}");
    let usage = Usage {
        input: 20,
        output: 10,
        ..Usage::default()
    };
    assert_eq!(ledger.usage(), usage);
}

#[tokio::test(start_paused = true)]
async fn req_o01_a_line_a_turn_says_what_it_saw_asked_got_and_took() {
    let rig = rig();
    let mut events = rig.cx.journal.events(0);
    let _ = rig.go().await.unwrap();
    let mut written = Vec::new();
    RunLog::new(&mut written).catch_up(&mut events).unwrap();
    let lines: Vec<Value> = String::from_utf8(written)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    let [first, second] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(first["turn"], 1);
    assert_eq!(first["messages_snapshot"], serde_json::json!(["user: go"]));
    assert_eq!(first["tool_call"][1]["name"], "fail");
    assert_eq!(first["tool_result"][1]["status"], "error");
    assert_eq!(first["usage"]["input"], 10);
    assert!(first["ts"].as_u64() > Some(0) && first["wall_time"].is_f64());
    assert_eq!(second["messages_snapshot"].as_array().unwrap().len(), 3);
    assert_eq!(second["end_cause"], "completed");
}

#[tokio::test(start_paused = true)]
async fn req_o02_a_line_is_bounded_however_long_the_run_and_its_messages() {
    let turns = 500;
    let long = "é".repeat(2_000);
    let input = |turn| format!("{{\"{turn}\":\"{long}\"}}");
    let asked = (0..turns).map(|turn| asks(&[("a", "look", &input(turn))]));
    let mut rig = Rig::new(Script::in_order(asked.collect()));
    rig.limits.max_turns = Some(turns);
    let mut events = rig.cx.journal.events(0);
    let _ = rig.go().await.unwrap();
    let mut written = Vec::new();
    RunLog::new(&mut written).catch_up(&mut events).unwrap();
    let text = String::from_utf8(written).unwrap();
    let longest = text.lines().map(str::len).max().unwrap();
    assert_eq!(text.lines().count(), turns as usize);
    assert!(longest < 12_000, "{longest} bytes");
}

/// A log that cannot be written is its own affair.
#[tokio::test(start_paused = true)]
async fn req_c07_a_log_that_fails_changes_nothing() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let rig = rig();
    let follower = tokio::spawn(RunLog::new(Full).follow(rig.cx.journal.events(0)));
    let mut session = rig.session().unwrap();
    assert_eq!(session.submit(human("go")).await, Outcome::Completed);
    assert!(follower.await.unwrap().is_err());
    assert_eq!(rig.entries().last().unwrap(), "ended Completed");
}

#[tokio::test(start_paused = true)]
async fn fault_b10_a_server_that_counts_far_too_few_tokens_has_cut_the_request() {
    let rig = Rig::new(Script::in_order(vec![says("done")]));
    let mut session = rig.session().unwrap();
    let _ = session.submit(human(&"word ".repeat(4_000))).await;
    let ledger = Ledger::of(records(&*rig.memory));
    assert_eq!(ledger.looks_cut().map(|turn| turn.usage.input), Some(10));
    let rig = self::rig();
    let _ = rig.go().await.unwrap();
    assert_eq!(Ledger::of(records(&*rig.memory)).looks_cut(), None);
}
