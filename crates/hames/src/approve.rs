//! The human's answer to a permission question: yes, no, or always.
//!
//! The surface shows the question; here only the answer is awaited and read.

use std::path::PathBuf;

use hames_agent::permission::{
    Approval, Approver, Question, Remember,
    modes::Places,
    rules::{Anchors, suggest},
};
use hames_types::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::trust::TrustStore;

/// Where the next line that is typed goes.
pub type Awaited = oneshot::Sender<String>;

pub struct AtTerminal {
    pub questions: mpsc::UnboundedSender<Awaited>,
    pub workspace: PathBuf,
    pub places: Places,
    /// Where an "always" is kept for the sessions to come.
    pub trust: Option<TrustStore>,
}

impl Approver for AtTerminal {
    fn approve<'a>(&'a self, question: &'a Question<'a>) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            let (answer, typed) = oneshot::channel();
            if self.questions.send(answer).is_err() {
                return Approval::Cancelled;
            }
            match typed.await {
                Ok(line) => self.read(&line, question),
                Err(_) => Approval::Cancelled,
            }
        })
    }
}

impl AtTerminal {
    fn read(&self, line: &str, question: &Question<'_>) -> Approval {
        match read(line) {
            Answer::Yes => Approval::Allow {
                input: None,
                remember: Remember::Once,
            },
            Answer::Always => {
                self.keep(question);
                Approval::Allow {
                    input: None,
                    remember: Remember::Session,
                }
            }
            Answer::No { message } => Approval::Deny {
                message,
                interrupt: false,
            },
        }
    }

    /// A rule that cannot be kept is asked for again the next time.
    fn keep(&self, question: &Question<'_>) {
        let anchors = Anchors {
            root: &self.places.workspace,
            home: self.places.home.as_deref(),
        };
        let rules = suggest(question.call, question.access, anchors).0;
        if let Some(trust) = &self.trust {
            let _ = trust.allow(&self.workspace, &rules);
        }
    }
}

#[derive(Debug, PartialEq)]
enum Answer {
    Yes,
    Always,
    No { message: String },
}

/// Whatever is no clear yes is a no, with what was typed as the reason.
fn read(line: &str) -> Answer {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (word.to_ascii_lowercase().as_str(), rest.trim()) {
        ("y" | "yes", "") => Answer::Yes,
        ("a" | "always", "") => Answer::Always,
        ("" | "n" | "no", "") => Answer::No {
            message: "the user said no".to_owned(),
        },
        ("n" | "no", reason) => Answer::No {
            message: format!("the user said no: {reason}"),
        },
        _ => Answer::No {
            message: format!("the user said no: {line}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, read};

    #[test]
    fn only_a_clear_yes_is_one() {
        let no = |message: &str| Answer::No {
            message: message.to_owned(),
        };
        let table = [
            ("y", Answer::Yes),
            (" YES ", Answer::Yes),
            ("a", Answer::Always),
            ("always", Answer::Always),
            ("", no("the user said no")),
            ("n", no("the user said no")),
            (
                "no use the other file",
                no("the user said no: use the other file"),
            ),
            (
                "yes but only once",
                no("the user said no: yes but only once"),
            ),
            ("maybe", no("the user said no: maybe")),
        ];
        for (line, answer) in table {
            assert_eq!(read(line), answer, "{line:?}");
        }
    }
}
