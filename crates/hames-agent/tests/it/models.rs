//! Which model serves: the fallback, a role's own, and what each costs.

use std::{collections::BTreeMap, sync::Arc};

use hames_agent::{
    Model,
    shapes::{Judge, React, Reflection},
};
use hames_testkit::{Attempt, Rig, Script, asks, fails, laws, rig::human, says};
use hames_types::{Head, Limit, Outcome, Prices, ProviderErrorKind as Kind};

use crate::{go, went};

/// A second model, with a script of its own.
fn other(rig: &Rig, name: &str, turns: Vec<Attempt>) -> (Arc<Script>, Arc<Model>) {
    let script = Script::in_order(turns);
    let head = Head {
        model: name.into(),
        ..(*rig.cx.model.head).clone()
    };
    let model = Model {
        provider: script.clone(),
        head: Arc::new(head),
        prices: None,
    };
    (script, Arc::new(model))
}

#[tokio::test(start_paused = true)]
async fn another_model_takes_over_once_the_first_cannot_be_had() {
    let down = vec![fails(Kind::Overloaded); 6];
    let first = std::iter::once(asks(&[("a", "act", "{}")])).chain(down);
    let mut rig = Rig::new(Script::in_order(first.collect()));
    let (script, fallback) = other(
        &rig,
        "second",
        vec![asks(&[("b", "look", "{}")]), says("done")],
    );
    rig.cx.fallback = Some(fallback);
    let mut session = rig.session().unwrap();
    assert_eq!(session.submit(human("go")).await, Outcome::Completed);
    laws::replays(&rig.memory, session.transcript());
    assert_eq!(rig.script.sent().len(), 7);
    assert_eq!(script.sent().len(), 2, "it stays with the one that answers");
    assert_eq!(rig.world.calls(), ["a", "b"], "nothing was done twice");
    let entries = rig.entries();
    let switched = entries
        .iter()
        .position(|e| e == "epoch Model of 1")
        .unwrap();
    assert!(entries[switched - 1].starts_with("call failed Overloaded"));
    assert!(entries[switched + 1].starts_with("turn 2"), "{entries:?}");
    assert_eq!(&*session.transcript().head().unwrap().model, "second");
}

#[tokio::test(start_paused = true)]
async fn a_used_up_quota_is_not_waited_for_and_a_rejection_is_nobody_elses() {
    for (kind, helped) in [
        (Kind::QuotaExceeded, true),
        (Kind::Auth, false),
        (Kind::Rejected, false),
    ] {
        let mut rig = Rig::new(Script::in_order(vec![fails(kind)]));
        let (script, fallback) = other(&rig, "second", vec![says("done")]);
        rig.cx.fallback = Some(fallback);
        let (_, outcome) = rig.go().await.unwrap();
        assert_eq!(outcome == Outcome::Completed, helped, "{kind:?}");
        assert_eq!(rig.script.sent().len(), 1, "{kind:?} was tried again");
        assert_eq!(script.sent().len(), usize::from(helped));
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_cannot_be_had_either_ends_the_query() {
    let mut rig = Rig::new(Script::in_order(vec![fails(Kind::QuotaExceeded)]));
    let (script, fallback) = other(&rig, "second", vec![fails(Kind::QuotaExceeded)]);
    rig.cx.fallback = Some(fallback);
    let (session, outcome) = rig.go().await.unwrap();
    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert_eq!(script.sent().len(), 1);
    assert!(session.has_pending_continuation());
}

#[tokio::test(start_paused = true)]
async fn a_role_has_a_model_of_its_own() {
    let mut rig = Rig::new(Script::in_order(vec![says("draft")]));
    let approve = says(r#"{"verdict":"approve"}"#);
    let (script, critic) = other(&rig, "critic-model", vec![approve]);
    rig.cx.roles = Arc::new(BTreeMap::from([("critic".to_owned(), critic)]));
    let (inner, rounds, judge) = (Arc::new(React), 2, Judge::default());
    rig.shape = Arc::new(Reflection {
        inner,
        rounds,
        judge,
    });
    let (_, outcome) = went(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!((rig.script.sent().len(), script.sent().len()), (1, 1));
    let asked = String::from_utf8(script.sent()[0].concat()).unwrap();
    assert!(
        asked.contains("critic-model") && asked.contains("draft"),
        "{asked}"
    );
}

#[tokio::test(start_paused = true)]
async fn req_g05_what_a_call_costs_is_counted_and_bounded() {
    let mut rig = Rig::new(Script::in_order(vec![asks(&[("a", "look", "{}")]); 9]));
    rig.cx.model = Arc::new(Model {
        prices: Some(Prices {
            input: 1e6,
            output: 1e6,
            ..Prices::default()
        }),
        ..(*rig.cx.model).clone()
    });
    // A call is 10 tokens in and 5 out, at a dollar each.
    rig.limits.max_cost = Some(31.0);
    let (session, outcome) = went(&rig).await;
    assert_eq!(outcome, Outcome::LimitReached { limit: Limit::Cost });
    assert_eq!(rig.script.sent().len(), 3);
    assert_eq!(session.spent().cost, 45.0);
    assert!(session.has_pending_continuation());
}

#[tokio::test(start_paused = true)]
async fn req_l25_the_total_goes_with_the_history() {
    let rig = Rig::new(Script::in_order(vec![
        says("one"),
        says("two"),
        says("three"),
    ]));
    let mut session = rig.session().unwrap();
    let _ = session.submit(human("a")).await;
    let _ = session.submit(human("b")).await;
    assert_eq!((session.spent().turns, session.spent().tokens), (2, 30));
    assert!(session.clear().is_continue());
    assert_eq!(session.spent().tokens, 0);
    let _ = session.submit(human("c")).await;
    assert_eq!(session.spent().tokens, 15);
    let text = hames_testkit::render(session.transcript());
    assert_eq!(text, "epoch 2\nuser Human: c\nassistant EndTurn: three");
    laws::replays(&rig.memory, session.transcript());
}

#[tokio::test(start_paused = true)]
async fn fault_a15_another_model_begins_an_epoch_that_keeps_what_was_said() {
    let rig = Rig::new(Script::in_order(vec![says("one")]));
    let mut session = rig.session().unwrap();
    let _ = session.submit(human("a")).await;
    let (script, model) = other(&rig, "second", vec![says("two")]);
    assert!(session.configure(model).is_continue());
    let _ = session.submit(human("b")).await;
    assert_eq!(script.sent()[0].len(), 1 + 3, "head and all that was said");
    assert!(rig.entries().contains(&"epoch Model of 1".to_owned()));
    laws::replays(&rig.memory, session.transcript());
}

#[tokio::test(start_paused = true)]
async fn req_c10_a_model_is_told_its_turns_only_when_asked_for() {
    let turns = || vec![asks(&[("a", "look", "{}")]), says("done")];
    let rig = Rig::new(Script::in_order(turns()));
    let (text, _) = go(&rig).await;
    assert!(!text.contains("used so far"), "{text}");

    let mut rig = Rig::new(Script::in_order(turns()));
    rig.cx.inform.turns = true;
    rig.cx.inform.budget = true;
    let (text, _) = go(&rig).await;
    assert_eq!(
        text,
        "epoch 1\n\
         user Human: go\n\
         user Inform: [used so far: 0 of 8 turns, 0 tokens]\n\
         assistant ToolUse: a=look({})\n\
         tool: a Ok saw {}\n\
         user Hook: [used so far: 1 of 8 turns, 15 tokens]\n\
         assistant EndTurn: done"
    );
    laws::prefix(&rig.script.sent());
}
