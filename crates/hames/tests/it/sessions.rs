//! Going on with sessions: continue, resume, what is pending, and who holds one.

use std::process::Stdio;

use crate::world::{HELLO, Ran, World, entries};

const TWO: &str = r#"{"turns": [
    {"when": {"prompt": "remember the fish"}, "text": "first"},
    {"when": {"history": "remember the fish"}, "text": "I remember the fish"},
    {"text": "elsewhere"}
]}"#;

#[test]
fn fault_g11_continue_and_resume_hear_what_was_said() {
    let world = World::new(TWO);
    assert_eq!(world.run(&["-p", "remember the fish"]).out, "first\n");
    let id = world.session_ids().pop().unwrap();
    let went_on = world.run(&["-p", "-c", "what was it?"]);
    assert_eq!(went_on.out, "I remember the fish\n", "{went_on:?}");
    let begun: String = id.chars().take(17).collect();
    for name in [id.as_str(), begun.as_str()] {
        let resumed = world.run(&["-p", "again", "--resume", name]);
        assert_eq!(resumed.code, 0, "{resumed:?}");
    }
    assert_eq!(world.session_ids(), std::slice::from_ref(&id));
    let said = entries(&world.sessions().join(format!("{id}.jsonl")));
    let prompts = said.iter().filter(|entry| entry["entry"] == "user").count();
    assert_eq!(prompts, 4);
}

#[test]
fn continue_takes_the_newest_of_this_workspace() {
    let world = World::new(TWO);
    world.file("inner/x", "");
    assert_eq!(world.run(&["-p", "remember the fish"]).code, 0);
    assert_eq!(world.run(&["-p", "elsewhere", "--cwd", "inner"]).code, 0);
    let went_on = world.run(&["-p", "--continue", "what was it?"]);
    assert_eq!(went_on.out, "I remember the fish\n", "{went_on:?}");
}

#[test]
fn req_l22_without_a_prompt_what_is_pending_is_finished() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "echo once >> log"}}]},
        {"text": "finished"}
    ]}"#;
    let world = World::new(scenario);
    let cut = world.run(&[
        "-p",
        "go",
        "--permission-mode",
        "full-auto",
        "--max-turns",
        "1",
    ]);
    assert_eq!(cut.code, 3, "{cut:?}");
    let went_on = world.run(&["-p", "-c"]);
    assert_eq!(
        (went_on.code, went_on.out.as_str()),
        (0, "finished\n"),
        "{went_on:?}"
    );
    let log = std::fs::read_to_string(world.workspace().join("log")).unwrap();
    assert_eq!(log, "once\n");
    let users = world
        .entries()
        .iter()
        .filter(|entry| entry["entry"] == "user")
        .count();
    assert_eq!(users, 1);
    let again = world.run(&["-p", "-c"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.err.contains("nothing is pending"), "{again:?}");
}

#[test]
fn a_session_that_is_open_elsewhere_names_its_holder() {
    let world = World::new(r#"{"turns": [{"text": "wait", "hang": 1}]}"#);
    let mut holder = world.spawn(&["-p", "go"], Stdio::null());
    while world.session_ids().is_empty() {
        std::thread::yield_now();
    }
    let id = world.session_ids().pop().unwrap();
    let lock = world.sessions().join(format!("{id}.lock"));
    while std::fs::read_to_string(&lock)
        .unwrap_or_default()
        .is_empty()
    {
        std::thread::yield_now();
    }
    let second = world.run(&["-p", "me too", "-r", &id]);
    let pid = holder.id().to_string();
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(second.code, 2, "{second:?}");
    assert!(second.err.contains(&pid), "{second:?}");
}

#[test]
fn a_killed_session_goes_on() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "echo began >> log; sleep 600"}}]},
        {"text": "I see that it was interrupted"}
    ]}"#;
    let world = World::new(scenario);
    let args = ["-p", "go", "--permission-mode", "full-auto"];
    let mut killed = world.spawn(&args, Stdio::null());
    while !world.workspace().join("log").exists() {
        std::thread::yield_now();
    }
    killed.kill().unwrap();
    Ran::of(killed.wait_with_output().unwrap());
    let went_on = world.run(&["-p", "-c"]);
    assert_eq!(
        went_on.out, "I see that it was interrupted\n",
        "{went_on:?}"
    );
    let log = std::fs::read_to_string(world.workspace().join("log")).unwrap();
    assert_eq!(log, "began\n");
}

#[test]
fn sessions_are_their_users_alone() {
    let world = World::new(HELLO);
    assert_eq!(world.run(&["-p", "go"]).code, 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(world.sessions())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

/// What runs in the workspace cannot lose what is known of it.
#[test]
fn fault_g12_the_journal_lies_outside_the_workspace() {
    let world = World::new(HELLO);
    assert_eq!(world.run(&["-p", "go"]).code, 0);
    let journals = world.sessions().canonicalize().unwrap();
    let workspace = world.workspace().canonicalize().unwrap();
    assert!(!journals.starts_with(&workspace), "{journals:?}");
    let left = std::fs::read_dir(workspace).unwrap().count();
    assert_eq!(left, 0, "a run leaves nothing of its own in the workspace");
}
