//! A key goes to its server and is seen nowhere else; `--print-curl` repeats a request without it.

use std::process::Command;

use hames_providers::{Catalog, Key, Network, Wanted, discover};
use hames_types::ApiKind;
use hames_wire::Delivery;

use crate::{
    call::{Asking, KEY, ask, choice_at, error, patient, plain},
    server::{DONE, STOPS, Server, answer, chunk, end, events, says},
};

#[tokio::test]
async fn keys_are_in_no_debug_no_error_and_no_curl_command() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let server = Server::always(answer("401 Unauthorized", "", &body)).await;
    let choice = choice_at(&server.url("/v1")).await;
    let provider = plain(&server.url("/v1")).await;
    let asking = Asking::new(&provider, &["hi"]);
    let error = error(&provider).await;
    let shown = [
        format!("{choice:?}"),
        format!("{provider:?}"),
        format!("{:?}", Key::new(KEY, "HAMES_API_KEY")),
        provider.curl(&asking.request()),
        format!("{error:?} {error}"),
    ];
    for text in shown {
        assert!(!text.contains(KEY), "{text}");
        assert!(text.contains("$HAMES_API_KEY"), "{text}");
    }
    assert_eq!(
        server.seen()[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
}

#[tokio::test]
async fn each_vendor_gets_its_key_in_the_header_that_it_reads() {
    let server = Server::always(answer("400 Bad Request", "", "{}")).await;
    let url = server.url("");
    let set = |name: &str| match name {
        "ANTHROPIC_BASE_URL" | "OPENAI_BASE_URL" | "GROQ_BASE_URL" => Some(url.clone()),
        "OPENAI_API_KEY" | "GROQ_API_KEY" => Some(format!(" {KEY}\n")),
        "OPENAI_ORGANIZATION" => Some("org-1".into()),
        "ANTHROPIC_AUTH_TOKEN" => Some("token-1".into()),
        "ANTHROPIC_CUSTOM_HEADERS" => Some("x-one: 1\nx-two:  two words ".into()),
        _ => None,
    };
    let catalog = Catalog::built_in().unwrap();
    for spec in ["openai/gpt-5", "groq/llama", "anthropic/claude-opus-5"] {
        let wanted = Wanted {
            asked: Some(spec),
            settings: None,
        };
        let network = Network::default();
        let choice = discover(&catalog, wanted, &set, &network).await.unwrap();
        if hames_wire::api::api(choice.api()).is_none() {
            eprintln!("skipped: there is no codec for {:?} yet", choice.api());
            continue;
        }
        let provider = choice
            .connect(network, patient(), Delivery::Stream)
            .unwrap();
        ask(&provider).await;
        let seen = server.seen().pop().unwrap();
        let headers = [
            "authorization",
            "x-api-key",
            "openai-organization",
            "anthropic-version",
            "x-two",
        ];
        let sent = headers.map(|name| seen.header(name).unwrap_or_default().to_owned());
        let bearer = format!("Bearer {KEY}");
        let wanted = match spec {
            "openai/gpt-5" => [bearer.as_str(), "", "org-1", "", ""],
            "groq/llama" => [bearer.as_str(), "", "", "", ""],
            _ => ["Bearer token-1", "", "", "2023-06-01", "two words"],
        };
        assert_eq!(sent, wanted, "{spec}");
    }
}

/// P-02: what curl sends is what the provider sends.
#[tokio::test]
async fn req_p02_print_curl_is_repeated_by_curl() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: there is no curl here");
        return;
    }
    let steps = vec![
        events(),
        chunk(says("Hello")),
        chunk(STOPS),
        chunk(DONE),
        end(),
    ];
    let server = Server::always(steps).await;
    let provider = plain(&server.url("/v1")).await;
    let large = "it's large ".repeat(20_000);
    for prompts in [&["It's $HOME `id` \\ \"x\"\n— 🦀"][..], &["a", &large]] {
        let asking = Asking::new(&provider, prompts);
        let command = provider.curl(&asking.request());
        let events: Vec<_> = futures_util::StreamExt::collect(hames_types::Provider::send(
            &provider,
            &asking.request(),
        ))
        .await;
        assert!(events.iter().all(Result::is_ok));
        let run = move || {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg("exec sh").env("HAMES_API_KEY", KEY);
            shell.stdin(std::process::Stdio::piped());
            shell.stdout(std::process::Stdio::piped());
            let mut child = shell.spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            std::io::Write::write_all(&mut stdin, command.as_bytes()).unwrap();
            drop(stdin);
            child.wait_with_output().unwrap()
        };
        let output = tokio::task::spawn_blocking(run).await.unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        assert_eq!(answer, format!("{}{STOPS}{DONE}", says("Hello")));
        let mut seen = server.seen();
        let (by_curl, ours) = (seen.pop().unwrap(), seen.pop().unwrap());
        assert_eq!(by_curl.line(), ours.line());
        assert_eq!(by_curl.body, ours.body);
        for name in ["authorization", "content-type", "accept", "content-length"] {
            assert_eq!(by_curl.header(name), ours.header(name), "{name}");
        }
    }
}

#[tokio::test]
async fn a_custom_header_is_read_from_its_variable_by_the_shell() {
    if hames_wire::api::api(ApiKind::AnthropicMessages).is_none() {
        eprintln!("skipped: there is no codec for Anthropic yet");
        return;
    }
    let lines = "x-one: 1\nx-two:  two words";
    let set = |name: &str| match name {
        "ANTHROPIC_API_KEY" => Some(KEY.to_owned()),
        "ANTHROPIC_CUSTOM_HEADERS" => Some(lines.to_owned()),
        _ => None,
    };
    let catalog = Catalog::built_in().unwrap();
    let network = Network::default();
    let choice = discover(&catalog, Wanted::default(), &set, &network)
        .await
        .unwrap();
    let provider = choice
        .connect(network, patient(), Delivery::Stream)
        .unwrap();
    let asking = Asking::new(&provider, &["hi"]);
    let command = provider.curl(&asking.request());
    assert!(!command.contains("two words"), "{command}");
    let echo = format!("curl() {{ printf '%s\\n' \"$@\"; }}\n{command}");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(echo);
    shell
        .env("ANTHROPIC_API_KEY", KEY)
        .env("ANTHROPIC_CUSTOM_HEADERS", lines);
    let output = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let lines: Vec<_> = output.lines().collect();
    for line in ["x-two: two words", "x-one: 1", &format!("x-api-key: {KEY}")] {
        assert!(lines.contains(&line), "{output}");
    }
}
