//! The conversation, on a real pseudo-terminal.

#![cfg(unix)]

use std::time::Duration;

use pty_process::{Command, Pty, Size};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Child,
    time::timeout,
};

use crate::world::{HELLO, World};

/// A test that waits longer than this for a word has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The binary on a terminal, and all that it has shown.
struct Terminal {
    pty: Pty,
    child: Child,
    shown: String,
    seen: usize,
}

impl Terminal {
    fn open(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let (pty, pts) = pty_process::open().unwrap();
        pty.resize(Size::new(24, 200)).unwrap();
        let model = world.model();
        let child = Command::new(env!("CARGO_BIN_EXE_hames"))
            .args(args)
            .args(["--model", &model])
            .current_dir(world.workspace())
            .env_clear()
            .envs(world.variables())
            .envs(variables.iter().copied())
            .spawn(pts)
            .unwrap();
        Self {
            pty,
            child,
            shown: String::new(),
            seen: 0,
        }
    }

    async fn type_in(&mut self, text: &str) {
        self.pty.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until `text` is shown after what was awaited before.
    async fn await_text(&mut self, text: &str) {
        let shown = timeout(PATIENCE, async {
            loop {
                if let Some(at) = self.shown[self.seen..].find(text) {
                    self.seen += at + text.len();
                    return true;
                }
                let mut piece = [0; 4096];
                match self.pty.read(&mut piece).await {
                    Ok(read) if read > 0 => {
                        self.shown
                            .push_str(&String::from_utf8_lossy(&piece[..read]));
                    }
                    _ => return false,
                }
            }
        });
        assert!(
            shown.await.unwrap_or(false),
            "{text:?} was not shown: {}",
            self.shown
        );
    }

    async fn code(mut self) -> Option<i32> {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it did not end").unwrap().code()
    }
}

#[tokio::test]
async fn lines_are_answered_and_commands_obeyed() {
    let scenario = r#"{"turns": [
        {"when": {"prompt": "again", "history": "hello"}, "text": "As I said."},
        {"when": {"prompt": "after all", "absent": "hello"}, "text": "Fresh start."},
        {"text": "Hello yourself."}]}"#;
    let world = World::new(scenario);
    let mut terminal = Terminal::open(&world, &[], &[]);
    terminal.await_text("/help").await;
    terminal.await_text("> ").await;
    terminal.type_in("hello\n").await;
    terminal.await_text("Hello yourself.").await;
    terminal.await_text("> ").await;
    terminal.type_in("again\n").await;
    terminal.await_text("As I said.").await;
    terminal.await_text("> ").await;
    terminal.type_in("/cost\n").await;
    terminal.await_text("2 turns").await;
    terminal.type_in("/model\n").await;
    terminal.await_text("scripted").await;
    terminal.type_in("/clear\n").await;
    terminal.await_text("forgotten").await;
    terminal.type_in("/cost\n").await;
    terminal.await_text("0 turns, 0 tokens, $0.0000").await;
    terminal.type_in("/halp\n").await;
    terminal.await_text("there is no /halp").await;
    terminal.type_in("after all\n").await;
    terminal.await_text("Fresh start.").await;
    terminal.type_in("/exit\n").await;
    assert_eq!(terminal.code().await, Some(0));
    assert_eq!(world.session_ids().len(), 1);
}

#[tokio::test]
async fn permission_is_asked_and_answered() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "touch one"}}]},
        {"calls": [{"name": "bash", "input": {"command": "touch two"}}]},
        {"text": "One of two."}
    ]}"#;
    let world = World::new(scenario);
    let mut terminal = Terminal::open(&world, &["do both"], &[]);
    terminal.await_text("bash touch one").await;
    terminal.await_text("Allow it?").await;
    terminal.type_in("y\n").await;
    terminal.await_text("bash touch two").await;
    terminal.await_text("Allow it?").await;
    terminal.type_in("no not that one\n").await;
    terminal.await_text("not that one").await;
    terminal.await_text("One of two.").await;
    terminal.await_text("> ").await;
    terminal.type_in("\u{4}").await;
    assert_eq!(terminal.code().await, Some(0));
    let made = |name| world.workspace().join(name).exists();
    assert_eq!((made("one"), made("two")), (true, false));
}

#[tokio::test]
async fn control_c_interrupts_and_twice_leaves() {
    let scenario = r#"{"turns": [{"text": "thinking about it", "hang": 1}]}"#;
    let world = World::new(scenario);
    let mut terminal = Terminal::open(&world, &[], &[]);
    terminal.await_text("> ").await;
    terminal.type_in("think\n").await;
    terminal.await_text("thinking").await;
    terminal.type_in("\u{3}").await;
    terminal.await_text("interrupted").await;
    terminal.await_text("> ").await;
    terminal.type_in("\u{3}").await;
    terminal.await_text("Ctrl-C again leaves").await;
    terminal.await_text("> ").await;
    terminal.type_in("\u{3}").await;
    assert_eq!(terminal.code().await, Some(130));
    let last = world.entries().pop().unwrap();
    assert_eq!(last["outcome"]["outcome"], "interrupted");
}

#[tokio::test]
async fn a_line_typed_meanwhile_is_queued_and_heard() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "touch working; while test ! -e go; do sleep 0.02; done"}}]},
        {"when": {"history": "use the other"}, "text": "I use the other one."}
    ]}"#;
    let world = World::new(scenario);
    let mut terminal = Terminal::open(&world, &["--permission-mode", "full-auto", "begin"], &[]);
    terminal.await_text("bash touch working").await;
    terminal.type_in("use the other\n").await;
    terminal.await_text("queued").await;
    world.file("go", "");
    terminal.await_text("I use the other one.").await;
    terminal.type_in("/exit\n").await;
    assert_eq!(terminal.code().await, Some(0));
}

#[tokio::test]
async fn colour_is_for_those_who_want_it() {
    for (variables, colored) in [
        (&[("TERM", "xterm")][..], true),
        (&[("TERM", "xterm"), ("NO_COLOR", "1")], false),
    ] {
        let world = World::new(HELLO);
        let mut terminal = Terminal::open(&world, &["-p", "hello", "--verbose"], variables);
        terminal.await_text("Hello, this is the answer.").await;
        terminal.await_text("session").await;
        assert_eq!(
            terminal.shown.contains("\u{1b}[2m"),
            colored,
            "{:?}",
            terminal.shown
        );
        assert_eq!(terminal.code().await, Some(0));
    }
}

#[tokio::test]
async fn it_can_be_left_while_the_model_works() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "touch working; sleep 600"}}]}]}"#;
    let world = World::new(scenario);
    let mut terminal = Terminal::open(&world, &["--permission-mode", "full-auto", "begin"], &[]);
    terminal.await_text("bash touch working").await;
    terminal.type_in("/cost\n").await;
    terminal.await_text("commands have to wait").await;
    terminal.type_in("/exit\n").await;
    assert_eq!(terminal.code().await, Some(0));
    let last = world.entries().pop().unwrap();
    assert_eq!(last["outcome"]["outcome"], "interrupted");
}
