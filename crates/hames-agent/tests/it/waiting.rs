//! Results that are there before their turn: on disk at once, announced in call order, never lost.

use hames_testkit::{
    Rig, Script, asks, laws, poll, render,
    rig::{human, records},
    says,
};
use hames_types::Entry;

use crate::go;

#[tokio::test(start_paused = true)]
async fn req_l16_what_ends_behind_a_slower_call_is_on_disk_at_once_and_told_in_its_turn() {
    let calls = [
        ("a", "slow", "{}"),
        ("b", "look", "{}"),
        ("c", "slow", "{}"),
    ];
    let rig = Rig::new(Script::in_order(vec![asks(&calls), says("done")]));
    let (text, _) = go(&rig).await;
    assert!(
        text.contains("tool: a Ok slow | b Ok saw {} | c Ok slow"),
        "{text}"
    );
    let entries = rig.entries();
    let told: Vec<_> = entries
        .iter()
        .filter(|entry| entry.starts_with("returned") || entry.starts_with("finished"))
        .collect();
    assert_eq!(
        told,
        [
            "returned b Ok saw {}",
            "finished a Ok slow",
            "finished b Ok saw {}",
            "finished c Ok slow",
        ]
    );
}

/// The process dies, or the future is dropped, while the slower call still runs.
#[tokio::test(start_paused = true)]
async fn fault_a20_what_was_returned_is_not_called_interrupted() {
    let calls = [("a", "hang", "{}"), ("b", "look", "{}")];
    let script = || Script::in_order(vec![asks(&calls), says("done")]);
    let rig = Rig::new(script());
    let mut session = rig.session().unwrap();
    let returned = || rig.entries().iter().any(|e| e.starts_with("returned b"));
    let outcome = poll::until(session.submit(human("go")), returned).await;
    assert_eq!(outcome, None);
    let text = render(session.transcript());
    assert!(
        text.contains("| b Ok saw {}") && text.contains("a Interrupted"),
        "{text}"
    );
    laws::replays(&rig.memory, session.transcript());

    let is_returned =
        |record: &hames_journal::Record| matches!(record.entry, Entry::ToolReturned { .. });
    let kept = records(&*rig.memory);
    let cut = kept.iter().position(is_returned).unwrap();
    let memory = hames_journal::MemoryStore::holding("test", &kept[..=cut]).unwrap();
    let resumed = Rig::failing_from(usize::MAX, memory, script());
    let session = resumed.session().unwrap();
    assert_eq!(render(session.transcript()), text);
}

#[tokio::test(start_paused = true)]
async fn req_q02_many_schedules_have_one_order() {
    for seed in 0..1_000_u64 {
        let tools = ["slow", "look", "fail", "act", "slow_new", "peek"];
        let pick =
            |place: u64| tools[(seed.wrapping_mul(31).rotate_left(place as u32 * 7) % 6) as usize];
        let ids: Vec<_> = (0..6).map(|place| format!("c{place}")).collect();
        let calls: Vec<_> = (0..)
            .zip(&ids)
            .map(|(place, id)| (&**id, pick(place), "{}"))
            .collect();
        let rig = Rig::new(Script::in_order(vec![asks(&calls), says("done")]));
        let _ = rig.go().await.unwrap();
        let finished = records(&*rig.memory)
            .into_iter()
            .filter_map(|record| match record.entry {
                Entry::ToolFinished { result } => Some(result.call.0.to_string()),
                _ => None,
            });
        assert_eq!(finished.collect::<Vec<_>>(), ids, "{calls:?}");
    }
}
