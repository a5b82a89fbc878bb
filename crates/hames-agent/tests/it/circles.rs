//! Going in circles: when a repeated call is told, when it ends the query, and when it is work.

use hames_agent::repetition::Repeats;
use hames_testkit::{Attempt, Rig, Script, asks, rig::human, says};
use hames_types::{Limit, Outcome};

use crate::{go, went};

const STOPPED: Outcome = Outcome::LimitReached {
    limit: Limit::RepeatedCall,
};

fn rig(turns: Vec<Attempt>) -> Rig {
    let mut rig = Rig::new(Script::in_order(turns));
    rig.limits.max_turns = Some(40);
    rig.cx.repeats = Repeats::default();
    rig
}

fn look(input: &str) -> Attempt {
    asks(&[("a", "look", input)])
}

#[tokio::test(start_paused = true)]
async fn fault_d17_the_same_call_with_the_same_result_is_told_then_stopped() {
    let rig = rig(vec![look("{}"); 20]);
    let (text, outcome) = go(&rig).await;
    assert_eq!(outcome, STOPPED);
    assert_eq!(rig.script.sent().len(), 6);
    let told = text
        .lines()
        .filter(|line| line.starts_with("user Hook: This is time"));
    assert_eq!(told.count(), 3, "at the third, fourth and fifth:\n{text}");
}

#[tokio::test(start_paused = true)]
async fn fault_d17_a_circle_of_three_is_a_circle() {
    let circle = [look("{\"a\":1}"), look("{\"b\":1}"), look("{\"c\":1}")];
    let rig = rig(circle.iter().cycle().take(30).cloned().collect());
    assert_eq!(went(&rig).await.1, STOPPED);
    assert_eq!(rig.script.sent().len(), 18);
}

#[tokio::test(start_paused = true)]
async fn fault_d17_repetition_with_something_new_between_is_work() {
    let work = |step| {
        [
            look(&format!("{{\"edit\":{step}}}")),
            look("{\"test\":true}"),
        ]
    };
    let turns = (0..12).flat_map(work).chain([says("done")]);
    let rig = rig(turns.collect());
    let (text, outcome) = go(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    assert!(!text.contains("This is time"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn fault_d17_a_humans_word_begins_the_count_anew() {
    let mut turns = vec![look("{}"), look("{}"), says("one")];
    turns.extend(turns.clone());
    let rig = rig(turns);
    let mut session = rig.session().unwrap();
    assert_eq!(session.submit(human("go")).await, Outcome::Completed);
    assert_eq!(session.submit(human("again")).await, Outcome::Completed);
    let text = hames_testkit::render(session.transcript());
    assert!(!text.contains("This is time"), "{text}");
}
