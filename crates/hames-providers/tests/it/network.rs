//! Proxies and certificate authorities: who is asked, and who is trusted.

use std::sync::Arc;

use hames_providers::Network;
use hames_types::ProviderErrorKind::Rejected;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::{
    call::{Heard, error, hear, patient, provider},
    server::{DONE, STOPS, Server, Step, chunk, end, events, says},
};

fn says_who(text: &str) -> Vec<Step> {
    vec![
        events(),
        chunk(says(text)),
        chunk(STOPS),
        chunk(DONE),
        end(),
    ]
}

#[tokio::test]
async fn a_proxy_is_used_unless_the_host_is_excepted_or_at_home() {
    let proxy = Server::always(says_who("proxy")).await;
    let model = Server::always(says_who("model")).await;
    let (proxy_url, port) = (proxy.url(""), model.address.port());
    let by = |http: bool, all: bool, no_proxy: Option<&str>| Network {
        http_proxy: http.then(|| proxy_url.clone()),
        all_proxy: all.then(|| proxy_url.clone()),
        no_proxy: no_proxy.map(str::to_owned),
        ..Network::default()
    };
    // An address that is this machine's and not a loopback address.
    let outside = format!("http://0.0.0.0:{port}/v1");
    let home = model.url("/v1");
    let cases = [
        (&outside, by(false, false, None), "model"),
        (&outside, by(true, false, None), "proxy"),
        (&outside, by(false, true, None), "proxy"),
        (
            &outside,
            by(true, true, Some("example.test, 0.0.0.0")),
            "model",
        ),
        (&outside, by(true, true, Some("example.test")), "proxy"),
        (&outside, by(true, false, Some("*")), "model"),
        (&home, by(true, true, None), "model"),
    ];
    for (url, network, who) in cases {
        let named = format!("{network:?}");
        let heard = hear(&provider(url, network, patient()).await).await;
        assert_eq!(heard, Heard::well(who), "{url} {named}");
    }
    let line = format!("POST http://0.0.0.0:{port}/v1/chat/completions HTTP/1.1");
    assert_eq!(proxy.seen()[0].line(), line);
}

#[tokio::test]
async fn an_unusable_proxy_is_named_without_its_password() {
    let network = Network {
        http_proxy: Some("http://me:pass word@:x".into()),
        ..Network::default()
    };
    assert!(!format!("{network:?}").contains("pass word"));
    let error = error(&provider("http://0.0.0.0:1/v1", network, patient()).await).await;
    let message = "the proxy URL `http://:x` is not usable; write it as http://HOST:PORT";
    assert_eq!((error.kind, error.message.as_str()), (Rejected, message));
}

#[tokio::test]
async fn a_server_is_trusted_by_an_authority_of_ones_own_and_not_without() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider_of_crypto = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider_of_crypto)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let server = Server::start_tls(Arc::new(config), |_| says_who("Hello")).await;
    let folder = tempfile::tempdir().unwrap();
    let ours = folder.path().join("ours.pem");
    std::fs::write(&ours, made.cert.pem()).unwrap();
    let other = rcgen::generate_simple_self_signed(["other.test".to_owned()]).unwrap();
    let theirs = folder.path().join("theirs.pem");
    std::fs::write(&theirs, other.cert.pem()).unwrap();

    let url = format!("https://{}/v1", server.address);
    let by = |ca: Option<&std::path::Path>, extra: Option<&std::path::Path>| Network {
        ca_file: ca.map(Into::into),
        extra_ca_file: extra.map(Into::into),
        ..Network::default()
    };
    for network in [by(Some(&ours), None), by(Some(&theirs), Some(&ours))] {
        let heard = hear(&provider(&url, network, patient()).await).await;
        assert_eq!(heard, Heard::well("Hello"));
    }
    let error = error(&provider(&url, by(Some(&theirs), None), patient()).await).await;
    assert_eq!(error.kind, Rejected, "to ask again does not help");
    let begins = format!("the certificate of {} is not trusted (", server.address);
    assert!(error.message.starts_with(&begins), "{}", error.message);
    assert!(error.message.contains("NODE_EXTRA_CA_CERTS"));
}

#[tokio::test]
async fn no_root_store_is_loaded_for_plain_http_and_a_missing_one_is_named() {
    let server = Server::always(says_who("Hello")).await;
    let nowhere = || Network {
        ca_file: Some("/no/such/file.pem".into()),
        ..Network::default()
    };
    let heard = hear(&provider(&server.url("/v1"), nowhere(), patient()).await).await;
    assert_eq!(heard, Heard::well("Hello"));
    let error = error(&provider("https://127.0.0.1:1/v1", nowhere(), patient()).await).await;
    assert_eq!(error.kind, Rejected);
    assert!(
        error.message.contains("/no/such/file.pem"),
        "{}",
        error.message
    );
}

#[test]
fn the_usual_variables_are_read_in_both_spellings() {
    let network = Network::from_variables(|name| match name {
        "https_proxy" => Some("http://lower:1".into()),
        "HTTPS_PROXY" => Some("http://upper:1".into()),
        "HTTP_PROXY" => Some("upper:2".into()),
        "ALL_PROXY" => Some(" ".into()),
        "no_proxy" => Some("a.test".into()),
        "SSL_CERT_FILE" => Some("/ca.pem".into()),
        "NODE_EXTRA_CA_CERTS" => Some("/extra.pem".into()),
        _ => None,
    });
    let wanted = Network {
        https_proxy: Some("http://lower:1".into()),
        http_proxy: Some("upper:2".into()),
        all_proxy: None,
        no_proxy: Some("a.test".into()),
        ca_file: Some("/ca.pem".into()),
        extra_ca_file: Some("/extra.pem".into()),
    };
    assert_eq!(network, wanted);
}
