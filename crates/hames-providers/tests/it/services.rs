//! A provider at the strict model service, over each of its wires.

use std::{collections::BTreeMap, time::Duration};

use futures_util::StreamExt;
use hames_providers::{Catalog, HttpProvider, Network, Timeouts, Wanted, discover};
use hames_testkit::server::{Options, Server};
use hames_types::{
    ApiKind, ModelEvent, Provider, ProviderError, ProviderErrorKind, StopReason, Usage,
};
use hames_wire::{Delivery, scenario::Scenario};

use crate::call::{Asking, KEY, key_is_set, patient};

const KINDS: [ApiKind; 3] = [
    ApiKind::OpenaiChat,
    ApiKind::AnthropicMessages,
    ApiKind::OllamaChat,
];

async fn provider(
    kind: ApiKind,
    server: &Server,
    timeouts: Timeouts,
    delivery: Delivery,
) -> std::sync::Arc<HttpProvider> {
    let url = server.url();
    let spec = match kind {
        ApiKind::AnthropicMessages => format!("anthropic+{url}#toy"),
        ApiKind::OllamaChat => format!("ollama+{url}#toy"),
        _ => format!("{url}/v1#toy"),
    };
    let catalog = Catalog::built_in().unwrap();
    let wanted = Wanted {
        asked: Some(&spec),
        settings: None,
    };
    let network = Network::default();
    let choice = discover(&catalog, wanted, &key_is_set, &network);
    let choice = choice.await.unwrap();
    choice.connect(network, timeouts, delivery).unwrap()
}

async fn server(scenario: &str) -> Server {
    let scenario = Scenario::parse(scenario).unwrap();
    Server::start(scenario).await.unwrap()
}

type Heard = Vec<Result<ModelEvent, ProviderError>>;

async fn ask(provider: &HttpProvider, prompts: &[&str]) -> Heard {
    let asking = Asking::new(provider, prompts);
    provider.send(&asking.request()).collect().await
}

async fn ask_over(kind: ApiKind, server: &Server, delivery: Delivery) -> Heard {
    let provider = provider(kind, server, patient(), delivery).await;
    ask(&provider, &["go"]).await
}

/// Text and calls, block by block, and how it ended, in one line.
fn line(events: &Heard) -> String {
    let (mut blocks, mut end) = (BTreeMap::<u32, String>::new(), String::new());
    for event in events {
        match event {
            Ok(ModelEvent::TextDelta { block, text }) => {
                blocks.entry(*block).or_default().push_str(text);
            }
            Ok(ModelEvent::ReasoningDelta { block, text }) => {
                blocks.entry(*block).or_insert("~".into()).push_str(text);
            }
            Ok(ModelEvent::CallStarted { block, id, name }) => {
                blocks.insert(*block, format!(" {id}={name}:"));
            }
            Ok(ModelEvent::CallInputDelta { block, json }) => {
                blocks.entry(*block).or_default().push_str(json);
            }
            Ok(ModelEvent::Finished(stop)) => end += &format!(" {stop:?}"),
            Ok(ModelEvent::BlockEcho { .. } | ModelEvent::Usage(_)) => {}
            Err(error) => end += &format!(" [{:?} {:?}]", error.kind, error.status),
        }
    }
    blocks.into_values().chain([end]).collect()
}

const TALK: &str = r#"{"defaults": {"delay": 1, "pace": 1}, "turns": [{
    "think": "hm", "text": "Look.", "usage": {"input": 10, "output": 4},
    "calls": [{"name": "bash", "input": {"command": "ls"}, "id": "one"}, {"name": "read", "input": {"path": "x"}, "id": "two"}]
}]}"#;

#[tokio::test]
async fn every_wire_carries_the_same_answer() {
    for kind in KINDS {
        for delivery in [Delivery::Stream, Delivery::Whole] {
            let server = server(TALK).await;
            let events = ask_over(kind, &server, delivery).await;
            let expected = r#"~hmLook. one=bash:{"command":"ls"} two=read:{"path":"x"} ToolUse"#;
            assert_eq!(line(&events), expected, "{kind:?} {delivery:?}");
            let usage = events.iter().rev().find_map(|event| match event {
                Ok(ModelEvent::Usage(usage)) => Some(*usage),
                _ => None,
            });
            let expected = Usage {
                input: 10,
                output: 4,
                ..Usage::default()
            };
            assert_eq!(usage, Some(expected), "{kind:?} {delivery:?}");
            let seen = server.chats();
            assert_eq!(seen.len(), 1);
            assert_eq!((seen[0].api(), seen[0].status), (Some(kind), Some(200)));
            assert_eq!(server.refusals(), [""; 0]);
        }
    }
}

#[tokio::test]
async fn errors_come_with_their_kind_and_their_wait() {
    let scenario = r#"{"turns": [{"attempts": [
        {"error": {"status": 429, "retry_after": 7}},
        {"error": {"status": 503, "retry_after": 40, "as_date": true}},
        {"error": {"kind": "context_overflow", "message": "prompt is too long: 300 tokens > 200 maximum"}},
        {"error": {"kind": "transport"}},
        {"text": "ok"}
    ]}]}"#;
    for kind in KINDS {
        let server = server(scenario).await;
        let provider = provider(kind, &server, patient(), Delivery::Stream).await;
        let mut errors = Vec::new();
        for _ in 0..4 {
            let events = ask(&provider, &["go"]).await;
            let [Err(error)] = events.as_slice() else {
                panic!("{kind:?} {events:?}");
            };
            errors.push(error.clone());
        }
        let kinds: Vec<_> = errors.iter().map(|error| error.kind).collect();
        let expected = [
            ProviderErrorKind::RateLimited,
            ProviderErrorKind::Overloaded,
            ProviderErrorKind::ContextOverflow,
            ProviderErrorKind::Transport,
        ];
        assert_eq!(kinds, expected, "{kind:?}");
        assert_eq!(errors[0].retry_after, Some(Duration::from_secs(7)));
        let until = errors[1].retry_after.unwrap();
        assert!(
            until > Duration::from_secs(10) && until <= Duration::from_secs(41),
            "{until:?}"
        );
        assert_eq!(
            line(&ask(&provider, &["go"]).await),
            "ok EndTurn",
            "{kind:?}"
        );
        assert_eq!(server.refusals(), [""; 0]);
    }
}

#[tokio::test]
async fn a_cut_answer_is_never_a_whole_one() {
    for kind in KINDS {
        for delivery in [Delivery::Stream, Delivery::Whole] {
            for place in ["\"in_call\"", "\"before_end\"", "1", "0"] {
                let call = r#"{"name": "bash", "input": {"command": "rm -rf x"}}"#;
                let scenario = format!(
                    r#"{{"turns": [{{"text": "I will.", "calls": [{call}], "cut": {place}}}]}}"#
                );
                let server = server(&scenario).await;
                let events = ask_over(kind, &server, delivery).await;
                let finished = events
                    .iter()
                    .any(|event| matches!(event, Ok(ModelEvent::Finished(_))));
                assert!(!finished, "{kind:?} {delivery:?} {place}: {events:?}");
                let last = events.last();
                let is_transport =
                    matches!(last, Some(Err(error)) if error.kind == ProviderErrorKind::Transport);
                assert!(is_transport, "{kind:?} {delivery:?} {place}: {events:?}");
                // Not even the transfer ended as it should.
                let broke = matches!(last, Some(Err(error)) if error.message.contains("broke off"));
                assert!(
                    broke || place == "0",
                    "{kind:?} {delivery:?} {place}: {events:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_error_amid_an_answer_ends_it() {
    let scenario =
        r#"{"turns": [{"text": "half", "error": {"status": 529, "message": "overloaded"}}]}"#;
    for kind in KINDS {
        let server = server(scenario).await;
        let events = ask_over(kind, &server, Delivery::Stream).await;
        let text = |event: &Result<_, _>| matches!(event, Ok(ModelEvent::TextDelta { .. }));
        assert!(events.iter().any(text), "{kind:?} {events:?}");
        let last = events.last();
        let is_kept = matches!(last, Some(Err(error)) if error.message.contains("overloaded"));
        assert!(is_kept, "{kind:?} {events:?}");
    }
}

#[tokio::test]
async fn what_hangs_is_given_up() {
    let timeouts = Timeouts {
        first_byte: Duration::from_millis(50),
        idle: Duration::from_millis(50),
        ..patient()
    };
    for place in ["0", "1", "\"before_end\""] {
        let scenario = format!(r#"{{"turns": [{{"text": ["one", "two"], "hang": {place}}}]}}"#);
        let server = server(&scenario).await;
        let provider = provider(ApiKind::OpenaiChat, &server, timeouts, Delivery::Stream).await;
        let events = ask(&provider, &["go"]).await;
        let last = events.last();
        let is_transport =
            matches!(last, Some(Err(error)) if error.kind == ProviderErrorKind::Transport);
        assert!(is_transport, "{place}: {events:?}");
    }
}

#[tokio::test]
async fn bytes_that_mean_nothing_keep_an_answer_alive() {
    let timeouts = Timeouts {
        idle: Duration::from_millis(400),
        ..patient()
    };
    let waits = r#"{"wait": 150}, {"keep_alive": true}, "#.repeat(5);
    let scenario =
        format!(r#"{{"turns": [{{"parts": [{{"text": "one"}}, {waits} {{"text": " two"}}]}}]}}"#);
    for kind in KINDS {
        let server = server(&scenario).await;
        let provider = provider(kind, &server, timeouts, Delivery::Stream).await;
        assert_eq!(
            line(&ask(&provider, &["go"]).await),
            "one two EndTurn",
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn the_service_remembers_bodies_and_headers() {
    let server = server(r#"{"turns": [{"text": "ok", "repeat": true}]}"#).await;
    let provider = provider(ApiKind::OpenaiChat, &server, patient(), Delivery::Stream).await;
    ask(&provider, &["one"]).await;
    ask(&provider, &["one", "two"]).await;
    let seen = server.requests();
    let paths: Vec<_> = seen
        .iter()
        .map(|seen| (seen.method.as_str(), seen.path.as_str()))
        .collect();
    assert_eq!(paths, [("POST", "/v1/chat/completions"); 2]);
    let shared = seen[0]
        .body
        .iter()
        .zip(&seen[1].body)
        .take_while(|(one, other)| one == other);
    assert!(
        shared.count() > seen[0].body.len() / 2,
        "the second request extends the first"
    );
    assert_eq!(seen[0].header("Content-Type"), Some("application/json"));
    assert_eq!(seen[1].json()["messages"][1]["content"], "one\n\ntwo");
}

#[tokio::test]
async fn a_key_is_asked_for_where_one_is_set() {
    for (key, expected) in [(KEY, "ok EndTurn"), ("another", " [Auth Some(401)]")] {
        let scenario = Scenario::parse(r#"{"turns": [{"text": "ok"}]}"#).unwrap();
        let options = Options {
            key: Some(key.to_owned()),
            ..Options::default()
        };
        let server = Server::start_with(scenario, options).await.unwrap();
        let events = ask_over(ApiKind::OpenaiChat, &server, Delivery::Stream).await;
        assert_eq!(line(&events), expected);
    }
}

#[tokio::test]
async fn a_server_that_is_dropped_is_gone() {
    let server = server(r#"{"turns": [{"text": "x", "hang": 1}]}"#).await;
    let provider = provider(ApiKind::OpenaiChat, &server, patient(), Delivery::Stream).await;
    let asking = Asking::new(&provider, &["go"]);
    let mut stream = provider.send(&asking.request());
    let first = stream.next().await;
    assert!(
        matches!(first, Some(Ok(ModelEvent::TextDelta { .. }))),
        "{first:?}"
    );
    drop(server);
    let rest: Heard = stream.collect().await;
    assert!(matches!(rest.as_slice(), [.., Err(_)]), "{rest:?}");
    assert!(!rest.contains(&Ok(ModelEvent::Finished(StopReason::EndTurn))));
}
