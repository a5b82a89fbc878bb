//! The two examples, on the scripted model and over the three protocols.

use std::fs;

use hames_testkit::server::Server;
use hames_types::ApiKind;
use hames_wire::scenario::Scenario;

#[expect(dead_code, reason = "its main is for a command line")]
#[path = "../../examples/minimal.rs"]
mod minimal;
#[expect(dead_code, reason = "its main is for a command line")]
#[path = "../../examples/template.rs"]
mod template;

const WEATHER: &str = r#"{"turns": [
    {"calls": [{"name": "get_weather", "input": {"city": "Beijing"}}]},
    {"text": "The tool says: {{last_result}}"}
]}"#;

const QUESTION: &str = "What is the weather in Beijing?";

#[test]
fn req_s07_the_minimal_example_has_at_most_thirty_lines() {
    let text = include_str!("../../examples/minimal.rs");
    assert!(text.lines().count() <= 30, "{}", text.lines().count());
    assert!(text.contains("get_weather") && text.contains("max_turns(10)"));
}

#[test]
fn req_s08_the_template_has_five_marks_twenty_turns_and_600_seconds() {
    let text = include_str!("../../examples/template.rs");
    for mark in [
        "// ====== ①",
        "// ====== ②",
        "// ====== ③",
        "// ====== ④",
        "// ====== ⑤",
    ] {
        assert_eq!(text.matches(mark).count(), 1, "{mark}");
    }
    assert!(text.contains("MAX_ITER: u32 = 20;") && text.contains("Duration::from_secs(600)"));
}

#[tokio::test]
async fn req_s07_req_s08_both_run_on_the_scripted_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("weather.json");
    fs::write(&file, WEATHER).unwrap();
    let model = format!("script:{}", file.display());
    let said = minimal::run(Some(&model)).await.unwrap();
    assert_eq!(said, "The tool says: Beijing 25°C 晴");
    let said = template::run(Some(&model), QUESTION).await.unwrap();
    assert_eq!(said, "The tool says: Beijing: 25°C, sunny");
}

#[tokio::test]
async fn req_s09_both_say_the_same_over_three_protocols() {
    let server = Server::start(Scenario::parse(WEATHER).unwrap())
        .await
        .unwrap();
    let wires = [
        (format!("{}/v1#m", server.url()), ApiKind::OpenaiChat),
        (
            format!("anthropic+{}#m", server.url()),
            ApiKind::AnthropicMessages,
        ),
        (format!("ollama+{}#m", server.url()), ApiKind::OllamaChat),
    ];
    for (model, api) in wires {
        let said = minimal::run(Some(&model)).await.unwrap();
        assert_eq!(said, "The tool says: Beijing 25°C 晴", "{api:?}");
        let said = template::run(Some(&model), QUESTION).await.unwrap();
        assert_eq!(said, "The tool says: Beijing: 25°C, sunny", "{api:?}");
        let asked = server.chats();
        let last = asked.last().unwrap();
        assert_eq!(last.api(), Some(api));
    }
    assert_eq!(server.chats().len(), 12);
    assert_eq!(server.refusals(), Vec::<String>::new());
}

#[tokio::test]
async fn the_template_names_the_guard_that_ended_it() {
    let endless = r#"{"turns": [{"calls": [{"name": "get_weather", "input": {"city": "{{answers}}"}}], "repeat": true}]}"#;
    let server = Server::start(Scenario::parse(endless).unwrap())
        .await
        .unwrap();
    let model = format!("{}/v1#m", server.url());
    let ended = template::run(Some(&model), QUESTION).await.unwrap_err();
    assert_eq!(ended.to_string(), "more than 20 turns");
    assert_eq!(server.chats().len(), 20);
}
