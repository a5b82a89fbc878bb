//! Scenarios in which a scripted model solves a task by playing its gold patch as tool calls.
//!
//! Text out, in the format of `docs/scenarios.md`; who serves it, and to which agent, is the caller's.

mod gold;

use std::str::FromStr;

use serde_json::{Value, json};

use crate::instance::{Instance, TestRun};
use gold::{Change, changes};

/// Whose tools are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `read`, `edit`, `write` and `bash`.
    Hames,
    /// `run_shell_command`.
    QwenCode,
    /// `bash`, and a command that submits.
    MiniSweAgent,
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "hames" => Ok(Self::Hames),
            "qwen-code" => Ok(Self::QwenCode),
            "mini-swe-agent" => Ok(Self::MiniSweAgent),
            _ => Err(format!(
                "{text} has no scripted model: give hames, qwen-code or mini-swe-agent"
            )),
        }
    }
}

/// Look, change, check, and say so. What an edit does not bring about, the check mends.
pub fn scenario_for(instance: &Instance, dialect: Dialect) -> String {
    let turns = match &instance.tests.run {
        TestRun::Reward { .. } => by_script(instance, dialect),
        TestRun::Script { .. } | TestRun::Command { .. } | TestRun::Official => {
            by_patch(instance, dialect)
        }
    };
    let about = format!("Solves {} with its gold patch.", instance.id);
    let mut scenario = json!({ "about": about, "turns": turns });
    if dialect == Dialect::Hames {
        let conversations = conversations(&turns);
        scenario["conversations"] = conversations.into();
    }
    format!("{scenario:#}\n")
}

fn by_patch(instance: &Instance, dialect: Dialect) -> Vec<Value> {
    let patch = &instance.answers.gold_patch;
    let mut turns = vec![look(patch, dialect)];
    match dialect {
        Dialect::Hames => turns.extend(with_own_tools(patch)),
        Dialect::QwenCode | Dialect::MiniSweAgent => {
            let apply = format!("git apply -v - {}", heredoc(patch));
            turns.push(dialect.shell("I will make the change.", &apply));
        }
    }
    turns.push(dialect.shell("Is all of it there?", &check(patch)));
    turns.push(dialect.end());
    turns
}

/// A task that is graded by a reward has a script for its solution.
fn by_script(instance: &Instance, dialect: Dialect) -> Vec<Value> {
    let solution = format!("bash -s {}", heredoc(&instance.answers.gold_patch));
    vec![
        dialect.shell("I will look around.", "ls -la"),
        dialect.shell("Now I know what to do.", &solution),
        dialect.end(),
    ]
}

fn look(patch: &str, dialect: Dialect) -> Value {
    let known = changes(patch).find_map(|change| change.existing_file());
    match (dialect, known) {
        (Dialect::Hames, Some(path)) => {
            let call = call("read", json!({ "path": path }));
            json!({ "text": "I will look at what is to be changed.", "calls": [call] })
        }
        (_, Some(path)) => {
            let command = format!("git status --short; head -n 40 -- {}", quoted(path));
            dialect.shell("I will look at what is to be changed.", &command)
        }
        (_, None) => dialect.shell("I will look around.", "git status --short; ls"),
    }
}

/// Texts are edited and written; whatever a text editor cannot do is left to git.
fn with_own_tools(patch: &str) -> Vec<Value> {
    let mut turns = Vec::new();
    let mut rest = String::new();
    for change in changes(patch) {
        match change {
            Change::Edit { path, hunks } => {
                turns.extend(hunks.into_iter().map(|hunk| {
                    let input = json!({ "path": path, "old": hunk.old, "new": hunk.new });
                    let text = format!("I will change {path}.");
                    json!({ "text": text, "calls": [call("edit", input)] })
                }));
            }
            Change::New { path, content } => {
                let input = json!({ "path": path, "content": content });
                let text = format!("I will write {path}.");
                turns.push(json!({ "text": text, "calls": [call("write", input)] }));
            }
            Change::Other { text } => rest.push_str(text),
        }
    }
    if !rest.is_empty() {
        let apply = format!("git apply -v - {}", heredoc(&rest));
        turns.push(Dialect::Hames.shell("The rest is no matter of text.", &apply));
    }
    turns
}

/// The whole patch has to be there; if an edit went wrong, it is laid on a clean tree instead.
fn check(patch: &str) -> String {
    format!(
        "patch=$(mktemp)\n\
         cat > \"$patch\" {}\n\
         if git apply --reverse --check \"$patch\"; then\n    \
             echo all there\n\
         else\n    \
             git checkout -q HEAD -- . && git clean -fdq && git apply \"$patch\" && echo made anew\n\
         fi\n\
         rm -f \"$patch\"",
        heredoc(patch)
    )
}

impl Dialect {
    fn shell(self, text: &str, command: &str) -> Value {
        let call = match self {
            Self::Hames | Self::MiniSweAgent => call("bash", json!({ "command": command })),
            Self::QwenCode => {
                let input = json!({ "command": command, "is_background": false });
                call("run_shell_command", input)
            }
        };
        json!({ "text": text, "calls": [call] })
    }

    fn end(self) -> Value {
        match self {
            Self::Hames | Self::QwenCode => json!({ "text": "The change is made." }),
            Self::MiniSweAgent => {
                let submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
                self.shell("The change is made.", submit)
            }
        }
    }
}

/// Arguments that hold two braces are sent as they stand: a scenario's marks would be filled in.
fn call(name: &str, input: Value) -> Value {
    let text = input.to_string();
    match text.contains("{{") {
        true => json!({ "name": name, "raw": text }),
        false => json!({ "name": name, "input": input }),
    }
}

/// The text as a command's standard input, up to a line that is none of it.
fn heredoc(text: &str) -> String {
    let mut mark = "END_OF_CHANGE".to_owned();
    while text.lines().any(|line| line == mark) {
        mark.push('_');
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("<<'{mark}'\n{text}{end}{mark}")
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// For the shapes that plan, criticize or review: the executor does all of it in one step.
fn conversations(turns: &[Value]) -> Vec<Value> {
    let approve = r#"{"verdict":"approve"}"#;
    let says = |prompt: &str, text: &str| json!({ "when": { "prompt": prompt }, "turns": [{ "text": text }] });
    vec![
        says("Plan first.", "- make the change"),
        json!({ "when": { "prompt": "Do this step now: make the change" }, "turns": turns }),
        says("All steps are done.", "The change is made."),
        says("Now be the critic", approve),
        says("Plan this task:", "1. make the change"),
        says("Review this.", approve),
        says("The team's result; report it", "The change is made."),
    ]
}
