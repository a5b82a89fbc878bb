//! `demo --bare`: the task as single API calls, and the four things that are then missing.
//!
//! Each is shown by what happens: a request that is really sent, a test that is really run.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, anyhow};
use futures_util::StreamExt;
use hames_agent::{Model, parser::Parser};
use hames_types::{
    AssistantMessage, Encoded, Message, Origin, ProviderError, ProviderErrorKind, Request,
    UserMessage,
};

use super::{page::Page, repository::Repository};
use crate::{args::RunArgs, environment::Environment, report::stop_reason, wiring::prepare};

/// A real model is given so long to fail; nobody can order an error from it.
const TOO_SHORT: Duration = Duration::from_millis(1);

pub(super) fn show(
    args: &RunArgs,
    environment: &Environment,
    repository: &Repository,
    page: &Page,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let shown = runtime.block_on(async {
        let parts = prepare(args, environment, None).await?;
        let scripted = args
            .model
            .model
            .as_deref()
            .is_some_and(|model| model.starts_with("script:"));
        let bare = Bare {
            model: parts.models.main(),
            scripted,
            repository,
            page,
        };
        bare.four_gaps().await
    });
    runtime.shutdown_background();
    shown
}

struct Bare<'a> {
    model: Arc<Model>,
    scripted: bool,
    repository: &'a Repository,
    page: &'a Page,
}

impl Bare<'_> {
    async fn four_gaps(&self) -> Result<()> {
        self.page
            .heading("The same task by single API calls, without a harness")?;
        self.errors().await?;
        let asked = self.tools().await?;
        self.stop(&asked).await?;
        self.state().await?;
        self.page.note(
            "\n  Four calls, four gaps, and the bug is where it was. A harness is what fills them.",
        )
    }

    async fn errors(&self) -> Result<()> {
        let prompt = self.repository.task.prompt();
        let call = self.call(&prompt);
        let said = match self.scripted {
            true => call.await,
            false => tokio::time::timeout(TOO_SHORT, call)
                .await
                .unwrap_or_else(|_| {
                    let late = format!("no answer within {TOO_SHORT:?}");
                    Err(ProviderError::new(ProviderErrorKind::Transport, late))
                }),
        };
        let happened = match said {
            Err(error) => format!("the call ended in an error: {error}"),
            Ok(_) => "the call went well this time".to_owned(),
        };
        self.gap(
            1,
            "errors",
            &happened,
            "nobody tries again: this program would be over",
        )
    }

    async fn tools(&self) -> Result<AssistantMessage> {
        let said = self.call(&self.repository.task.prompt()).await;
        let said = said.map_err(|error| anyhow!("the model did not answer: {error}"))?;
        let test = self.repository.test()?;
        let diff = self.repository.diff()?;
        let missing = format!(
            "nothing ran: git diff has {} lines, and the test {}",
            diff.lines().count(),
            if test.passed {
                "passes"
            } else {
                "fails as before"
            }
        );
        self.gap(2, "tools", &describe(&said), &missing)?;
        Ok(said)
    }

    /// The same request once more: nothing has been added to it, for there is nobody to add it.
    async fn stop(&self, before: &AssistantMessage) -> Result<()> {
        let said = self.call(&self.repository.task.prompt()).await;
        let said = said.map_err(|error| anyhow!("the model did not answer: {error}"))?;
        let same = calls(&said) == calls(before) && !calls(&said).is_empty();
        let missing = match same {
            true => {
                "it asks for the very same thing, and would for ever: nobody counts, nobody says when"
            }
            false => "its turn ended there; whether the task is done, nobody looks",
        };
        let happened = format!(
            "asked again, it says: {} (stop: {})",
            describe(&said),
            stop_reason(said.stop)
        );
        self.gap(3, "knowing when to stop", &happened, missing)
    }

    async fn state(&self) -> Result<()> {
        let said = self
            .call("What did I ask you to do in my last message?")
            .await;
        let said = said.map_err(|error| anyhow!("the model did not answer: {error}"))?;
        let happened = format!("asked what its task was, it says: {}", said.text().trim());
        self.gap(
            4,
            "state",
            &happened,
            "one message was sent, so one message is all it knows",
        )
    }

    /// One request with one message, one answer.
    async fn call(&self, prompt: &str) -> Result<AssistantMessage, ProviderError> {
        let Model { provider, head, .. } = &*self.model;
        let message = Message::User(Arc::new(UserMessage::text(Origin::Human, prompt)));
        let messages: [Encoded; 1] = [provider.encode_message(head, &message)];
        let request = Request {
            head,
            head_bytes: &provider.encode_head(head),
            messages: &messages,
        };
        let mut stream = provider.send(&request);
        let mut parser = Parser::new(head);
        while let Some(event) = stream.next().await {
            parser.feed(event?);
        }
        parser.finish()
    }

    fn gap(&self, number: usize, name: &str, happened: &str, missing: &str) -> Result<()> {
        self.page.note(&format!("\n  {number}. {name}"))?;
        self.page.note(&format!("     happened  {happened}"))?;
        self.page.note(&format!("     missing   {missing}"))
    }
}

fn calls(message: &AssistantMessage) -> Vec<String> {
    let calls = message.tool_calls();
    calls
        .map(|call| format!("{} {}", call.name, call.input.0))
        .collect()
}

fn describe(message: &AssistantMessage) -> String {
    let calls = calls(message);
    let text = message.text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match calls.is_empty() {
        true => format!("it only talks: {text}"),
        false => format!("{text} [asks for {}]", calls.join("; ")),
    }
}
