//! Hooks that read a human's words, and hooks that decide on a call before anyone is asked.

use std::sync::Arc;

use hames_agent::{
    hooks::{Hook, PreTool, UserPrompt},
    permission::{PermissionPolicy, Verdict},
};
use hames_testkit::{Rig, Script, asks, laws, render, rig::human, says};
use hames_types::{Access, BoxFuture, Outcome, ToolCall, UserMessage};

use crate::{go, went};

struct Doorman;

impl Hook for Doorman {
    fn name(&self) -> &str {
        "doorman"
    }

    fn user_prompt<'a>(&'a self, prompt: &'a UserMessage) -> BoxFuture<'a, UserPrompt> {
        Box::pin(async {
            match &*prompt.plain_text() {
                "secret" => UserPrompt::Block {
                    reason: "it holds a secret".into(),
                },
                "crash" => panic!("a hook's own fault"),
                _ => UserPrompt::Accept {
                    remark: Some("the build is red".into()),
                },
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_adds_to_a_prompt_or_keeps_it_from_being_heard() {
    let mut rig = Rig::new(Script::in_order(vec![says("one"), says("two")]));
    rig.cx.hooks = Arc::from([Arc::new(Doorman) as Arc<dyn Hook>]);
    let mut session = rig.session().unwrap();
    assert_eq!(session.submit(human("go")).await, Outcome::Completed);
    let blocked = Outcome::failed("doorman blocked the prompt: it holds a secret");
    assert_eq!(session.submit(human("secret")).await, blocked);
    assert_eq!(session.submit(human("crash")).await, Outcome::Completed);
    assert_eq!(
        render(session.transcript()),
        "epoch 1\n\
         user Human: go\n\
         user Hook: the build is red\n\
         assistant EndTurn: one\n\
         user Human: crash\n\
         assistant EndTurn: two"
    );
    let entries = rig.entries();
    assert!(entries.contains(&"hook doorman on query: blocked it holds a secret".to_owned()));
    assert!(
        entries.contains(&format!("ended {}", "Failed"))
            || entries
                .iter()
                .any(|e| e.starts_with("ended") && e.contains("secret"))
    );
    assert!(!entries.iter().any(|entry| entry.contains("Human: secret")));
    laws::replays(&rig.memory, session.transcript());
}

/// Decides by a call's id.
struct Judge;

impl Hook for Judge {
    fn name(&self) -> &str {
        "judge"
    }

    fn pre_tool<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, PreTool> {
        Box::pin(async {
            match &*call.id.0 {
                "allow" => PreTool::Allow,
                "ask" => PreTool::Ask {
                    reason: "look twice".into(),
                },
                _ => PreTool::Continue,
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn req_oh10_a_hooks_yes_saves_a_question_and_overrules_no_denial() {
    // `run` is asked about, `fetch` is denied, `look` is allowed.
    let calls = [
        ("allow", "run", "{}"),
        ("plain", "run", "{}"),
        ("ask", "look", "{}"),
    ];
    let mut rig = Rig::new(Script::in_order(vec![asks(&calls), says("done")]));
    rig.cx.hooks = Arc::from([Arc::new(Judge) as Arc<dyn Hook>]);
    let (text, _) = go(&rig).await;
    assert_eq!(
        text.lines().nth(3),
        Some(
            "tool: allow Ok ran | \
             plain Denied commands need a yes; nobody can be asked here | \
             ask Denied look twice; nobody can be asked here"
        )
    );
    assert!(rig.entries().contains(&"allow allowed by Hook".to_owned()));

    let mut rig = Rig::new(Script::in_order(vec![
        asks(&[("allow", "fetch", "{}")]),
        says("done"),
    ]));
    rig.cx.hooks = Arc::from([Arc::new(Judge) as Arc<dyn Hook>]);
    let (text, _) = go(&rig).await;
    assert!(text.contains("allow Denied no network here"), "{text}");
    assert_eq!(rig.world.calls(), [""; 0]);
}

struct EachTime;

impl PermissionPolicy for EachTime {
    fn check(&self, _: &ToolCall, _: &Access) -> Verdict {
        Verdict::AskEachTime {
            reason: "a rule says ask".into(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn req_oh10_a_rule_that_asks_is_not_answered_by_a_hook() {
    let turns = vec![asks(&[("allow", "look", "{}")]), says("done")];
    let mut rig = Rig::new(Script::in_order(turns));
    rig.cx.hooks = Arc::from([Arc::new(Judge) as Arc<dyn Hook>]);
    rig.cx.policy = Arc::new(EachTime);
    let (session, _) = went(&rig).await;
    let text = render(session.transcript());
    assert!(
        text.contains("allow Denied a rule says ask; nobody"),
        "{text}"
    );
}
