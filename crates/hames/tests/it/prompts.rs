//! Where the prompt comes from, and that nothing waits for a stdin that was not asked for.

use std::process::Stdio;

use crate::world::{HELLO, Ran, World};

const ECHO: &str = r#"{"conversations": [
    {"when": {"prompt": "from the pipe"}, "turns": [{"text": "piped"}]},
    {"when": {"prompt": "from the flag"}, "turns": [{"text": "flagged"}]}
]}"#;

#[test]
fn stdin_is_read_where_it_is_asked_for() {
    let world = World::new(ECHO);
    for args in [&["-p", "-"][..], &["-p"]] {
        let ran = world.run_with_stdin(args, "this is from the pipe\n");
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (0, "piped\n"),
            "{args:?}: {ran:?}"
        );
    }
}

#[test]
fn fault_e09_a_given_prompt_never_waits_for_an_open_pipe() {
    let world = World::new(ECHO);
    let mut hames = world.spawn(&["-p", "this is from the flag"], Stdio::piped());
    // Held open until it has ended: nothing ever comes, and no end either.
    let pipe = hames.stdin.take();
    let ran = Ran::of(hames.wait_with_output().unwrap());
    drop(pipe);
    assert_eq!((ran.code, ran.out.as_str()), (0, "flagged\n"), "{ran:?}");
}

#[test]
fn a_pipe_beside_a_prompt_is_read_where_it_is_asked_for_and_else_told_of() {
    let scenario = r#"{"conversations": [
        {"when": {"prompt": "explain\n\n<stdin>\nerror: one\ntwo\n\n</stdin>"}, "turns": [{"text": "both"}]},
        {"when": {"prompt": "explain"}, "turns": [{"text": "prompt alone"}]}
    ]}"#;
    let world = World::new(scenario);
    let piped = "error: one\ntwo\n";
    let both = world.run_with_stdin(&["-p", "explain", "--stdin"], piped);
    assert_eq!((both.code, both.out.as_str()), (0, "both\n"), "{both:?}");
    assert_eq!(both.err, "", "{both:?}");
    let file = world.workspace().join("piped.txt");
    std::fs::write(&file, piped).unwrap();
    let file = std::fs::File::open(file).unwrap();
    let hames = world.spawn(&["-p", "explain"], file.into());
    let alone = Ran::of(hames.wait_with_output().unwrap());
    assert_eq!((alone.code, alone.out.as_str()), (0, "prompt alone\n"));
    assert!(alone.err.contains("--stdin"), "{alone:?}");
    let quiet = world.run(&["-p", "explain"]);
    assert_eq!(quiet.err, "", "nothing was left: {quiet:?}");
}

#[test]
fn nothing_to_do_is_a_usage_error() {
    let world = World::new(HELLO);
    for (args, stdin) in [
        (&["-p"][..], ""),
        (&["-p", "-"], " \n"),
        (&["-p", ""], "unread"),
        (&[], "unread"),
    ] {
        let ran = world.run_with_stdin(args, stdin);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains("prompt"), "{ran:?}");
    }
    assert_eq!(world.session_ids(), [""; 0]);
}

/// Without a terminal there is no conversation to have.
#[test]
fn a_prompt_without_a_terminal_is_answered_once() {
    let ran = World::new(HELLO).run(&["hello"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "Hello, this is the answer.\n"),
        "{ran:?}"
    );
}

/// Nor is one needed for what is pending.
#[test]
fn what_is_pending_is_finished_without_a_terminal() {
    let world = World::new(
        r#"{"turns": [{"calls": [{"name": "glob", "input": {"pattern": "*"}}]}, {"text": "done"}]}"#,
    );
    let first = world.run(&["-p", "go", "--max-turns", "1"]);
    assert_eq!(first.code, 3, "{first:?}");
    let ran = world.run(&["-c"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{ran:?}");
}
