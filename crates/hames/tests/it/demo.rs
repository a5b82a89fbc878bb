//! The demo: a visitor's first command, without a key, a network or settings.

use std::fs;

use crate::world::{HELLO, Ran, World};

fn demo(world: &World, args: &[&str]) -> Ran {
    let mut command = world.bare(&[&["demo"], args].concat());
    command.env("TMPDIR", world.path("home"));
    Ran::of(command.output().unwrap())
}

/// What is left in the folder for temporary files.
fn left(world: &World) -> Vec<String> {
    let files = fs::read_dir(world.path("home")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.starts_with("hames-demo"))
        .collect()
}

#[test]
fn req_c03_the_demo_fixes_a_real_bug_with_real_tools_and_says_that_the_model_was_scripted() {
    let world = World::new(HELLO);
    let ran = demo(&world, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let order = [
        "the model is scripted: no key, no network",
        "The test fails",
        "FAILED",
        "The agent works",
        "I will run the tests first",
        "Fixed:",
        "What was changed (git diff)",
        "+++ b/basket.",
        "The test passes",
        "OK",
        "The model was SCRIPTED",
        "hames explain",
    ];
    let mut rest = ran.out.as_str();
    for told in order {
        let Some((_, after)) = rest.split_once(told) else {
            panic!("{told} is not there, or not in its place: {}", ran.out);
        };
        rest = after;
    }
    for tool in ["bash", "read", "edit"] {
        assert!(
            ran.err.contains(&format!("· {tool} ")),
            "{tool}: {}",
            ran.err
        );
    }
    assert_eq!(left(&world), Vec::<String>::new());
    // What it did stands in a journal like any other, and can be explained.
    let id = world.session_ids().pop().unwrap();
    assert!(ran.out.contains(&id));
    let explained = Ran::of(world.bare(&["explain", &id]).output().unwrap());
    assert!(
        explained.out.contains("ended      completed"),
        "{explained:?}"
    );
}

#[test]
fn req_p11_bare_calls_show_four_gaps_and_then_the_harness_fills_them() {
    let world = World::new(HELLO);
    let ran = demo(&world, &["--bare"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let (bare, harness) = ran.out.split_once("The agent works").unwrap();
    let gaps = [
        ("1. errors", "the service is busy"),
        ("2. tools", "the test fails as before"),
        ("3. knowing when to stop", "it asks for the very same thing"),
        ("4. state", "this is the first message that I see"),
    ];
    for (gap, shown) in gaps {
        let (_, rest) = bare
            .split_once(gap)
            .unwrap_or_else(|| panic!("{gap}: {bare}"));
        assert!(rest.contains(shown), "{gap}: {rest}");
    }
    assert!(bare.contains("git diff has 0 lines"), "{bare}");
    assert!(harness.contains("The test passes"), "{harness}");
}

#[test]
fn another_model_that_fixes_nothing_is_no_success() {
    let world = World::new(r#"{"turns": [{"text": "All is well, nothing to do."}]}"#);
    let ran = demo(&world, &["--model", &world.model(), "--keep"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.out.contains("The test still fails"), "{ran:?}");
    assert!(!ran.out.contains("SCRIPTED"), "{ran:?}");
    assert_eq!(left(&world).len(), 1);
}

#[test]
fn a_model_that_changes_the_test_has_fixed_nothing() {
    let scenario = r#"{"turns": [
        {"calls": [{"name": "bash", "input": {"command": "for test in test_*; do echo > $test; done"}}]},
        {"text": "The tests pass."}
    ]}"#;
    let world = World::new(scenario);
    let ran = demo(&world, &["--model", &world.model()]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.out.contains("The test itself was changed"), "{ran:?}");
}

#[test]
fn without_python_the_demo_is_a_shell_script() {
    let world = World::new(HELLO);
    let tools = world.path("tools");
    fs::create_dir_all(&tools).unwrap();
    let path = std::env::var("PATH").unwrap();
    for name in ["sh", "bash", "git", "env", "cat", "ls"] {
        let found = std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| file.is_file());
        if let Some(found) = found {
            std::os::unix::fs::symlink(found, tools.join(name)).unwrap();
        }
    }
    let mut command = world.bare(&["demo"]);
    command
        .env("TMPDIR", world.path("home"))
        .env("PATH", &tools);
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("sh test_basket.sh") && ran.out.contains("-shift"),
        "{ran:?}"
    );
}
