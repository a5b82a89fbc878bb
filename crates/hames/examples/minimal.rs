//! The weather in thirty lines: a model, one tool, at most ten turns, until nothing more is asked for.
//!
//! `cargo run --example minimal [MODEL]`: `VENDOR/MODEL`, `URL#MODEL`, `script:FILE`, or what is found.
use hames::{Agent, connect, function};

#[derive(serde::Deserialize)]
struct Input {
    city: String,
}

pub async fn run(model: Option<&str>) -> Result<String, Box<dyn std::error::Error>> {
    let model = connect(model, &|name| std::env::var(name).ok()).await?;
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
    let get_weather = function("get_weather", "查天气", schema, |input: Input| async move {
        Ok(format!("{} 25°C 晴", input.city))
    });
    let agent = Agent::new(model).tool(get_weather).max_turns(10);
    Ok(agent.ask("北京今天几度？").await?)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example has something to say")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", run(std::env::args().nth(1).as_deref()).await?);
    Ok(())
}
