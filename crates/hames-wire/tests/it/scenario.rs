//! Scenarios: which turn answers which history, what a turn sends, and what a file may not say.

use std::time::Duration;

use hames_types::{
    ApiKind, Block, BlockKind, CallId, Content, ModelEvent, ProviderErrorKind, RawJson, StopReason,
    ToolCall, Usage,
};
use hames_wire::{
    request::{Refusal, ServedMessage, ServedRequest, ServedResult},
    scenario::{Playing, Scenario, Step},
};

fn play(text: &str) -> Playing {
    Playing::new(Scenario::parse(text).unwrap())
}

fn request(messages: &[ServedMessage]) -> ServedRequest {
    ServedRequest {
        messages: messages.to_vec(),
        system: vec!["You are a test.".to_owned()],
        ..ServedRequest::new(ApiKind::OpenaiChat, "scripted")
    }
}

fn user(text: &str) -> ServedMessage {
    ServedMessage::User(Content::text(text))
}

fn says(text: &str) -> ServedMessage {
    let kind = BlockKind::Text { text: text.into() };
    ServedMessage::Assistant(vec![Block { kind, echo: None }])
}

fn asks(id: &str, input: &str) -> ServedMessage {
    let (id, name, input) = (CallId::from(id), "bash".to_owned(), RawJson::from(input));
    let kind = BlockKind::ToolCall(ToolCall { id, name, input });
    ServedMessage::Assistant(vec![Block { kind, echo: None }])
}

fn result(id: &str, text: &str) -> ServedMessage {
    ServedMessage::Tool(vec![ServedResult {
        call: id.into(),
        is_error: false,
        content: Content::text(text),
    }])
}

/// A reply in one line: text as it stands, calls as `name(arguments)`, then how it ends.
fn line(playing: &mut Playing, messages: &[ServedMessage]) -> String {
    match playing.answer(&request(messages)) {
        Err(refusal) => format!("refused: {}", refusal.message),
        Ok(reply) => reply.steps.iter().map(step).collect(),
    }
}

fn step(step: &Step) -> String {
    match step {
        Step::Wait(time) => format!("[{}ms]", time.as_millis()),
        Step::KeepAlive => "[alive]".to_owned(),
        Step::Cut => "[cut]".to_owned(),
        Step::Hang => "[hang]".to_owned(),
        Step::Fail(failure) => format!("[{} {:?}]", failure.refusal.status, failure.refusal.kind),
        Step::Event(event) => match event {
            ModelEvent::TextDelta { text, .. } => text.clone(),
            ModelEvent::ReasoningDelta { text, .. } => format!("<{text}>"),
            ModelEvent::CallStarted { name, .. } => format!(" {name}:"),
            ModelEvent::CallInputDelta { json, .. } => json.clone(),
            ModelEvent::BlockEcho { json, .. } => format!("echo {json}"),
            ModelEvent::Usage(_) => String::new(),
            ModelEvent::Finished(stop) => format!(" {stop:?}"),
        },
    }
}

const THREE: &str = r#"{"turns": [
    {"calls": [{"name": "bash", "input": {"command": "ls"}}]},
    {"text": "saw {{last_result}}"},
    {"text": "third"}
]}"#;

#[test]
fn a_plain_turn_is_chosen_by_the_answers_since_the_prompt() {
    let mut playing = play(THREE);
    let mut history = vec![user("go")];
    assert_eq!(
        line(&mut playing, &history),
        r#" bash:{"command":"ls"} ToolUse"#
    );
    history.extend([asks("a", "{}"), result("a", "x.py")]);
    assert_eq!(line(&mut playing, &history), "saw x.py EndTurn");
    // The same history again, as after a crash, meets the same turn.
    assert_eq!(line(&mut playing, &history), "saw x.py EndTurn");
    // A remark after the results is no new prompt.
    history.push(user("a hook remarks"));
    assert_eq!(line(&mut playing, &history), "saw x.py EndTurn");
    history.extend([says("saw x.py"), user("next")]);
    assert_eq!(
        line(&mut playing, &history),
        r#" bash:{"command":"ls"} ToolUse"#
    );
}

#[test]
fn neighbours_of_the_user_are_one_prompt_however_a_wire_folds_them() {
    let text = r#"{"conversations": [{"when": {"prompt": ["the task", "Plan first"]}, "turns": [{"text": "- step"}]}],
        "turns": [{"text": "no plan"}]}"#;
    let apart = [user("the task"), user("Plan first.")];
    let folded = ServedMessage::User(vec![
        Content::Text {
            text: "the task".into(),
        },
        Content::Text {
            text: "Plan first.".into(),
        },
    ]);
    let mut playing = play(text);
    assert_eq!(line(&mut playing, &apart), "- step EndTurn");
    assert_eq!(line(&mut playing, &[folded]), "- step EndTurn");
    assert_eq!(line(&mut playing, &[user("the task")]), "no plan EndTurn");
}

#[test]
fn each_condition_holds_for_its_own_part_of_the_history() {
    let history = [
        user("old prompt"),
        says("old answer"),
        user("new prompt"),
        asks("a", "{\"command\":\"one\"}"),
        result("a", "first output"),
        asks("b", "{\"command\":\"two\"}"),
        result("b", "second output"),
    ];
    let table = [
        (r#"{"prompt": "new"}"#, true),
        (r#"{"prompt": "old"}"#, false),
        (r#"{"last": "second"}"#, true),
        (r#"{"last": "first"}"#, false),
        (r#"{"result": "second"}"#, true),
        (r#"{"result": "first"}"#, false),
        (
            r#"{"history": ["old answer", "first output", "one"]}"#,
            true,
        ),
        (r#"{"history": ["old answer", "missing"]}"#, false),
        (r#"{"absent": "missing"}"#, true),
        (r#"{"absent": ["missing", "old answer"]}"#, false),
        (r#"{"system": "a test"}"#, true),
        (r#"{"system": "a poet"}"#, false),
        (r#"{"model": "script"}"#, true),
        (r#"{"model": "other"}"#, false),
        (r#"{"answers": 2, "results": 2}"#, true),
        (r#"{"answers": 3}"#, false),
        (r#"{"results": 1}"#, false),
    ];
    for (when, holds) in table {
        let text = format!(
            r#"{{"turns": [{{"when": {when}, "text": "held"}}, {{"text": "plain", "repeat": true}}]}}"#
        );
        let expected = if holds {
            "held EndTurn"
        } else {
            "plain EndTurn"
        };
        assert_eq!(line(&mut play(&text), &history), expected, "{when}");
    }
}

#[test]
fn attempts_are_counted_for_each_history_apart() {
    let text = r#"{"turns": [
        {"attempts": [{"error": {"status": 429, "retry_after": 1.5}}, {"error": {"kind": "overloaded"}}, {"text": "ok"}]}
    ]}"#;
    let mut playing = play(text);
    let refusal = |playing: &mut Playing| {
        let reply = playing.answer(&request(&[user("go")])).unwrap();
        let Some(Step::Fail(failure)) = reply.steps.last().cloned() else {
            panic!("{reply:?}");
        };
        failure.refusal
    };
    let limited = Refusal {
        status: 429,
        kind: ProviderErrorKind::RateLimited,
        message: "scripted RateLimited".to_owned(),
        param: None,
        retry_after: Some(Duration::from_millis(1500)),
    };
    assert_eq!(refusal(&mut playing), limited);
    assert_eq!(line(&mut playing, &[user("another")]), "[429 RateLimited]");
    assert_eq!(line(&mut playing, &[user("go")]), "[503 Overloaded]");
    assert_eq!(line(&mut playing, &[user("go")]), "ok EndTurn");
    assert_eq!(line(&mut playing, &[user("go")]), "ok EndTurn");
}

#[test]
fn an_error_of_one_model_is_none_of_the_model_that_stands_in() {
    let text = r#"{"turns": [{"attempts": [{"error": {"status": 529}}, {"text": "ok"}]}]}"#;
    let mut playing = play(text);
    assert_eq!(line(&mut playing, &[user("go")]), "[529 Overloaded]");
    let mut other = request(&[user("go")]);
    other.model = "stand-in".to_owned();
    let reply = playing.answer(&other).unwrap();
    assert!(
        matches!(reply.steps.as_slice(), [Step::Fail(_)]),
        "{reply:?}"
    );
}

#[test]
fn a_stream_ends_where_its_turn_says() {
    let call = r#""calls": [{"name": "bash", "input": {"command": "echo hello, world"}}]"#;
    let table = [
        (
            format!(r#"{call}, "cut": "in_call""#),
            r#" bash:{"command":"[cut]"#,
        ),
        (
            format!(r#"{call}, "piece": 99, "cut": "in_call""#),
            r#" bash:{"command":"ech[cut]"#,
        ),
        (
            format!(r#"{call}, "hang": "in_call", "piece": 10"#),
            r#" bash:{"command":"echo hel[hang]"#,
        ),
        (
            format!(r#"{call}, "cut": "before_end""#),
            r#" bash:{"command":"echo hello, world"}[cut]"#,
        ),
        (
            r#""text": ["one ", "two ", "three"], "cut": 2"#.to_owned(),
            "one two [cut]",
        ),
        (
            r#""text": "never", "hang": 0, "delay": 5"#.to_owned(),
            "[5ms][hang]",
        ),
        (r#""text": "never", "cut": 0"#.to_owned(), "[cut]"),
        (
            r#""text": "some", "error": {"status": 500}"#.to_owned(),
            "some[500 Overloaded]",
        ),
        (
            r#""error": {"kind": "context_overflow"}"#.to_owned(),
            "[400 ContextOverflow]",
        ),
        (r#""empty": true"#.to_owned(), " EndTurn"),
        (
            r#""text": "half", "stop": "max_tokens""#.to_owned(),
            "half MaxTokens",
        ),
    ];
    for (turn, expected) in table {
        let text = format!(r#"{{"defaults": {{"piece": 12}}, "turns": [{{{turn}}}]}}"#);
        assert_eq!(line(&mut play(&text), &[user("go")]), expected, "{turn}");
    }
}

#[test]
fn parts_come_in_their_order_at_their_pace() {
    let text = r#"{"turns": [{"delay": 7, "pace": 3, "parts": [
        {"think": "hm"}, {"text": ["a", "b"]}, {"keep_alive": true}, {"wait": 50},
        {"call": {"name": "read", "raw": "{\"path\": nope", "id": "own"}}, {"text": "after"}
    ]}]}"#;
    let expected =
        "[7ms]<hm>[3ms]a[3ms]b[alive][50ms][3ms] read:[3ms]{\"path\": nope[3ms]after ToolUse";
    assert_eq!(line(&mut play(text), &[user("go")]), expected);
}

#[test]
fn ids_differ_between_histories_and_within_a_message() {
    let text = r#"{"turns": [{"repeat": true, "calls": [{"name": "a"}, {"name": "b"}]}]}"#;
    let ids = |messages: &[ServedMessage]| -> Vec<String> {
        let reply = play(text).answer(&request(messages)).unwrap();
        let id = |event: &ModelEvent| match event {
            ModelEvent::CallStarted { id, .. } => Some(id.clone()),
            _ => None,
        };
        reply.events().filter_map(id).collect()
    };
    let first = ids(&[user("go")]);
    let second = ids(&[user("go"), asks("a", "{}"), result("a", "x")]);
    let all: std::collections::BTreeSet<_> = first.iter().chain(&second).collect();
    assert_eq!(all.len(), 4, "{first:?} {second:?}");
    assert_eq!(first, ids(&[user("go")]));
}

#[test]
fn a_placeholder_in_arguments_stays_valid_json() {
    let text = r#"{"turns": [{"calls": [{"name": "bash", "input": {"command": ["echo", {"x": "{{last_result}}"}], "n": 3}}], "repeat": true}]}"#;
    let history = [user("go"), asks("a", "{}"), result("a", "say \"hi\"\n\\")];
    let expected = r#" bash:{"command":["echo",{"x":"say \"hi\"\n\\"}],"n":3} ToolUse"#;
    assert_eq!(line(&mut play(text), &history), expected);
}

#[test]
fn usage_is_given_or_grows_with_the_history() {
    let usage = |text: &str, messages: &[ServedMessage]| {
        let reply = play(text).answer(&request(messages)).unwrap();
        let usage = |event: &ModelEvent| match event {
            ModelEvent::Usage(usage) => Some(*usage),
            _ => None,
        };
        reply.events().find_map(usage).unwrap()
    };
    let given = Usage {
        input: 7,
        output: 8,
        reasoning: 1,
        ..Usage::default()
    };
    let text = r#"{"turns": [{"text": "x", "usage": {"input": 7, "output": 8, "reasoning": 1}}]}"#;
    assert_eq!(usage(text, &[user("go")]), given);
    let text = r#"{"turns": [{"text": "a longer answer of some words"}]}"#;
    let small = usage(text, &[user("go")]);
    let large = usage(text, &[user(&"go ".repeat(400))]);
    assert_eq!((large.input - small.input, large.output), (299, 7));
}

#[test]
fn a_window_refuses_what_does_not_fit() {
    let mut playing = play(r#"{"window": 100, "turns": [{"text": "ok"}]}"#);
    assert_eq!(line(&mut playing, &[user("go")]), "ok EndTurn");
    let refused = playing
        .answer(&request(&[user(&"x".repeat(500))]))
        .unwrap_err();
    assert_eq!(
        (refused.status, refused.kind),
        (400, ProviderErrorKind::ContextOverflow)
    );
}

#[test]
fn a_history_without_a_turn_is_refused_by_name() {
    let refused = line(
        &mut play(THREE),
        &[
            user("go on"),
            asks("a", "{}"),
            result("a", "1"),
            asks("b", "{}"),
            result("b", "2"),
            asks("c", "{}"),
            result("c", "3"),
        ],
    );
    assert_eq!(
        refused,
        "refused: the scenario has no turn for this history: 3 answers and 3 tool results after the prompt \"go on\""
    );
}

#[test]
fn what_a_file_may_not_say_is_named() {
    let table = [
        (
            "{\"turns\": [\n  {\"text\": \"x\",\n   \"tetx\": \"y\"}]}",
            "unknown field `tetx`",
            "line 3",
        ),
        (
            "{\"turns\": [{\"text\": \"x\", \"when\": {\"promt\": \"y\"}}]}",
            "unknown field `promt`",
            "line 1",
        ),
        ("{\n\"turn\": []}", "unknown field `turn`", "line 2"),
        ("{\"turns\": []}", "it holds no turns", ""),
        (
            "{\"turns\": [{\"text\": \"x\"}, {}]}",
            "turns[1] says nothing",
            "",
        ),
        (
            "{\"turns\": [{\"parts\": [{\"txt\": \"x\"}]}]}",
            "unknown variant `txt`",
            "line 1",
        ),
        (
            "{\"turns\": [{\"parts\": [{\"text\": \"x\"}], \"text\": \"y\"}]}",
            "turns[0] has `parts`",
            "",
        ),
        (
            "{\"turns\": [{\"text\": \"x\", \"empty\": true}]}",
            "turns[0] is `empty` and says something",
            "",
        ),
        (
            "{\"turns\": [{\"text\": \"x\", \"cut\": 1, \"hang\": 1}]}",
            "turns[0] ends more than once",
            "",
        ),
        (
            "{\"turns\": [{\"text\": \"x\", \"cut\": \"in_call\"}]}",
            "turns[0] ends \"in_call\" and makes no call",
            "",
        ),
        (
            "{\"turns\": [{\"text\": \"x\", \"cut\": \"somewhere\"}]}",
            "`somewhere` is no place",
            "line 1",
        ),
        (
            "{\"turns\": [{\"calls\": [{\"name\": \"a\", \"input\": {}, \"raw\": \"\"}]}]}",
            "turns[0] has a call with `input` and `raw`",
            "",
        ),
        (
            "{\"turns\": [{\"attempts\": [{\"text\": \"x\"}], \"text\": \"y\"}]}",
            "turns[0] has `attempts`",
            "",
        ),
        (
            "{\"turns\": [{\"attempts\": [{\"text\": \"x\", \"repeat\": true}]}]}",
            "turns[0] has an attempt with `when`",
            "",
        ),
        (
            "{\"conversations\": [{\"when\": {}, \"turns\": [{}]}]}",
            "conversations[0].turns[0] says nothing",
            "",
        ),
        (
            "{\"turns\": [{\"error\": {\"retry_after\": -1}}]}",
            "turns[0] has a `retry_after` that is no number",
            "",
        ),
    ];
    for (text, problem, place) in table {
        let error = Scenario::parse(text).unwrap_err().to_string();
        assert!(
            error.contains(problem) && error.contains(place),
            "{text}: {error}"
        );
    }
}

#[test]
fn stop_reasons_are_written_as_the_journal_writes_them() {
    let text = r#"{"turns": [{"text": "no", "stop": "refusal"}]}"#;
    let reply = play(text).answer(&request(&[user("go")])).unwrap();
    let last = reply.events().last().cloned();
    assert_eq!(last, Some(ModelEvent::Finished(StopReason::Refusal)));
}

/// What is shipped as an example can be played.
#[test]
fn every_example_is_a_scenario() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    let mut parsed = 0;
    for folder in [folder.clone(), folder.join("tasks")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_json = path
                .extension()
                .is_some_and(|extension| extension == "json");
            if !is_json || path.ends_with("index.json") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let scenario = Scenario::parse(&text);
            assert!(scenario.is_ok(), "{}: {scenario:?}", path.display());
            parsed += 1;
        }
    }
    assert!(parsed >= 26, "{parsed}");
}
