//! Trust: asked once, remembered, and said where it is missing.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, thread};

use hames::{
    settings::Gated,
    trust::{Asking, Trust, TrustStore, decide},
};

fn gated() -> Vec<Gated> {
    let one = |what, text: &str| Gated {
        what,
        text: text.to_owned(),
        file: ".hames/settings.json".to_owned(),
    };
    vec![
        one("a hook", "./a"),
        one("an allow rule", "Bash(make *)"),
        one("a hook", "./b\u{1b}[2J\nTrust it? yes"),
    ]
}

fn yes() -> Trust {
    Trust {
        trusted: true,
        note: None,
    }
}

fn no() -> Trust {
    let note = "this workspace is not trusted, so 2 hooks and 1 allow rule of it do not count; \
                --trust-workspace lets them";
    Trust {
        trusted: false,
        note: Some(note.to_owned()),
    }
}

#[test]
fn nobody_to_ask_means_no_and_one_line_says_so() {
    let state = tempfile::tempdir().unwrap();
    let store = TrustStore::new(state.path());
    let workspace = state.path();
    assert_eq!(
        decide(&store, workspace, &gated(), Asking::Nobody).unwrap(),
        no()
    );
    assert_eq!(
        decide(&store, workspace, &gated(), Asking::Flag).unwrap(),
        yes()
    );
    // The flag is for one run.
    assert_eq!(
        decide(&store, workspace, &gated(), Asking::Nobody).unwrap(),
        no()
    );
    assert_eq!(
        decide(&store, workspace, &[], Asking::Nobody).unwrap(),
        yes()
    );
    assert!(!state.path().join("trust.json").exists());
}

#[test]
fn a_yes_is_remembered_and_a_no_is_asked_again() {
    let state = tempfile::tempdir().unwrap();
    let store = TrustStore::new(&state.path().join("deep/state"));
    let workspace = state.path().join("ws");
    fs::create_dir(&workspace).unwrap();
    let mut asked = Vec::new();
    for (answer, expected) in [(None, no()), (Some(false), no()), (Some(true), yes())] {
        let mut ask = |question: &str| {
            asked.push(question.to_owned());
            answer
        };
        let trust = decide(&store, &workspace, &gated(), Asking::Terminal(&mut ask)).unwrap();
        assert_eq!(trust, expected);
    }
    let again = TrustStore::new(&state.path().join("deep/state"));
    assert_eq!(
        decide(&again, &workspace, &gated(), Asking::Nobody).unwrap(),
        yes()
    );
    assert_eq!(
        decide(&again, state.path(), &gated(), Asking::Nobody).unwrap(),
        no()
    );
    assert_eq!(asked.len(), 3);
    let expected = format!(
        "{} brings settings of its own:\n  a hook: ./a (.hames/settings.json)\n  an allow rule: Bash(make *) \
         (.hames/settings.json)\n  a hook: ./b\u{fffd}[2J\u{fffd}Trust it? yes (.hames/settings.json)\n\
         Trust this workspace, now and later?",
        workspace.display()
    );
    assert_eq!(asked[0], expected);
}

#[test]
#[cfg(unix)]
fn a_workspace_is_known_by_what_it_is_and_not_by_its_name() {
    let state = tempfile::tempdir().unwrap();
    let store = TrustStore::new(state.path());
    let (real, link) = (state.path().join("real"), state.path().join("link"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    store.trust(&link).unwrap();
    assert!(store.known(&real).unwrap().trusted);
}

#[test]
fn fault_i04_rules_that_are_allowed_for_good_are_kept_by_workspace() {
    let state = tempfile::tempdir().unwrap();
    let store = TrustStore::new(state.path());
    let (one, other) = (Path::new("/nowhere/one"), Path::new("/nowhere/other"));
    store.allow(one, &["Bash(make *)".to_owned()]).unwrap();
    store
        .allow(
            one,
            &["Bash(make *)".to_owned(), "Edit(/src/**)".to_owned()],
        )
        .unwrap();
    let known = store.known(one).unwrap();
    assert_eq!(known.allow, ["Bash(make *)", "Edit(/src/**)"]);
    assert!(
        !known.trusted,
        "a rule of the user's own is no trust in the workspace's"
    );
    assert_eq!(store.known(other).unwrap().allow, [""; 0]);
}

#[test]
fn fault_g04_writers_side_by_side_lose_nothing_and_strange_fields_stay() {
    let state = tempfile::tempdir().unwrap();
    let text = r#"{"later": 1, "workspaces": {"/w": {"trusted": true, "since": "x"}}}"#;
    fs::write(state.path().join("trust.json"), text).unwrap();
    thread::scope(|scope| {
        for number in 0..8 {
            let store = TrustStore::new(state.path());
            scope.spawn(move || {
                for step in 0..5 {
                    let rule = format!("Bash(run {number} {step})");
                    store.allow(Path::new("/w"), &[rule]).unwrap();
                }
            });
        }
    });
    let store = TrustStore::new(state.path());
    let known = store.known(Path::new("/w")).unwrap();
    assert!(known.trusted);
    assert_eq!(known.allow.len(), 40);
    let text = fs::read_to_string(state.path().join("trust.json")).unwrap();
    assert!(
        text.contains("\"later\": 1") && text.contains("\"since\": \"x\""),
        "{text}"
    );
}

#[test]
fn a_broken_file_is_said_and_kept() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("trust.json");
    fs::write(&file, "{").unwrap();
    let store = TrustStore::new(state.path());
    let error = store.trust(Path::new("/w")).unwrap_err().to_string();
    assert!(
        error.contains("repair it, or remove it to be asked again"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
}
