//! Refusals of real shapes, and the kinds that the Error Handler decides on.
#![allow(clippy::unwrap_used)]

use hames_types::{ApiKind, ProviderErrorKind as Kind};
use hames_wire::api;

/// Status, body; kind, words.
const ROWS: &[(u16, &str, Kind, &str)] = &[
    (
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-x.","code":"invalid_api_key"}}"#,
        Kind::Auth,
        "Incorrect API key provided: sk-x.",
    ),
    (
        403,
        r#"{"error":{"code":"forbidden","message":"Forbidden"}}"#,
        Kind::Auth,
        "Forbidden",
    ),
    (
        401,
        r#"{"detail":"Invalid API Key"}"#,
        Kind::Auth,
        "Invalid API Key",
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"Unknown: 'x'"}}"#,
        Kind::Rejected,
        "Unknown: 'x'",
    ),
    (
        404,
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        Kind::Rejected,
        "The model `x` does not exist",
    ),
    (
        404,
        r#"{"error":"model 'x' not found"}"#,
        Kind::Rejected,
        "model 'x' not found",
    ),
    (
        422,
        r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#,
        Kind::Rejected,
        "field required",
    ),
    (
        400,
        r#"{"message":"Invalid model: x","type":"invalid_model","code":"1500"}"#,
        Kind::Rejected,
        "Invalid model: x",
    ),
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
        Kind::ContextOverflow,
        "This model's maximum context length is 8192 tokens.",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        Kind::ContextOverflow,
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    (
        500,
        r#"{"error":{"message":"the request exceeds the available context size"}}"#,
        Kind::ContextOverflow,
        "the request exceeds the available context size",
    ),
    (
        413,
        r#"{"error":{"type":"request_too_large","message":"too large"}}"#,
        Kind::ContextOverflow,
        "too large",
    ),
    (
        429,
        r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#,
        Kind::QuotaExceeded,
        "You exceeded your current quota",
    ),
    (
        402,
        r#"{"error":{"message":"Payment required"}}"#,
        Kind::QuotaExceeded,
        "Payment required",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
        Kind::QuotaExceeded,
        "Your credit balance is too low",
    ),
    (
        429,
        r#"{"error":{"message":"Rate limit reached: too many tokens per min"}}"#,
        Kind::RateLimited,
        "Rate limit reached: too many tokens per min",
    ),
    (
        429,
        "",
        Kind::RateLimited,
        "the server answered with status 429 and no words",
    ),
    (
        429,
        r#"{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"busy upstream"}}}"#,
        Kind::RateLimited,
        "Provider returned error: busy upstream",
    ),
    (
        408,
        r#"{"error":{"message":"timed out"}}"#,
        Kind::Transport,
        "timed out",
    ),
    (
        409,
        r#"{"error":{"message":"conflict"}}"#,
        Kind::Transport,
        "conflict",
    ),
    (
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        Kind::Overloaded,
        "Overloaded",
    ),
    (
        502,
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>",
        Kind::Overloaded,
        "502 Bad Gateway",
    ),
    (
        500,
        r#"{"error":"model requires more system memory"}"#,
        Kind::Overloaded,
        "model requires more system memory",
    ),
    (
        503,
        r#"[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]"#,
        Kind::Overloaded,
        "The model is overloaded.",
    ),
    (418, "\u{0}\u{1}", Kind::Rejected, "\u{0}\u{1}"),
];

#[test]
fn every_shape_of_refusal_has_its_kind_its_words_and_its_status() {
    for kind in [
        ApiKind::OpenaiChat,
        ApiKind::AnthropicMessages,
        ApiKind::OllamaChat,
    ] {
        for (status, body, expected, words) in ROWS.iter().copied() {
            let error = api(kind).unwrap().classify_error(status, body.as_bytes());
            assert_eq!(error.kind, expected, "{status} {body}");
            assert_eq!(error.message, words, "{status} {body}");
            assert_eq!(error.status, Some(status), "{status} {body}");
        }
    }
}

#[test]
fn a_long_page_is_cut_to_a_readable_length() {
    let page = "word ".repeat(1000);
    let error = api(ApiKind::OpenaiChat)
        .unwrap()
        .classify_error(500, page.as_bytes());
    assert_eq!(error.message.chars().count(), 600);
}
