//! Calls over a real socket: connections, time limits, breaks, waits that a server asks for.
//!
//! Limits are tens of milliseconds, and what is asserted is how a call ended, never when.

use std::time::Duration;

use futures_util::{StreamExt, future::join_all};
use hames_providers::{Network, Timeouts};
use hames_types::Provider;
use hames_types::ProviderErrorKind::{Overloaded, Rejected, Transport};
use hames_wire::Delivery;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    call::{Asking, Heard, choice_at, error, hear, patient, plain, provider},
    server::{DONE, STOPS, Server, Step, answer, chunk, end, events, says},
};

const SHORT: Duration = Duration::from_millis(60);

fn fine() -> Vec<Step> {
    vec![
        events(),
        chunk(says("Hello")),
        chunk(STOPS),
        chunk(DONE),
        end(),
    ]
}

#[tokio::test]
async fn two_calls_share_one_connection_and_send_an_exact_length() {
    let server = Server::always(fine()).await;
    let provider = plain(&server.url("/v1")).await;
    for _ in 0..2 {
        assert_eq!(hear(&provider).await, Heard::well("Hello"));
    }
    let seen = server.seen();
    assert_eq!([seen[0].connection, seen[1].connection], [0, 0]);
    assert_eq!(seen[0].line(), "POST /v1/chat/completions HTTP/1.1");
    let length = seen[0].body.len().to_string();
    assert_eq!(seen[0].header("content-length"), Some(length.as_str()));
    assert_eq!(seen[0].header("transfer-encoding"), None);
    assert_eq!(
        seen[0].header("authorization"),
        Some("Bearer sk-very-secret-1234")
    );
    assert_eq!(seen[0].header("accept"), Some("text/event-stream"));
    let body: serde_json::Value = serde_json::from_slice(&seen[0].body).unwrap();
    assert_eq!(body["model"], "toy");
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
}

/// P-01: what was said before is in the next request only if it is put there.
#[tokio::test]
async fn req_p01_a_call_remembers_nothing() {
    let server = Server::always(fine()).await;
    let provider = plain(&server.url("/v1")).await;
    for prompt in ["the first", "the second"] {
        let asking = Asking::new(&provider, &[prompt]);
        let events: Vec<_> = provider.send(&asking.request()).collect().await;
        assert!(events.iter().all(Result::is_ok));
    }
    let second = String::from_utf8(server.seen().pop().unwrap().body).unwrap();
    assert!(
        second.contains("the second") && !second.contains("the first"),
        "{second}"
    );
}

#[tokio::test]
async fn a_body_of_many_pieces_and_of_large_ones_arrives_whole() {
    let server = Server::always(fine()).await;
    let provider = plain(&server.url("/v1")).await;
    let large = "x".repeat(200_000);
    let mut prompts = vec!["small"; 3_000];
    prompts.push(&large);
    prompts.push("last");
    let asking = Asking::new(&provider, &prompts);
    let request = asking.request();
    let events: Vec<_> = provider.send(&request).collect().await;
    assert!(events.iter().all(Result::is_ok));
    let body: serde_json::Value = serde_json::from_slice(&server.seen()[0].body).unwrap();
    let sent = body["messages"].to_string();
    assert_eq!(sent.matches("small").count(), 3_000);
    assert_eq!(sent.matches(&large).count(), 1);
    assert!(sent.contains("last\",\"role\":\"user\"}]"));
}

#[tokio::test]
async fn fault_d06_a_server_that_takes_no_connection_ends_in_the_connect_phase() {
    // It accepts and then never shakes hands.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let timeouts = Timeouts {
        connect: SHORT,
        ..patient()
    };
    let provider = provider(&format!("https://{address}"), Network::default(), timeouts).await;
    let message = format!("no answer from {address} within 60ms (connect)");
    assert_eq!(hear(&provider).await, Heard::badly("", Transport, message));
}

#[tokio::test]
async fn fault_d06_a_server_that_never_begins_ends_in_the_first_byte_phase() {
    let silent = vec![Step::Hang];
    let head_only = vec![events(), Step::Hang];
    let begins = [silent, head_only].map(|steps| async move {
        let server = Server::always(steps).await;
        let timeouts = Timeouts {
            first_byte: SHORT,
            ..patient()
        };
        let provider = provider(&server.url("/v1"), Network::default(), timeouts).await;
        let message = format!("no answer from {} within 60ms (first byte)", server.address);
        assert_eq!(hear(&provider).await, Heard::badly("", Transport, message));
    });
    join_all(begins).await;
}

#[tokio::test]
async fn fault_d05_silence_after_the_first_event_ends_in_the_idle_phase() {
    let server = Server::always(vec![events(), chunk(says("Hel")), Step::Hang]).await;
    let timeouts = Timeouts {
        idle: SHORT,
        ..patient()
    };
    let provider = provider(&server.url("/v1"), Network::default(), timeouts).await;
    let message = format!("{} has sent nothing for 60ms (idle)", server.address);
    assert_eq!(
        hear(&provider).await,
        Heard::badly("Hel", Transport, message)
    );
}

#[tokio::test]
async fn fault_d03_comments_and_pings_keep_a_slow_stream_alive() {
    let mut steps = vec![events(), chunk(says("Hello"))];
    for beat in [": still here\n\n", "event: ping\ndata: {}\n\n"].repeat(20) {
        steps.push(Step::Pause(Duration::from_millis(20)));
        steps.push(chunk(beat));
    }
    steps.extend([chunk(STOPS), chunk(DONE), end()]);
    let server = Server::always(steps).await;
    let timeouts = Timeouts {
        idle: Duration::from_millis(500),
        ..patient()
    };
    let provider = provider(&server.url("/v1"), Network::default(), timeouts).await;
    let heard = hear(&provider).await;
    assert_eq!((heard.text.as_str(), heard.error), ("Hello", None));
}

#[tokio::test]
async fn fault_d02_a_stream_that_breaks_before_its_end_is_an_error_and_keeps_its_text() {
    let server = Server::always(vec![events(), chunk(says("Hel")), Step::Close]).await;
    let heard = hear(&plain(&server.url("/v1")).await).await;
    assert_eq!((heard.text.as_str(), heard.stop), ("Hel", None));
    let error = heard.error.unwrap();
    assert_eq!(error.kind, Transport);
    let begins = format!("the answer of {} broke off after ", server.address);
    assert!(error.message.starts_with(&begins), "{}", error.message);
}

#[tokio::test]
async fn a_body_that_ends_well_without_its_terminal_event_is_an_error_too() {
    let server = Server::always(vec![events(), chunk(says("Hel")), end()]).await;
    let heard = hear(&plain(&server.url("/v1")).await).await;
    assert_eq!((heard.text.as_str(), heard.stop), ("Hel", None));
    let error = heard.error.unwrap();
    assert_eq!(error.kind, Transport);
    let begins = format!("the answer of {} ended after ", server.address);
    assert!(error.message.starts_with(&begins), "{}", error.message);
}

#[tokio::test]
async fn what_breaks_after_the_terminal_event_breaks_nothing() {
    let well = vec![events(), chunk(says("Hello")), chunk(STOPS)];
    let endings = [vec![Step::Close], vec![Step::Hang], vec![end()]];
    let calls = endings.map(|ending| async {
        let server = Server::always([well.clone(), ending].concat()).await;
        let timeouts = Timeouts {
            idle: SHORT,
            ..patient()
        };
        let provider = provider(&server.url("/v1"), Network::default(), timeouts).await;
        assert_eq!(hear(&provider).await, Heard::well("Hello"));
    });
    join_all(calls).await;
}

#[tokio::test]
async fn characters_split_over_chunks_come_out_whole() {
    let text = "naïve — 你好 🦀";
    let stream = format!("{}{STOPS}{DONE}", says(text));
    let bytes = stream.bytes().map(|byte| chunk([byte]));
    let steps = [events()].into_iter().chain(bytes).chain([end()]);
    let server = Server::always(steps.collect()).await;
    assert_eq!(
        hear(&plain(&server.url("/v1")).await).await,
        Heard::well(text)
    );
}

#[tokio::test]
async fn a_server_that_cannot_stream_is_understood() {
    let whole = r#"
        {"choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;
    let server = Server::always(answer("200 OK", "", whole)).await;
    assert_eq!(
        hear(&plain(&server.url("/v1")).await).await,
        Heard::well("Hello")
    );
}

#[tokio::test]
async fn fault_d07_the_wait_that_a_server_asks_for_is_read_in_all_its_spellings() {
    let date = "date: Tue, 01 Dec 2026 03:00:00 GMT\r\n";
    let cases = [
        ("retry-after: 7\r\n".to_owned(), Some(7_000)),
        ("retry-after: 0.25\r\n".to_owned(), Some(250)),
        (
            "retry-after: 7\r\nretry-after-ms: 1500\r\n".to_owned(),
            Some(1_500),
        ),
        (
            format!("{date}retry-after: Tue, 01 Dec 2026 03:01:30 GMT\r\n"),
            Some(90_000),
        ),
        (
            format!("{date}retry-after: Tue, 01 Dec 2026 02:00:00 GMT\r\n"),
            Some(0),
        ),
        (
            "retry-after: Fri, 01 Jan 2021 00:00:00 GMT\r\n".to_owned(),
            Some(0),
        ),
        ("retry-after: soon\r\n".to_owned(), None),
        ("retry-after: -1\r\n".to_owned(), None),
        (String::new(), None),
    ];
    for (headers, millis) in cases {
        let body = r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#;
        let server = Server::always(answer("429 Too Many Requests", &headers, body)).await;
        let error = error(&plain(&server.url("/v1")).await).await;
        let wait = error.retry_after.map(|wait| wait.as_millis());
        assert_eq!((error.status, wait), (Some(429), millis), "{headers}");
        assert!(error.message.contains("slow down"), "{}", error.message);
    }
}

#[tokio::test]
async fn req_e02_statuses_come_as_the_kinds_that_the_error_handler_knows() {
    use hames_types::ProviderErrorKind::{Auth, RateLimited};
    let cases = [
        ("400 Bad Request", Rejected),
        ("401 Unauthorized", Auth),
        ("403 Forbidden", Auth),
        ("404 Not Found", Rejected),
        ("429 Too Many Requests", RateLimited),
        ("500 Internal Server Error", Overloaded),
        ("503 Service Unavailable", Overloaded),
        ("529 Overloaded", Overloaded),
    ];
    for (status, kind) in cases {
        let server = Server::always(answer(status, "", r#"{"error":{"message":"no"}}"#)).await;
        let error = error(&plain(&server.url("/v1")).await).await;
        assert_eq!(error.kind, kind, "{status}");
        assert_eq!(
            error.status.unwrap().to_string(),
            status.split(' ').next().unwrap()
        );
    }
}

#[tokio::test]
async fn req_e02_a_reset_before_any_answer_and_a_closed_port_are_transport_errors() {
    let server = Server::always(vec![Step::Close]).await;
    let cut = error(&plain(&server.url("/v1")).await).await;
    assert_eq!(cut.kind, Transport);
    assert!(
        cut.message.contains("hung up before it answered"),
        "{}",
        cut.message
    );

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let refused = error(&plain(&format!("http://{address}/v1")).await).await;
    assert_eq!(refused.kind, Transport);
    let begins = format!("{address} cannot be reached: ");
    assert!(refused.message.starts_with(&begins), "{}", refused.message);
}

#[tokio::test]
async fn addresses_that_lead_astray_say_what_to_set() {
    let page = answer("200 OK", "content-type: text/html\r\n", "<html></html>");
    let moved = answer(
        "308 Permanent Redirect",
        "location: https://there.test/v1\r\n",
        "",
    );
    let server = Server::start(move |seen| match seen.line() {
        "POST /page/chat/completions HTTP/1.1" => page.clone(),
        "POST /moved/chat/completions HTTP/1.1" => moved.clone(),
        _ => answer("404 Not Found", "", "{}"),
    })
    .await;
    let at = server.address;
    let said = async |path: &str| error(&plain(&server.url(path)).await).await.message;
    assert_eq!(
        said("/page").await,
        format!("{at} answered with a web page; check the base URL")
    );
    assert_eq!(
        said("/moved").await,
        format!(
            "{at} redirects to `https://there.test/v1`; if that is right, set it as the base URL"
        )
    );
    assert!(said("").await.ends_with("most servers want /v1 at its end"));
    assert!(
        !said("/v2")
            .await
            .ends_with("most servers want /v1 at its end")
    );
}

#[tokio::test]
async fn pasted_addresses_are_forgiven() {
    let server = Server::always(fine()).await;
    for path in ["/v1", "/v1/", "/v1/chat/completions"] {
        hear(&plain(&server.url(path)).await).await;
    }
    let lines: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.line().to_owned())
        .collect();
    assert_eq!(lines, ["POST /v1/chat/completions HTTP/1.1"; 3]);
}

#[tokio::test]
async fn a_call_that_is_dropped_hangs_up() {
    let server = Server::always(vec![events(), chunk(says("Hel")), Step::Hang]).await;
    let provider = plain(&server.url("/v1")).await;
    let asking = Asking::new(&provider, &["Say something."]);
    let mut stream = provider.send(&asking.request());
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    let again = provider.send(&asking.request()).next().await;
    assert!(again.unwrap().is_ok());
    let connections: Vec<_> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(
        connections,
        [0, 1],
        "a connection in mid-answer is not used again"
    );
}

/// A slow upload is not a server that says nothing.
#[tokio::test]
async fn the_wait_for_an_answer_counts_from_the_last_that_the_server_took() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 256 * 1024];
        let (mut count, mut total) = (1, 0);
        while !buffer[..count].ends_with(b"}") {
            count = stream.read(&mut buffer).await.unwrap();
            total += count;
            if total < 12 * 1024 * 1024 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        let body = format!("{}{STOPS}{DONE}", says("Hello"));
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
    });
    let timeouts = Timeouts {
        first_byte: Duration::from_millis(300),
        ..patient()
    };
    let provider = provider(
        &format!("http://{address}/v1"),
        Network::default(),
        timeouts,
    )
    .await;
    let large = "x".repeat(1024 * 1024);
    let asking = Asking::new(&provider, &[large.as_str(); 24]);
    let events: Vec<_> = provider.send(&asking.request()).collect().await;
    let failed: Vec<_> = events.into_iter().filter_map(Result::err).collect();
    assert_eq!(failed, []);
}

/// P-04: the same answer over each wire, in pieces and whole.
#[tokio::test]
async fn req_p04_three_wires_in_pieces_and_whole() {
    let chat = format!("{}{STOPS}{DONE}", says("Hello"));
    let chat_whole = r#"{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;
    let messages = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    let messages_whole = r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let ollama = concat!(
        "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hello\"},\"done\":false}\n",
        "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
    );
    let ollama_whole = r#"{"model":"m","message":{"role":"assistant","content":"Hello"},"done":true,"done_reason":"stop"}"#;
    let cases = [
        ("", "/v1", "/v1/chat/completions", chat.as_str(), chat_whole),
        ("anthropic+", "", "/v1/messages", messages, messages_whole),
        ("ollama+", "", "/api/chat", ollama, ollama_whole),
    ];
    for (wire, base, path, in_pieces, whole) in cases {
        for (delivery, body) in [(Delivery::Stream, in_pieces), (Delivery::Whole, whole)] {
            let server = Server::always(answer("200 OK", "", body)).await;
            let choice = choice_at(&format!("{wire}{}", server.url(base))).await;
            let provider = choice
                .connect(Network::default(), patient(), delivery)
                .unwrap();
            assert_eq!(
                hear(&provider).await,
                Heard::well("Hello"),
                "{wire} {delivery:?}"
            );
            let seen = server.seen();
            assert_eq!(seen[0].line(), format!("POST {path} HTTP/1.1"));
            let sent: serde_json::Value = serde_json::from_slice(&seen[0].body).unwrap();
            let streams = sent
                .get("stream")
                .and_then(serde_json::Value::as_bool)
                .unwrap_or_default();
            assert_eq!(streams, delivery == Delivery::Stream, "{wire}");
        }
    }
}
