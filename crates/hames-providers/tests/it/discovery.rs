//! Which model is found when nothing is said, in which order, and what a local server really holds.

use std::collections::HashMap;

use hames_providers::{
    Catalog, LocalWindow, Network, Timeouts, Wanted, WindowSource, discover, local_window,
};
use serde_json::{Value, json};

use crate::server::{Seen, Server, Step, answer};

type Set = HashMap<String, String>;

/// Nothing of this machine answers unless a test says so.
fn nowhere() -> Set {
    let closed = [
        "OLLAMA_HOST",
        "LLAMACPP_BASE_URL",
        "LMSTUDIO_BASE_URL",
        "VLLM_BASE_URL",
    ];
    closed
        .map(|name| (name.to_owned(), "http://127.0.0.1:9/v1".to_owned()))
        .into()
}

fn with(pairs: &[(&str, &str)]) -> Set {
    let mut set = nowhere();
    set.extend(
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    );
    set
}

async fn found(set: &Set, asked: Option<&str>, settings: Option<&str>) -> String {
    let catalog = Catalog::built_in().unwrap();
    let wanted = Wanted { asked, settings };
    let variables = |name: &str| set.get(name).cloned();
    match discover(&catalog, wanted, &variables, &Network::default()).await {
        Ok(choice) => format!("{}: {}", choice.spec(), choice.found),
        Err(error) => error.to_string(),
    }
}

fn json_answer(value: &Value) -> Vec<Step> {
    answer(
        "200 OK",
        "content-type: application/json\r\n",
        &value.to_string(),
    )
}

/// Answers each path with its value; what a request to `/api/show` asks for is part of its path.
async fn serving(paths: Vec<(&'static str, Value)>) -> Server {
    Server::start(move |seen: &Seen| {
        let path = seen.line().split(' ').nth(1).unwrap();
        let body: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let path = match body["model"].as_str() {
            Some(model) => format!("{path} {model}"),
            None => path.to_owned(),
        };
        let value = paths.iter().find(|(at, _)| *at == path);
        value.map_or_else(
            || answer("404 Not Found", "", ""),
            |(_, value)| json_answer(value),
        )
    })
    .await
}

#[tokio::test]
async fn the_first_that_answers_is_taken() {
    let keys = with(&[
        ("ANTHROPIC_API_KEY", "a"),
        ("OPENAI_API_KEY", "o"),
        ("GROQ_API_KEY", "g"),
        ("XAI_API_KEY", "x"),
    ]);
    let less = |gone: &[&str]| {
        let mut set = keys.clone();
        set.retain(|name, _| !gone.contains(&name.as_str()));
        set
    };
    let asked = found(&keys, Some("groq/x"), Some("openai/y")).await;
    assert_eq!(asked, "groq/x: it was asked for");
    let settings = found(&keys, None, Some("openai/y")).await;
    assert_eq!(settings, "openai/y: the settings name it");
    let cases = [
        (
            less(&[]),
            "anthropic/claude-sonnet-5-5: ANTHROPIC_API_KEY is set",
        ),
        (
            less(&["ANTHROPIC_API_KEY"]),
            "openai/gpt-6.1-terra: OPENAI_API_KEY is set",
        ),
        (
            less(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]),
            "groq/openai/gpt-oss-120b: GROQ_API_KEY is set",
        ),
        (
            with(&[("ANTHROPIC_AUTH_TOKEN", "t")]),
            "anthropic/claude-sonnet-5-5: ANTHROPIC_AUTH_TOKEN is set",
        ),
        (
            with(&[("ANTHROPIC_API_KEY", "a"), ("ANTHROPIC_MODEL", "m")]),
            "anthropic/m: ANTHROPIC_API_KEY is set",
        ),
        (
            with(&[("ANTHROPIC_API_KEY", " "), ("XAI_API_KEY", "x")]),
            "xai/grok-4.5: XAI_API_KEY is set",
        ),
    ];
    for (set, wanted) in cases {
        assert_eq!(found(&set, None, None).await, wanted);
    }
}

#[tokio::test]
async fn a_server_of_ones_own_is_asked_what_it_has() {
    let models = json!({ "data": [{ "id": "text-embed-1" }, { "id": "mine" }] });
    let server = serving(vec![("/v1/models", models)]).await;
    let url = server.url("/v1");
    let by_url = found(&with(&[("OPENAI_BASE_URL", &url)]), None, None).await;
    assert_eq!(by_url, "openai/mine: OPENAI_BASE_URL is set");
    let both = with(&[
        ("OPENAI_BASE_URL", &url),
        ("OPENAI_API_KEY", "o"),
        ("OPENAI_MODEL", "said"),
    ]);
    assert_eq!(
        found(&both, None, None).await,
        "openai/said: OPENAI_API_KEY is set"
    );
    let asked = found(&nowhere(), Some(&url), None).await;
    assert_eq!(asked, format!("{url}#mine: it was asked for"));
    let local = found(&with(&[("LMSTUDIO_BASE_URL", &url)]), None, None).await;
    assert_eq!(local, format!("lmstudio/mine: a server answers at {url}"));
    let named = found(&with(&[("VLLM_BASE_URL", &url)]), Some("vllm"), None).await;
    assert_eq!(named, "vllm/mine: it was asked for");
}

#[tokio::test]
async fn ollama_offers_a_model_that_can_call_tools_before_one_that_cannot() {
    let tags = json!({ "models": [{ "name": "nomic-embed:latest" }, { "name": "old:1b" }, { "name": "new:4b" }] });
    let server = serving(vec![
        ("/api/tags", tags),
        (
            "/api/show old:1b",
            json!({ "capabilities": ["completion"] }),
        ),
        (
            "/api/show new:4b",
            json!({ "capabilities": ["completion", "tools"] }),
        ),
    ])
    .await;
    let host = server.address.to_string();
    let other = serving(vec![("/v1/models", json!({ "data": [{ "id": "other" }] }))]).await;
    let set = with(&[
        ("OLLAMA_HOST", &host),
        ("LLAMACPP_BASE_URL", &other.url("/v1")),
    ]);
    let wanted = format!("ollama/new:4b: a server answers at http://{host}");
    assert_eq!(found(&set, None, None).await, wanted);
}

#[tokio::test]
async fn nothing_found_says_the_four_ways_in_six_lines() {
    let said = found(&nowhere(), None, None).await;
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 6, "{said}");
    let ways = lines.iter().filter(|line| line.starts_with("  ")).count();
    assert_eq!(ways, 4, "{said}");
    for word in [
        "ANTHROPIC_API_KEY",
        "ollama",
        "--model http://HOST:PORT/v1#MODEL",
        "hames demo",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let empty = serving(vec![("/api/tags", json!({ "models": [] }))]).await;
    let host = empty.address.to_string();
    let said = found(&with(&[("OLLAMA_HOST", &host)]), None, None).await;
    assert_eq!(said.lines().count(), 6);
    assert!(
        said.contains(&format!("http://{host}, but has no model")),
        "{said}"
    );
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let no_key = found(&nowhere(), Some("anthropic/m"), None).await;
    assert_eq!(
        no_key,
        "anthropic needs a key; set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"
    );
    let no_model = found(&nowhere(), Some("vllm"), None).await;
    assert_eq!(
        no_model,
        "no model is known at http://127.0.0.1:9/v1: it does not answer, or has none; write vllm/MODEL"
    );
    let no_server = found(&nowhere(), Some("http://127.0.0.1:9/v1"), None).await;
    assert_eq!(
        no_server,
        "no model is known at http://127.0.0.1:9/v1: it does not answer, or has none; \
         write http://127.0.0.1:9/v1#MODEL"
    );
}

#[tokio::test]
async fn ollama_host_is_read_as_ollama_reads_it() {
    let cases = [
        ("there", "http://there:11434"),
        ("there:1", "http://there:1"),
        (":1", "http://127.0.0.1:1"),
        ("0.0.0.0:1", "http://127.0.0.1:1"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://there:1/", "http://there:1"),
        ("https://there", "https://there"),
        (" ", "http://127.0.0.1:11434"),
    ];
    let catalog = Catalog::built_in().unwrap();
    for (host, url) in cases {
        let wanted = Wanted {
            asked: Some("ollama/m"),
            settings: None,
        };
        let variables = |name: &str| (name == "OLLAMA_HOST").then(|| host.to_owned());
        let choice = discover(&catalog, wanted, &variables, &Network::default())
            .await
            .unwrap();
        assert_eq!(choice.base_url, url, "{host}");
    }
}

async fn window(vendor: &str, variable: &str, server: &Server) -> Option<LocalWindow> {
    let catalog = Catalog::built_in().unwrap();
    let spec = format!("{vendor}/m");
    let wanted = Wanted {
        asked: Some(&spec),
        settings: None,
    };
    let url = server.url(if vendor == "ollama" { "" } else { "/v1" });
    let variables = |name: &str| (name == variable).then(|| url.clone());
    let choice = discover(&catalog, wanted, &variables, &Network::default())
        .await
        .unwrap();
    assert!(choice.timeouts().first_byte > Timeouts::default().first_byte);
    local_window(&choice, &Network::default()).await
}

#[tokio::test]
async fn fault_b10_ollama_is_asked_for_its_real_window() {
    let trained =
        json!({ "model_info": { "general.architecture": "q", "q.context_length": 40_960 } });
    let small = json!({ "model_info": { "q.context_length": 2_048 } });
    let set = json!({ "parameters": "temperature 1\nnum_ctx    8192", "model_info": { "q.context_length": 40_960 } });
    let loaded =
        |tokens: u32| json!({ "models": [{ "name": "m:latest", "context_length": tokens }] });
    let cases = [
        (
            trained.clone(),
            Value::Null,
            Some((32_768, WindowSource::Trained)),
        ),
        (
            trained.clone(),
            loaded(4_096),
            Some((32_768, WindowSource::Trained)),
        ),
        (
            trained,
            loaded(40_000),
            Some((40_000, WindowSource::Loaded)),
        ),
        (small, Value::Null, Some((2_048, WindowSource::Trained))),
        (set, loaded(4_096), Some((8_192, WindowSource::Modelfile))),
        (json!({}), Value::Null, None),
    ];
    for (show, running, wanted) in cases {
        let server = serving(vec![("/api/show m", show), ("/api/ps", running)]).await;
        let wanted = wanted.map(|(tokens, source)| LocalWindow {
            tokens,
            source,
            say_in_request: true,
        });
        assert_eq!(window("ollama", "OLLAMA_HOST", &server).await, wanted);
    }
}

#[tokio::test]
async fn fault_b10_other_local_servers_are_asked_too() {
    let props = (
        "/props",
        json!({ "default_generation_settings": { "n_ctx": 8_192 } }),
    );
    let studio = json!({ "data": [{ "id": "other", "loaded_context_length": 1 }, { "id": "m", "loaded_context_length": 4_096, "max_context_length": 32_768 }] });
    let vllm = json!({ "data": [{ "id": "m", "max_model_len": 16_384 }] });
    let meta =
        json!({ "data": [{ "id": "m", "meta": { "n_ctx": 8_000, "n_ctx_train": 32_768 } }] });
    let cases = [
        (
            "llamacpp",
            "LLAMACPP_BASE_URL",
            vec![props],
            Some((8_192, WindowSource::Props)),
        ),
        (
            "lmstudio",
            "LMSTUDIO_BASE_URL",
            vec![("/api/v0/models", studio)],
            Some((4_096, WindowSource::LmStudio)),
        ),
        (
            "vllm",
            "VLLM_BASE_URL",
            vec![("/v1/models", vllm)],
            Some((16_384, WindowSource::ModelList)),
        ),
        (
            "llamacpp",
            "LLAMACPP_BASE_URL",
            vec![("/v1/models", meta)],
            Some((8_000, WindowSource::ModelList)),
        ),
        ("vllm", "VLLM_BASE_URL", vec![], None),
    ];
    for (vendor, variable, paths, wanted) in cases {
        let server = serving(paths).await;
        let wanted = wanted.map(|(tokens, source)| LocalWindow {
            tokens,
            source,
            say_in_request: false,
        });
        assert_eq!(window(vendor, variable, &server).await, wanted, "{vendor}");
    }
}

#[tokio::test]
async fn a_vendors_own_address_is_not_asked_for_its_window() {
    let catalog = Catalog::built_in().unwrap();
    let wanted = Wanted {
        asked: Some("openai/gpt-5"),
        settings: None,
    };
    let variables = |name: &str| (name == "OPENAI_API_KEY").then(|| "k".to_owned());
    let choice = discover(&catalog, wanted, &variables, &Network::default())
        .await
        .unwrap();
    assert_eq!(choice.timeouts(), Timeouts::default());
    assert_eq!(local_window(&choice, &Network::default()).await, None);
}
