//! Keys: no child process sees one, and none is printed.

use crate::world::{Ran, World};

#[test]
fn no_child_process_sees_a_key() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "env > seen"}}]}, {"text": "done"}]}"#;
    let world = World::new(scenario);
    let mut hames = world.hames(&["-p", "go", "--permission-mode", "full-auto"]);
    let keys = [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENROUTER_API_KEY",
        "GROQ_API_KEY",
    ];
    for key in keys {
        hames.env(key, "sk-secret");
    }
    let ran = Ran::of(hames.env("HARMLESS", "seen").output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let seen = std::fs::read_to_string(world.workspace().join("seen")).unwrap();
    assert!(seen.contains("HARMLESS=seen"), "{seen}");
    assert!(!seen.contains("sk-secret"), "{seen}");
}

#[test]
fn req_p02_print_curl_names_the_variable_and_sends_nothing() {
    let world = World::new("{}");
    let args = [
        "-p",
        "What is 1+1?",
        "--print-curl",
        "--model",
        "openai/gpt-4o-mini",
    ];
    let mut hames = world.bare(&args);
    hames.env("OPENAI_API_KEY", "sk-secret");
    let ran = Ran::of(hames.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "curl",
        "https://api.openai.com/v1/chat/completions",
        "$OPENAI_API_KEY",
        "What is 1+1?",
        "gpt-4o-mini",
    ] {
        assert!(ran.out.contains(part), "{part}: {ran:?}");
    }
    assert!(!ran.out.contains("sk-secret"), "{ran:?}");
    assert_eq!(world.session_ids(), [""; 0]);
}

#[test]
fn the_first_request_is_small() {
    let world = World::new("{}");
    let args = ["-p", "hi", "--print-curl", "--model", "openai/gpt-4o-mini"];
    let mut hames = world.bare(&args);
    let ran = Ran::of(hames.env("OPENAI_API_KEY", "k").output().unwrap());
    assert!(ran.out.len() <= 8_192, "{} bytes", ran.out.len());
}
