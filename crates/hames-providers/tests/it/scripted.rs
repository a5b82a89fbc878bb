//! The scripted model behind the seam that the loop uses.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use hames_providers::Scripted;
use hames_types::{
    ApiKind, AssistantMessage, Block, BlockKind, Content, Head, Message, ModelEvent, Options,
    Origin, Provider, ProviderError, ProviderErrorKind, RawJson, Request, ResultStatus, StopReason,
    ToolCall, ToolResult, ToolResults, Usage, UserMessage,
};
use tokio::time::Instant;

fn head() -> Head {
    Head {
        api: ApiKind::OpenaiChat,
        model: "script".into(),
        system: "You are a test.".into(),
        tools: Vec::new(),
        options: Options {
            max_tokens: 100,
            temperature: None,
            effort: None,
            context_window: None,
        },
    }
}

async fn ask(model: &Scripted, messages: &[Message]) -> Vec<Result<ModelEvent, ProviderError>> {
    let head = head();
    let head_bytes = model.encode_head(&head);
    let encode = |message| model.encode_message(&head, message);
    let messages: Vec<_> = messages.iter().map(encode).collect();
    let (head, head_bytes, messages) = (&head, &head_bytes, messages.as_slice());
    let stream = model.send(&Request {
        head,
        head_bytes,
        messages,
    });
    stream.collect().await
}

fn user(text: &str) -> Message {
    Message::User(Arc::new(UserMessage::text(Origin::Human, text)))
}

fn round(id: &str, said: &str) -> [Message; 2] {
    let call = ToolCall {
        id: id.into(),
        name: "bash".to_owned(),
        input: RawJson::from("{}"),
    };
    let result = Arc::new(ToolResult::text(&call.id, ResultStatus::Ok, said));
    let results = ToolResults::close(std::slice::from_ref(&call), |_, _| result.clone());
    let kind = BlockKind::ToolCall(call);
    let asked = AssistantMessage {
        blocks: vec![Block { kind, echo: None }],
        stop: StopReason::ToolUse,
        usage: Usage::default(),
    };
    [
        Message::Assistant(Arc::new(asked)),
        Message::Tool(Arc::new(results)),
    ]
}

fn text(block: u32, text: &str) -> Result<ModelEvent, ProviderError> {
    let text = text.to_owned();
    Ok(ModelEvent::TextDelta { block, text })
}

fn end(input: u64, output: u64, stop: StopReason) -> [Result<ModelEvent, ProviderError>; 2] {
    let usage = Usage {
        input,
        output,
        ..Usage::default()
    };
    [Ok(ModelEvent::Usage(usage)), Ok(ModelEvent::Finished(stop))]
}

#[tokio::test]
async fn it_answers_what_the_loop_has_encoded() {
    let model = Scripted::parse(
        r#"{"turns": [
            {"calls": [{"name": "bash", "input": {}, "id": "one"}], "usage": {"input": 1, "output": 2}},
            {"text": ["saw ", "{{last_result}}"], "usage": {"input": 3, "output": 4}}
        ]}"#,
    )
    .unwrap();
    let first = ask(&model, &[user("go")]).await;
    let mut expected = vec![
        Ok(ModelEvent::CallStarted {
            block: 0,
            id: "one".into(),
            name: "bash".into(),
        }),
        Ok(ModelEvent::CallInputDelta {
            block: 0,
            json: "{}".into(),
        }),
    ];
    expected.extend(end(1, 2, StopReason::ToolUse));
    assert_eq!(first, expected);
    let [asked, answered] = round("one", "out");
    let second = ask(&model, &[user("go"), asked, answered]).await;
    let mut expected = vec![text(0, "saw "), text(0, "out")];
    expected.extend(end(3, 4, StopReason::EndTurn));
    assert_eq!(second, expected);
}

#[tokio::test(start_paused = true)]
async fn its_waits_are_the_clocks() {
    let model = Scripted::parse(r#"{"turns": [{"delay": 200, "pace": 1000, "text": ["a", "b"]}]}"#)
        .unwrap();
    let started = Instant::now();
    ask(&model, &[user("go")]).await;
    assert_eq!(started.elapsed(), Duration::from_millis(1200));
}

#[tokio::test(start_paused = true)]
async fn it_fails_cuts_and_hangs_as_a_server_would() {
    let model = Scripted::parse(
        r#"{"turns": [{"attempts": [
            {"error": {"status": 429, "retry_after": 2, "message": "slow down"}},
            {"text": ["half"], "cut": 1},
            {"text": "never", "hang": 0}
        ]}]}"#,
    )
    .unwrap();
    let limited = ProviderError {
        status: Some(429),
        retry_after: Some(Duration::from_secs(2)),
        ..ProviderError::new(ProviderErrorKind::RateLimited, "slow down")
    };
    assert_eq!(ask(&model, &[user("go")]).await, [Err(limited)]);
    assert_eq!(ask(&model, &[user("go")]).await, [text(0, "half")]);
    let hung = [user("go")];
    let hung = tokio::time::timeout(Duration::from_secs(3600), ask(&model, &hung));
    assert!(hung.await.is_err());
}

#[tokio::test]
async fn a_history_it_has_no_turn_for_is_rejected_and_not_retried() {
    let model = Scripted::parse(r#"{"turns": [{"text": "only"}]}"#).unwrap();
    let [asked, answered] = round("one", "out");
    let events = ask(&model, &[user("go"), asked, answered]).await;
    let [Err(error)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(error.kind, ProviderErrorKind::Rejected);
}

#[test]
fn what_cannot_be_opened_is_named() {
    let Err(missing) = Scripted::open("/nowhere/at/all.json") else {
        panic!("opened");
    };
    assert!(
        missing.to_string().starts_with("/nowhere/at/all.json: "),
        "{missing}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.json");
    std::fs::write(&path, "{\n \"trns\": []}").unwrap();
    let Err(bad) = Scripted::open(&path) else {
        panic!("opened");
    };
    let bad = bad.to_string();
    assert!(
        bad.contains("bad.json") && bad.contains("`trns`") && bad.contains("line 2"),
        "{bad}"
    );
}

/// Every message a transcript may hold can be read back.
#[tokio::test]
async fn any_content_survives_its_encoding() {
    let model = Scripted::parse(r#"{"turns": [{"text": "{{prompt}}"}]}"#).unwrap();
    let picture = Content::Image {
        media_type: "image/png".into(),
        base64: "AAAA".into(),
    };
    let said = Content::Text {
        text: "look".to_owned(),
    };
    let message = UserMessage {
        content: vec![picture, said],
        origin: Origin::Human,
    };
    let events = ask(&model, &[Message::User(Arc::new(message))]).await;
    assert_eq!(events.first(), Some(&text(0, "look")));
}
