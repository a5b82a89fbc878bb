//! `hames guide`, `models`, `doctor` and `completions`.

use std::{fs, net::TcpListener, path::Path};

use crate::world::{HELLO, Ran, World};

fn hames(world: &World, args: &[&str]) -> Ran {
    Ran::of(world.bare(args).output().unwrap())
}

const ALL_YES_BUT_COST: [&str; 4] = [
    "--steps-foreseeable=yes",
    "--quality-sensitive=yes",
    "--several-roles=yes",
    "--cost-sensitive=no",
];

#[test]
fn req_s05_the_guide_says_what_it_chose_and_why_and_auto_uses_it() {
    let scenario = r#"{"turns": [{"text": "react"}], "conversations": [
        {"when": {"prompt": "Plan first."}, "turns": [{"text": "- look"}]},
        {"when": {"prompt": "Do this step now"}, "turns": [{"text": "looked"}]},
        {"when": {"prompt": "All steps are done"}, "turns": [{"text": "planned and done"}]}
    ]}"#;
    let world = World::new(scenario);
    let before = world.run(&["-p", "go", "--shape", "auto"]);
    assert_eq!(before.code, 2, "{before:?}");
    let chosen = hames(&world, &[&["guide"][..], &ALL_YES_BUT_COST].concat());
    assert_eq!(chosen.code, 0, "{chosen:?}");
    assert!(
        chosen
            .out
            .starts_with("shape      plan_execute + multi_agent + reflection\n"),
        "{chosen:?}"
    );
    assert_eq!(chosen.out.matches("because    ").count(), 3, "{chosen:?}");
    assert!(chosen.out.contains("--shape auto"), "{chosen:?}");
    let cheap = hames(
        &world,
        &[
            "guide",
            "--steps-foreseeable",
            "yes",
            "--quality-sensitive",
            "yes",
            "--several-roles",
            "no",
            "--cost-sensitive",
            "yes",
        ],
    );
    assert!(
        cheap.out.starts_with("shape      plan_execute\n"),
        "{cheap:?}"
    );
    assert!(
        cheap
            .out
            .contains("conflict   quality counts, but so does cost"),
        "{cheap:?}"
    );
    let planned = [
        "--steps-foreseeable=yes",
        "--quality-sensitive=no",
        "--several-roles=no",
        "--cost-sensitive=no",
    ];
    let planned = hames(&world, &[&["guide"][..], &planned].concat());
    assert!(
        planned.out.contains("--shape plan_execute\n"),
        "{planned:?}"
    );
    let after = world.run(&["-p", "go", "--shape", "auto"]);
    assert!(after.out.ends_with("planned and done\n"), "{after:?}");
}

#[test]
fn what_the_guide_was_not_told_it_does_not_guess() {
    let world = World::new(HELLO);
    let ran = hames(&world, &["guide", "--steps-foreseeable", "yes"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for flag in ["--quality-sensitive", "--several-roles", "--cost-sensitive"] {
        assert!(ran.err.contains(flag), "{ran:?}");
    }
    let dry = hames(
        &world,
        &[&["guide", "--dry-run"][..], &ALL_YES_BUT_COST].concat(),
    );
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(!world.path("config/hames/guide.json").exists());
}

#[test]
fn req_s06_the_four_shapes_are_measured_on_the_same_tasks() {
    let tasks = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/scenarios/tasks"
    ));
    let world = World::new(HELLO);
    let ran = hames(&world, &["guide", "--measure", tasks.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for shape in ["react", "plan_execute", "reflection", "multi_agent"] {
        let row = ran.out.lines().find(|row| row.starts_with(shape)).unwrap();
        assert!(row.contains("10 of 10"), "{row}");
    }
    assert!(
        ran.out
            .contains("\"ReAct has the fewest tokens a call (a round)\": "),
        "{ran:?}"
    );
    for role in ["critic", "planner", "executor", "reviewer"] {
        assert!(ran.out.contains(role), "{role}: {ran:?}");
    }
}

#[test]
fn models_say_window_cap_and_dated_prices_and_what_is_there_now() {
    let world = World::new(HELLO);
    let ran = hames(&world, &["models"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let row = ran
        .out
        .lines()
        .find(|row| row.starts_with("anthropic/claude-sonnet-5-5 "))
        .unwrap();
    assert!(row.contains("20") && row.ends_with("no key"), "{row}");
    assert!(ran.out.contains("no key: set OPENAI_API_KEY"), "{ran:?}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let mut command = world.bare(&["models", "--ready"]);
    command
        .env("OPENAI_API_KEY", "sk-very-secret")
        .env("OLLAMA_HOST", &place);
    let ready = Ran::of(command.output().unwrap());
    assert!(ready.out.contains("OPENAI_API_KEY is set"), "{ready:?}");
    assert!(
        ready.out.contains(&format!("a server answers at {place}")),
        "{ready:?}"
    );
    assert!(!ready.out.contains("anthropic/"), "{ready:?}");
    assert!(!format!("{ready:?}").contains("sk-very-secret"));
}

#[test]
fn doctor_finds_what_would_keep_a_run_from_working() {
    let world = World::new(HELLO);
    let mut command = world.bare(&["doctor"]);
    command.env("ANTHROPIC_API_KEY", "sk-ant-very-secret");
    let well = Ran::of(command.output().unwrap());
    assert_eq!(well.code, 0, "{well:?}");
    for what in [
        "hames",
        "git",
        "shell",
        "settings",
        "trust",
        "sessions",
        "processes",
        "model",
    ] {
        let about = |line: &&str| line.split_whitespace().nth(1) == Some(what);
        assert!(
            well.out.lines().any(|line| about(&line)),
            "{what}: {well:?}"
        );
    }
    assert!(
        well.out.contains("ANTHROPIC_API_KEY is set") && !well.out.contains("very-secret"),
        "{well:?}"
    );
    let settings = world.path("config/hames/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{ not json").unwrap();
    // A file where the folder of sessions would be.
    fs::remove_dir_all(world.path("state")).unwrap();
    fs::write(world.path("state"), "").unwrap();
    let ill = hames(&world, &["doctor"]);
    assert_eq!(ill.code, 1, "{ill:?}");
    for what in ["fail  settings", "fail  sessions"] {
        assert!(ill.out.contains(what), "{what}: {ill:?}");
    }
    assert_eq!(
        ill.out.matches('→').count(),
        ill.out
            .lines()
            .filter(|l| l.starts_with("warn") || l.starts_with("fail"))
            .count()
    );
}

#[test]
fn completions_know_the_subcommands() {
    let world = World::new(HELLO);
    for shell in ["bash", "zsh", "fish"] {
        let ran = hames(&world, &["completions", shell]);
        assert_eq!(ran.code, 0, "{ran:?}");
        for word in ["explain", "sessions", "permission-mode"] {
            assert!(ran.out.contains(word), "{shell}: {word}");
        }
    }
}

/// The four questions, on a real pseudo-terminal.
#[cfg(unix)]
#[tokio::test]
async fn the_guide_asks_on_a_terminal_until_it_has_an_answer() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let world = World::new(HELLO);
    let (mut pty, pts) = pty_process::open().unwrap();
    let mut child = pty_process::Command::new(env!("CARGO_BIN_EXE_hames"))
        .arg("guide")
        .current_dir(world.workspace())
        .env_clear()
        .envs(world.variables())
        .spawn(pts)
        .unwrap();
    pty.write_all(b"no\nmaybe\nyes\nn\nn\n").await.unwrap();
    let mut shown = Vec::new();
    let mut piece = [0; 1024];
    // A terminal whose process has ended gives an error where a pipe gives nothing.
    while let Ok(read) = pty.read(&mut piece).await {
        shown.extend_from_slice(&piece[..read]);
        if read == 0 {
            break;
        }
    }
    let shown = String::from_utf8_lossy(&shown);
    assert!(child.wait().await.unwrap().success(), "{shown}");
    assert_eq!(shown.matches("[y/n]").count(), 5, "{shown}");
    assert!(shown.contains("shape      react + reflection"), "{shown}");
}
