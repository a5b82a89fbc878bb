//! What the source documents and the field's fault reports ask of the loop, one contract a test.

use std::sync::Arc;

use bytes::Bytes;
use hames_agent::{
    Transcript,
    append::{append_user, open},
    run_query,
};
use hames_testkit::{
    Attempt, Rig, Script, asks, fails, finished, laws, render,
    rig::{human, records},
    says,
};
use hames_types::{
    Content, Entry, Event, EventKind, Limit, Message, ModelEvent, Origin, Outcome,
    ProviderErrorKind, StopReason, UserMessage,
};

use crate::{go, went};

fn look(id: &str) -> Attempt {
    asks(&[(id, "look", "{}")])
}

#[tokio::test(start_paused = true)]
async fn req_l01_k_rounds_are_k_and_one_requests() {
    for rounds in 0..5 {
        let turns = (0..rounds)
            .map(|turn| look(&format!("c{turn}")))
            .chain([says("done")]);
        let rig = Rig::new(Script::in_order(turns.collect()));
        let (session, outcome) = went(&rig).await;
        assert_eq!(outcome, Outcome::Completed);
        assert_eq!(rig.script.sent().len(), rounds + 1);
        let who = session
            .transcript()
            .messages()
            .iter()
            .map(|message| match message {
                Message::User(_) => 'u',
                Message::Assistant(_) => 'a',
                Message::Tool(_) => 't',
            });
        assert_eq!(
            who.collect::<String>(),
            format!("u{}a", "at".repeat(rounds))
        );
    }
}

/// The loop has no engine, and no memory of its own.
#[tokio::test(start_paused = true)]
async fn req_l03_two_queries_on_equal_inputs_are_equal() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let rig = Rig::new(Script::in_order(vec![look("a"), says("done")]));
        let mut transcript = open(&rig.cx).continue_value().unwrap();
        assert!(append_user(&rig.cx, &mut transcript, human("go")).is_continue());
        let mut events = rig.cx.journal.events(0);
        let outcome = run_query(&rig.cx, &mut transcript).await;
        let seen = std::iter::from_fn(|| events.try_next()).map(|event| match event.kind {
            EventKind::Entry { entry, .. } => format!("{entry:?}"),
            EventKind::Delta(delta) => format!("{delta:?}"),
        });
        runs.push((outcome, render(&transcript), seen.collect::<Vec<_>>()));
    }
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].2.len() > 8);
}

#[tokio::test(start_paused = true)]
async fn req_l05_submitting_adds_the_users_sentence_and_runs_the_loop() {
    let rig = Rig::new(Script::in_order(vec![says("one"), says("two")]));
    let mut session = rig.session().unwrap();
    let _ = session.submit(human("first")).await;
    let before = session.transcript().messages().len();
    let _ = session.submit(human("second")).await;
    let added = &session.transcript().messages()[before..];
    let [Message::User(said), Message::Assistant(_)] = added else {
        panic!("{added:?}");
    };
    assert_eq!(**said, human("second"));
    assert_eq!(rig.script.sent()[1].len(), 1 + before + 1);
}

/// What the server saw last, and what was added since, is what the session holds.
#[tokio::test(start_paused = true)]
async fn req_l06_after_any_end_the_history_is_what_the_model_saw_and_what_came_after() {
    let ends = [
        (vec![look("a"), says("done")], Outcome::Completed),
        (
            vec![look("a"); 9],
            Outcome::LimitReached {
                limit: Limit::Turns,
            },
        ),
        (
            vec![look("a"), fails(ProviderErrorKind::Auth)],
            Outcome::failed("Auth: scripted"),
        ),
    ];
    for (turns, end) in ends {
        let rig = Rig::new(Script::in_order(turns));
        let (session, outcome) = went(&rig).await;
        assert_eq!(outcome, end);
        let mut transcript = session.transcript().clone();
        let held = transcript.request(&*rig.script).map(|(request, _)| {
            let messages = request.messages.iter().map(|message| message.bytes.clone());
            messages.collect::<Vec<Bytes>>()
        });
        let sent = rig.script.sent();
        let seen = &sent.last().unwrap()[1..];
        assert!(held.unwrap().starts_with(seen));
    }
}

#[tokio::test(start_paused = true)]
async fn req_l15_one_tool_starts_before_it_acts_and_is_answered_before_the_next_request() {
    let rig = Rig::new(Script::in_order(vec![
        asks(&[("a", "act", "{}")]),
        says("done"),
    ]));
    let _ = went(&rig).await;
    let entries = rig.entries();
    let place = |entry: &str| entries.iter().position(|e| e.starts_with(entry)).unwrap();
    assert!(place("a started") < place("finished a"));
    assert!(place("finished a") < place("turn 2"));
    assert!(rig.world.effects().iter().all(|did| did.announced));
}

#[tokio::test(start_paused = true)]
async fn req_l20_unknown_invalid_and_denied_calls_are_answers_that_name_their_cause() {
    let calls = [
        ("a", "nonsense", "{}"),
        ("b", "look", "{not json"),
        ("c", "fetch", "{}"),
    ];
    let rig = Rig::new(Script::in_order(vec![asks(&calls), says("done")]));
    let (text, outcome) = go(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    assert!(
        text.contains("a Error there is no tool named nonsense"),
        "{text}"
    );
    assert!(text.contains("b Error the arguments do not fit"), "{text}");
    assert!(text.contains("c Denied no network here"), "{text}");
    assert_eq!(rig.world.calls(), [""; 0]);
}

#[test]
fn req_l23_pending_is_whenever_the_last_message_is_not_the_models() {
    let cases: [(&str, Vec<Attempt>, bool); 4] = [
        ("an answer", vec![says("done")], false),
        ("results at the cap", vec![look("a"); 9], true),
        (
            "a refusal of the provider",
            vec![fails(ProviderErrorKind::Auth)],
            true,
        ),
        ("an empty answer, twice", vec![says(""), says("")], true),
    ];
    for (name, turns, pending) in cases {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let rig = Rig::new(Script::in_order(turns));
        let (session, _) = runtime.block_on(went(&rig));
        assert_eq!(session.has_pending_continuation(), pending, "{name}");
    }
    assert!(
        !Transcript::default().has_pending_continuation(),
        "nothing was said"
    );
    let rig = Rig::new(Script::in_order(vec![says("done")]));
    let session = rig.session().unwrap();
    assert!(!session.has_pending_continuation(), "nothing was asked");
    let steered = rig
        .cx
        .steering
        .send(UserMessage::text(Origin::Steering, "and?"));
    assert!(
        steered.is_continue() && session.has_pending_continuation(),
        "steering waits"
    );
}

#[tokio::test(start_paused = true)]
async fn req_l24_q03_without_a_cap_other_guards_still_end_an_endless_model() {
    let endless = || (0..500).map(|turn| look(&format!("c{turn}"))).collect();
    let mut rig = Rig::new(Script::in_order(endless()));
    rig.limits.max_turns = None;
    rig.limits.max_tokens = Some(3_000);
    assert_eq!(
        rig.go().await.unwrap().1,
        Outcome::LimitReached {
            limit: Limit::Tokens
        }
    );
    assert_eq!(rig.script.sent().len(), 200);

    let slow = (0..500).map(|turn| asks(&[(&format!("c{turn}"), "slow", "{}")]));
    let mut rig = Rig::new(Script::in_order(slow.collect()));
    rig.limits.max_turns = None;
    rig.limits.wall_time = Some(std::time::Duration::from_millis(20_500));
    assert_eq!(
        rig.go().await.unwrap().1,
        Outcome::LimitReached {
            limit: Limit::WallTime
        }
    );
    assert_eq!(rig.script.sent().len(), 21);
}

#[tokio::test(start_paused = true)]
async fn req_l26_each_entry_that_is_shown_survives_its_json_line() {
    let rig = Rig::new(Script::in_order(vec![look("a"), says("done")]));
    let mut events = rig.cx.journal.events(0);
    let _ = went(&rig).await;
    let mut shown = 0;
    while let Some(Event { kind, .. }) = events.try_next() {
        if let EventKind::Entry { entry, line, .. } = kind {
            let read: hames_journal::Record = serde_json::from_str(&line).unwrap();
            assert_eq!(read.entry, *entry);
            shown += 1;
        }
    }
    assert_eq!(shown, rig.entries().len());
}

#[tokio::test(start_paused = true)]
async fn req_q04_text_that_looks_like_a_call_is_text() {
    let fake = r#"{"tool_calls":[{"id":"a","function":{"name":"act","arguments":"{}"}}]}"#;
    let rig = Rig::new(Script::in_order(vec![says(fake)]));
    let (_, outcome) = went(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!((rig.world.calls().len(), rig.script.sent().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn req_c01_a_model_sees_what_is_in_its_messages_and_nothing_else() {
    let mut rig = Rig::new(Script::in_order(vec![look("a"), says("done")]));
    rig.cx.workspace = std::path::Path::new("/a-place-nobody-mentioned").into();
    let _ = went(&rig).await;
    for sent in rig.script.sent() {
        let sent = String::from_utf8(sent.concat()).unwrap();
        for unsaid in ["a-place-nobody-mentioned", "max_turns", "\"at\":"] {
            assert!(!sent.contains(unsaid), "{unsaid} in {sent}");
        }
    }
}

#[test]
fn req_c02_tools_are_declared_without_running_and_a_handler_is_swapped_under_its_schema() {
    let rig = Rig::new(Script::in_order(vec![]));
    let specs = rig.cx.tools.specs();
    let again = Rig::new(Script::in_order(vec![]));
    assert_eq!(
        specs,
        again.cx.tools.specs(),
        "another world, the same declaration"
    );
    let names: Vec<_> = specs.iter().map(|spec| spec.name.clone()).collect();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted);
    assert_eq!(rig.world.calls(), [""; 0]);
}

#[test]
fn req_q09_two_tools_of_one_name_are_refused_by_name() {
    let rig = Rig::new(Script::in_order(vec![]));
    let tool = rig.cx.tools.get("look").unwrap();
    let two = [tool.clone(), tool.clone()];
    let error = hames_agent::registry::ToolRegistry::new(two).err().unwrap();
    assert_eq!(error.to_string(), "two tools are named look");
}

#[tokio::test(start_paused = true)]
async fn req_c05_g01_an_endless_model_is_asked_exactly_as_often_as_the_cap_says() {
    let turns = (0..30).map(|turn| look(&format!("c{turn}"))).collect();
    let mut rig = Rig::new(Script::in_order(turns));
    rig.limits.max_turns = Some(20);
    let (_, outcome) = went(&rig).await;
    assert_eq!(rig.script.sent().len(), 20);
    let error = outcome.into_result().unwrap_err();
    assert_eq!(error, hames_types::QueryError::MaxTurnsExceeded);
}

#[tokio::test(start_paused = true)]
async fn fault_d12_bad_arguments_run_nothing_and_the_others_of_the_batch_run() {
    let calls = [("a", "act", "{\"x\":"), ("b", "act", "{}")];
    let rig = Rig::new(Script::in_order(vec![asks(&calls), says("done")]));
    let (text, _) = go(&rig).await;
    assert_eq!(rig.world.calls(), ["b"]);
    assert!(
        text.contains("a Error the arguments do not fit | b Ok did {}"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn req_e06_a_tool_that_fails_or_crashes_is_a_text_for_the_model() {
    let calls = [
        ("a", "fail", "{}"),
        ("b", "panic", "{}"),
        ("c", "look", "{}"),
    ];
    let rig = Rig::new(Script::in_order(vec![asks(&calls), says("done")]));
    let (text, outcome) = go(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    let results = "tool: a Error no luck | b Error the tool crashed | c Ok saw {}";
    assert!(text.contains(results), "{text}");
}

#[test]
fn req_e07_the_three_ends_have_names_of_their_own_and_one_exit_code() {
    let limit = |limit| Outcome::LimitReached { limit };
    let ends = [
        (Outcome::Truncated, "truncated"),
        (limit(Limit::Turns), "turns"),
        (limit(Limit::WallTime), "wall_time"),
    ];
    for (outcome, cause) in ends {
        assert_eq!((outcome.end_cause(), outcome.exit_code(false)), (cause, 3));
        assert!(outcome.into_result().is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn req_o05_the_journals_counts_are_the_models_own() {
    let rig = Rig::new(Script::in_order(vec![look("a"), look("b"), says("done")]));
    let _ = went(&rig).await;
    let ledger = hames_agent::ledger::Ledger::of(records(&*rig.memory));
    assert_eq!(ledger.usage().total(), 3 * 15);
    assert_eq!(
        (ledger.turns.len(), ledger.tool_calls()),
        (rig.script.sent().len(), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn req_g04_whatever_crashes_the_query_ends_with_a_name_and_can_be_continued() {
    struct Crashing;
    impl hames_agent::permission::PermissionPolicy for Crashing {
        fn check(
            &self,
            _: &hames_types::ToolCall,
            _: &hames_types::Access,
        ) -> hames_agent::permission::Verdict {
            panic!("a policy's own fault")
        }
    }
    let mut rig = Rig::new(Script::in_order(vec![look("a"), says("done")]));
    rig.cx.policy = Arc::new(Crashing);
    let mut session = rig.session().unwrap();
    let outcome = session.submit(human("go")).await;
    assert_eq!(outcome.end_cause(), "failed");
    laws::answered(session.transcript());
    laws::replays(&rig.memory, session.transcript());
    assert!(rig.entries().last().unwrap().starts_with("ended"));
    assert!(session.has_pending_continuation());
    assert_eq!(session.continue_pending().await, Some(Outcome::Completed));
}

#[tokio::test(start_paused = true)]
async fn fault_a16_a_picture_that_is_refused_is_taken_out_once_and_for_all() {
    let picture = Content::Image {
        media_type: "image/png".into(),
        base64: "AAAA".into(),
    };
    let prompt = UserMessage {
        content: [Content::text("what is this?"), vec![picture]].concat(),
        origin: Origin::Human,
    };
    let turns = vec![
        fails(ProviderErrorKind::Rejected),
        says("I cannot see it"),
        says("still here"),
    ];
    let rig = Rig::new(Script::in_order(turns));
    let mut session = rig.session().unwrap();
    assert_eq!(session.submit(prompt).await, Outcome::Completed);
    assert_eq!(session.submit(human("and now?")).await, Outcome::Completed);
    assert!(
        rig.entries().contains(&"epoch Quarantine of 3".to_owned()),
        "{:?}",
        rig.entries()
    );
    let text = render(session.transcript());
    assert!(
        text.contains("what is this?") && text.contains("[taken out:"),
        "{text}"
    );
    laws::replays(&rig.memory, session.transcript());
}

#[tokio::test(start_paused = true)]
async fn fault_d15_a_message_that_asks_for_tools_and_names_none_is_no_success() {
    let empty = || finished(Vec::new(), StopReason::ToolUse);
    let rig = Rig::new(Script::in_order(vec![empty(), empty()]));
    let (session, outcome) = went(&rig).await;
    assert_eq!(outcome, Outcome::NoAnswer);
    assert_eq!(outcome.exit_code(false), 1);
    assert!(session.has_pending_continuation());
}

#[tokio::test(start_paused = true)]
async fn fault_g07_each_item_is_in_the_journal_before_the_run_ends() {
    let rig = Rig::new(Script::in_order(vec![
        look("a"),
        fails(ProviderErrorKind::Auth),
    ]));
    let _ = went(&rig).await;
    let entries = rig.entries();
    let place = |entry: &str| entries.iter().position(|e| e.starts_with(entry)).unwrap();
    let order = [
        "user Human",
        "assistant ToolUse",
        "a started",
        "finished a",
        "call failed",
        "ended",
    ];
    assert!(order.map(place).is_sorted(), "{entries:?}");
}

#[tokio::test(start_paused = true)]
async fn fault_c08_g11_a_limit_leaves_a_session_that_goes_on() {
    let turns = (0..8)
        .map(|turn| look(&format!("c{turn}")))
        .chain([says("done")]);
    let rig = Rig::new(Script::in_order(turns.collect()));
    let mut session = rig.session().unwrap();
    assert_eq!(
        session.submit(human("go")).await,
        Outcome::LimitReached {
            limit: Limit::Turns
        }
    );
    assert!(session.has_pending_continuation());
    assert_eq!(session.continue_pending().await, Some(Outcome::Completed));
    assert_eq!(rig.script.sent().len(), 9, "and nothing was asked twice");
}

#[tokio::test(start_paused = true)]
async fn fault_a14_reasoning_is_kept_byte_for_byte_or_not_at_all() {
    let echo = r#"{"type":"thinking","thinking":"","signature":"abc=="}"#;
    let thinks = finished(
        vec![
            ModelEvent::ReasoningDelta {
                block: 0,
                text: String::new(),
            },
            ModelEvent::BlockEcho {
                block: 0,
                json: echo.to_owned(),
            },
            ModelEvent::TextDelta {
                block: 1,
                text: "done".to_owned(),
            },
        ],
        StopReason::EndTurn,
    );
    let rig = Rig::new(Script::in_order(vec![thinks]));
    let _ = went(&rig).await;
    let kept = records(&*rig.memory)
        .into_iter()
        .find_map(|record| match record.entry {
            Entry::Assistant { message } => message.blocks[0].echo.clone(),
            _ => None,
        });
    assert_eq!(&*kept.unwrap().json.0, echo);
}

/// Every dependency is handed in: each may be another, and none is found by itself.
#[tokio::test(start_paused = true)]
async fn req_l04_a_session_is_made_of_what_it_is_given() {
    let mut rig = Rig::new(Script::in_order(vec![
        asks(&[("a", "run", "{}")]),
        says("done"),
    ]));
    let other = Rig::new(Script::in_order(vec![
        asks(&[("b", "look", "{}")]),
        says("other"),
    ]));
    rig.cx.model = other.cx.model.clone();
    rig.cx.tools = other.cx.tools.clone();
    rig.cx.policy = Arc::new(hames_testkit::Anything);
    let mut session = rig.session().unwrap();
    assert_eq!(session.submit(human("go")).await, Outcome::Completed);
    assert_eq!(session.transcript().final_text(), "other");
    assert_eq!((rig.script.sent().len(), other.script.sent().len()), (0, 2));
    assert_eq!((rig.world.calls().len(), other.world.calls().len()), (0, 1));
}

/// The pieces of an answer, its whole with its usage, and a retry: as the model gave them.
#[tokio::test(start_paused = true)]
async fn req_l10_the_trace_of_a_call_is_what_the_model_did() {
    let rig = Rig::new(Script::in_order(vec![
        fails(ProviderErrorKind::Overloaded),
        says("well done"),
    ]));
    let mut events = rig.cx.journal.events(0);
    let watching = tokio::spawn(async move {
        let mut trace = Vec::new();
        loop {
            match events.next().await.kind {
                EventKind::Delta(delta) => trace.push(delta.text),
                EventKind::Entry { entry, .. } => match &*entry {
                    Entry::CallFailed { retry_after, .. } => trace.push(format!("{retry_after:?}")),
                    Entry::Assistant { message } => {
                        trace.push(format!("{}", message.usage.total()))
                    }
                    Entry::QueryFinished { .. } => return trace,
                    _ => {}
                },
            }
        }
    });
    let _ = went(&rig).await;
    assert_eq!(watching.await.unwrap(), ["Some(1s)", "well", " done", "15"]);
}

#[tokio::test(start_paused = true)]
async fn req_q08_a_hook_that_fails_behind_a_tool_loses_no_result() {
    struct Crashing;
    impl hames_agent::hooks::Hook for Crashing {
        fn name(&self) -> &str {
            "crashing"
        }
        fn post_tool<'a>(
            &'a self,
            _: &'a hames_types::ToolCall,
            _: &'a hames_types::ToolResult,
        ) -> hames_types::BoxFuture<'a, hames_agent::hooks::PostTool> {
            Box::pin(async { panic!("a hook's own fault") })
        }
    }
    let mut rig = Rig::new(Script::in_order(vec![look("a"), says("done")]));
    rig.cx.hooks = Arc::from([Arc::new(Crashing) as Arc<dyn hames_agent::hooks::Hook>]);
    let (text, outcome) = go(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    assert!(text.contains("tool: a Ok saw {}"), "{text}");
    assert!(
        rig.entries()
            .contains(&"hook crashing on a: failed".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn req_e05_arguments_that_are_no_json_are_told_and_nothing_is_invented() {
    let rig = Rig::new(Script::in_order(vec![
        asks(&[("a", "act", "{\"path\": ")]),
        asks(&[("b", "act", "{\"path\": 1}")]),
        says("done"),
    ]));
    let (text, outcome) = go(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!(rig.world.calls(), ["b"]);
    assert!(text.contains("a Error the arguments do not fit"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn req_e08_what_fails_and_passes_is_survived_with_the_handler_and_not_without() {
    let flaky = || {
        let failures = [
            ProviderErrorKind::RateLimited,
            ProviderErrorKind::Overloaded,
            ProviderErrorKind::Transport,
        ];
        let turns = (0..10).flat_map(|turn| [fails(failures[turn % 3]), look(&format!("c{turn}"))]);
        turns.chain([says("done")]).collect::<Vec<_>>()
    };
    for (attempts, completes) in [(6, true), (1, false)] {
        let mut rig = Rig::new(Script::in_order(flaky()));
        rig.limits.max_turns = None;
        rig.cx.retry.attempts = attempts;
        assert_eq!(went(&rig).await.1 == Outcome::Completed, completes);
    }
}

#[tokio::test(start_paused = true)]
async fn req_s01_react_decides_after_each_look() {
    let rig = Rig::new(Script::in_order(vec![
        look("a"),
        asks(&[("b", "act", "{}")]),
        says("done"),
    ]));
    let (text, outcome) = go(&rig).await;
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!(
        text,
        "epoch 1\n\
         user Human: go\n\
         assistant ToolUse: a=look({})\n\
         tool: a Ok saw {}\n\
         assistant ToolUse: b=act({})\n\
         tool: b Ok did {}\n\
         assistant EndTurn: done"
    );
}

/// What changes from turn to turn stands behind what was sent, never in it.
#[tokio::test(start_paused = true)]
async fn fault_c04_what_changes_is_said_at_the_tail_alone() {
    let turns = (0..5)
        .map(|turn| look(&format!("c{turn}")))
        .chain([says("done")]);
    let mut rig = Rig::new(Script::in_order(turns.collect()));
    rig.cx.inform.turns = true;
    rig.cx.inform.time = true;
    let _ = went(&rig).await;
    let sent = rig.script.sent();
    laws::prefix(&sent);
    let heads: std::collections::BTreeSet<_> = sent.iter().map(|sent| sent[0].clone()).collect();
    assert_eq!(heads.len(), 1);
}
