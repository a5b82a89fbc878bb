//! Document B's template, `run_agent`, to copy and change: its five marked steps, twenty turns, 600 s.
//!
//! `cargo run --example template [MODEL] [QUESTION]`; what each step is inside, `hames explain loop`
//! says line by line.

use std::time::Duration;

use hames::{
    Agent, connect, function,
    types::{Channel, Delta, Entry, EventKind, Origin, QueryError, UserMessage},
};

const MAX_ITER: u32 = 20;
const WALL_TIME: Duration = Duration::from_secs(600);

#[derive(serde::Deserialize)]
struct City {
    city: String,
}

pub async fn run(
    model: Option<&str>,
    question: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    // ====== ① Initialize: State Manager, Tool Registry ======
    let model = connect(model, &|name| std::env::var(name).ok()).await?;
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
    let get_weather = function(
        "get_weather",
        "Look up the weather of a city.",
        schema,
        weather,
    );

    // ====== ② The loop and its three guards: Loop Controller ======
    let agent = Agent::new(model)
        .tool(get_weather)
        .max_turns(MAX_ITER) // guard 1: turns
        .wall_time(WALL_TIME) // guard 2: the wall clock, which also ends a call that hangs
        .max_tokens(4096); // guard 3: output tokens of one call
    let session = agent.open()?.spawn();

    // ====== ③ Call the model: the one moment that is not the harness's ======
    let log = tokio::spawn(log(session.events(0)));
    let outcome = session
        .submit(UserMessage::text(Origin::Human, question))
        .await;
    let said = log.await?;

    // ====== ⑤ Branch: how it ended has a name each, and nothing is lost by any of them ======
    match outcome.ok_or("the session is gone")?.into_result() {
        Ok(()) => Ok(said),
        Err(QueryError::LengthError) => Err("cut at the output limit: raise it, or go on".into()),
        Err(QueryError::MaxTurnsExceeded) => Err(format!("more than {MAX_ITER} turns").into()),
        Err(QueryError::TimeoutError) => Err(format!("more than {WALL_TIME:?}").into()),
        Err(other) => Err(other.into()),
    }
}

/// The tool: its side effects would be here. An `Err` is told to the model.
async fn weather(City { city }: City) -> Result<String, String> {
    Ok(format!("{city}: 25°C, sunny"))
}

// ====== ④ Output Parser and Logger: whole messages, as facts, and text while it comes ======
async fn log(mut events: hames::agent::events::Events) -> String {
    let mut last = String::new();
    loop {
        match events.next().await.kind {
            EventKind::Delta(Delta {
                channel: Channel::Text(_),
                text,
            }) => eprint!("{text}"),
            EventKind::Delta(_) => {}
            EventKind::Entry { entry, .. } => match &*entry {
                Entry::Assistant { message } => {
                    let calls = message.tool_calls().map(|call| call.name.as_str());
                    let calls = calls.collect::<Vec<_>>().join(", ");
                    eprintln!(
                        "\n[{:?}: {} tokens; calls: {calls}]",
                        message.stop,
                        message.usage.total()
                    );
                    last = message.text();
                }
                Entry::ToolFinished { result } => {
                    eprintln!("[{:?} {:?}]", result.call, result.status)
                }
                Entry::QueryFinished { .. } => return last,
                _ => {}
            },
        }
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example has something to say")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let model = args.next();
    let question = args
        .next()
        .unwrap_or_else(|| "What is the weather in Beijing?".to_owned());
    println!("{}", run(model.as_deref(), &question).await?);
    Ok(())
}
