//! S4 with agents that are scripts: what they get, how they end, what is left of them and who is next.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::Ordering::SeqCst,
    time::Duration,
};

use hames_eval::{
    adapter::{Adapter, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    rate_limit::RateLimits,
    record::AdapterAttempt,
    stage::StageError,
    stages::s4_solve::Solved,
};

use crate::solving::{Script, World};

/// What an agent does to mend the base.
const FIX: &str = "sed -i 's/ + 1//' code.py\n";

/// Of an attempt, what a test compares: the model, the time and the words are looked at apart.
type Told<'a> = (&'a str, bool, Option<i32>, bool, bool, &'a str);

fn told(attempt: &AdapterAttempt) -> Told<'_> {
    (
        &attempt.adapter,
        attempt.subprocess,
        attempt.returncode,
        attempt.killed,
        attempt.rescued,
        &attempt.outcome,
    )
}

fn all_told(solved: &Solved) -> Vec<Told<'_>> {
    solved.attempts.iter().map(told).collect()
}

fn says_429(left: &Left<'_>) -> Reading {
    let line = left.stderr.lines().find(|line| line.contains("429"));
    Reading {
        infrastructure: line.map(str::to_owned),
        ..Reading::default()
    }
}

#[tokio::test]
async fn req_w06_w07_an_agent_that_fixes_hangs_and_ignores_everything_is_killed_and_rescued() {
    let mut world = World::new().await;
    world.wall = Duration::from_millis(700);
    let agent = Script::new(&format!(
        "trap '' TERM INT HUP\n{FIX}\
         setsid sh -c 'trap \"\" TERM; while :; do sleep 300; done' &\n\
         (setsid sh -c 'sleep 300 & wait' &)\n\
         while :; do sleep 300; done"
    ));
    let solved = world.solve(&[&agent]).await.unwrap();
    assert_eq!(world.alive(), 0);
    assert_eq!(
        all_told(&solved),
        [("script", true, Some(-9), true, true, "pending")]
    );
    assert_eq!((solved.taken, solved.interrupted), (Some(0), false));
    assert_eq!(
        solved.attempts[0].error.as_deref(),
        Some("ended at its wall limit")
    );
    let post = world
        .log()
        .into_iter()
        .find(|line| line["phase"] == "post_invoke")
        .unwrap();
    assert_eq!(post["signals"], serde_json::json!(["SIGTERM", "SIGKILL"]));
    assert_eq!(post["cause"], "wall limit");
}

#[tokio::test]
async fn req_w05_one_that_ends_when_it_is_asked_has_minus_15() {
    let mut world = World::new().await;
    world.wall = Duration::from_millis(500);
    let agent = Script::new(&format!("{FIX}sleep 300 & exec sleep 300"));
    let solved = world.solve(&[&agent]).await.unwrap();
    assert_eq!(
        all_told(&solved),
        [("script", true, Some(-15), true, true, "pending")]
    );
    assert_eq!(world.alive(), 0);
}

#[tokio::test]
async fn req_w08_one_that_only_hangs_is_not_rescued() {
    let mut world = World::new().await;
    world.wall = Duration::from_millis(300);
    let solved = world
        .solve(&[&Script::new("exec sleep 300")])
        .await
        .unwrap();
    assert_eq!(
        all_told(&solved),
        [("script", true, Some(-15), true, false, "empty_patch")]
    );
    assert_eq!(solved.taken, None);
}

#[tokio::test]
async fn fault_n03_what_an_agent_leaves_behind_is_gone_before_its_work_is_taken() {
    let world = World::new().await;
    let daemon = "while :; do echo late >> code.py; sleep 0.01; done";
    let agent = Script::new(&format!(
        "{FIX}setsid sh -c '{daemon}' >/dev/null 2>&1 &\nexit 0"
    ));
    let solved = world.solve(&[&agent]).await.unwrap();
    assert_eq!(world.alive(), 0);
    assert_eq!(
        all_told(&solved),
        [("script", true, Some(0), false, false, "pending")]
    );
    assert!(solved.attempts[0].survivors_killed >= 1, "{solved:?}");
}

#[tokio::test]
async fn one_that_crashes_with_work_is_rescued_and_one_without_is_followed_by_the_next() {
    let world = World::new().await;
    let second = Script::new(FIX);
    let solved = world
        .solve(&[&Script::new(&format!("{FIX}exit 3")), &second])
        .await
        .unwrap();
    assert_eq!(
        all_told(&solved),
        [("script", true, Some(3), false, true, "pending")]
    );
    assert_eq!(solved.attempts[0].error.as_deref(), Some("ended with 3"));

    world.lay_out().await;
    let mut first = Script::new(
        "mkdir -p build __pycache__; echo x > build/x; echo x > __pycache__/x.pyc; echo x > $HOME/x; kill -SEGV $$",
    );
    first.name = "first";
    let second = Script::new(&format!(
        "test ! -e build && test ! -e __pycache__ && test ! -e $HOME/x || exit 9\n{FIX}"
    ));
    let solved = world.solve(&[&first, &second]).await.unwrap();
    assert_eq!(
        all_told(&solved),
        [
            ("first", true, Some(-11), false, false, "failed"),
            ("script", true, Some(0), false, false, "pending"),
        ]
    );
    assert_eq!(solved.taken, Some(1));
}

#[tokio::test]
async fn what_the_work_is_worth_never_decides_who_is_next() {
    let world = World::new().await;
    for (script, work) in [("echo wrong >> code.py", true), ("true", false)] {
        world.lay_out().await;
        let second = Script::new(FIX);
        let solved = world.solve(&[&Script::new(script), &second]).await.unwrap();
        assert_eq!(
            all_told(&solved),
            [("script", true, Some(0), false, false, "pending")]
        );
        assert_eq!(second.starts.load(SeqCst), 0, "{script}");
        assert_eq!(world.extract().await.unwrap().patch.is_empty(), !work);
    }
}

#[tokio::test]
async fn req_a05_one_that_is_missing_is_entered_and_the_next_takes_over() {
    let world = World::new().await;
    let missing = Script {
        name: "gone",
        missing: true,
        ..Script::new("")
    };
    let solved = world.solve(&[&missing, &Script::new(FIX)]).await.unwrap();
    assert_eq!(
        all_told(&solved),
        [
            ("gone", false, None, false, false, "failed"),
            ("script", true, Some(0), false, false, "pending"),
        ]
    );
    assert_eq!(
        solved.attempts[0].error.as_deref(),
        Some("the program script is missing: write it")
    );
    // With nobody at all it is no attempt's failure, but what is missing.
    let refused = world.solve(&[&missing, &missing]).await.unwrap_err();
    assert!(matches!(refused, StageError::Missing { .. }), "{refused}");
}

#[tokio::test]
async fn what_cannot_be_started_is_the_machines_trouble() {
    let world = World::new().await;
    let mut agent = Script::new("");
    agent.args = vec!["x".repeat(3 << 20)];
    let solved = world.solve(&[&agent]).await.unwrap();
    assert_eq!(
        all_told(&solved),
        [("script", true, None, false, false, "infrastructure")]
    );
    assert!(
        solved.attempts[0]
            .error
            .as_ref()
            .unwrap()
            .starts_with("/bin/sh: ")
    );
}

#[tokio::test]
async fn what_is_nobodys_fault_is_tried_again_and_each_try_is_entered() {
    let mut world = World::new().await;
    world.retries = 2;
    world.limits = RateLimits::with_first_pause(Duration::from_millis(20));
    // It works the third time, and finds nothing of the tries before.
    let counter = world.ground.path("counter");
    let agent = Script {
        reads: says_429,
        args: vec![counter.display().to_string()],
        ..Script::new(
            "test ! -e half || exit 9\necho x >> $1\n\
             test $(wc -l < $1) -ge 3 || { mkdir half; echo 'HTTP 429 too many requests' >&2; exit 1; }\n\
             sed -i 's/ + 1//' code.py",
        )
    };
    let solved = world.solve(&[&agent]).await.unwrap();
    let busy = ("script", true, Some(1), false, false, "infrastructure");
    let fine = ("script", true, Some(0), false, false, "pending");
    assert_eq!(all_told(&solved), [busy, busy, fine]);
    assert_eq!(solved.taken, Some(2));
    assert_eq!(
        solved.attempts[0].error.as_deref(),
        Some("HTTP 429 too many requests")
    );
}

#[tokio::test]
async fn one_workers_429_slows_all_and_a_wrong_key_slows_nobody() {
    let mut world = World::new().await;
    world.limits = RateLimits::with_first_pause(Duration::from_millis(1));
    let refused = |left: &Left<'_>| Reading {
        infrastructure: Some(left.stderr.trim().to_owned()),
        ..Reading::default()
    };
    let before = world.limits.limit("script");
    let agent = Script {
        reads: refused,
        ..Script::new("echo '401 unauthorized' >&2; exit 1")
    };
    world.solve(&[&agent]).await.unwrap();
    assert_eq!(world.limits.limit("script"), before);
    let agent = Script {
        reads: refused,
        ..Script::new("echo '429 too many requests' >&2; exit 1")
    };
    world.solve(&[&agent]).await.unwrap();
    assert_eq!(world.limits.limit("script"), 1);
    // Those who ask the same address share a limit, whoever they are.
    let options = Options {
        base_url: Some("http://there".to_owned()),
        ..Options::default()
    };
    world.solve_chain(&[(&agent, &options)]).await.unwrap();
    assert_eq!(world.limits.limit("http://there"), 1);
}

#[tokio::test]
async fn an_agent_gets_the_keys_that_its_adapter_names_and_no_other_variable_of_the_caller() {
    let mut world = World::new().await;
    let variables = &mut world.ground.host.variables;
    for (name, value) in [
        ("THEIR_API_KEY", "sk-secret-1"),
        ("OTHER_API_KEY", "sk-secret-2"),
        ("GIT_DIR", "/nowhere"),
    ] {
        variables.insert(name.to_owned(), value.to_owned());
    }
    let agent = Script {
        passes: &["THEIR_API_KEY"],
        args: [
            "--api-key",
            "sk-of-the-options",
            "--header=x-sk-secret-1",
            "--token=abc",
        ]
        .map(str::to_owned)
        .to_vec(),
        files: vec![(PathBuf::from(".agent/config.json"), "{}".to_owned())],
        ..Script::new("env; cat $HOME/.agent/config.json")
    };
    world.solve(&[&agent]).await.unwrap();
    let printed = world.printed();
    let known = printed.lines().filter_map(|line| line.split_once('='));
    let mut names: Vec<&str> = known.map(|(name, _)| name).collect();
    names.retain(|name| !name.starts_with("HAMES_CALL_"));
    names.sort_unstable();
    let expected = [
        "FROM_PLACE",
        "HOME",
        "OLDPWD",
        "PATH",
        "PWD",
        "PYENV_ROOT",
        "SHLVL",
        "THEIR_API_KEY",
        "TMPDIR",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "_",
    ];
    let strangers: Vec<_> = names
        .iter()
        .filter(|name| !expected.contains(name))
        .collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    assert!(printed.contains("THEIR_API_KEY=sk-secret-1\n"), "{printed}");
    assert!(printed.contains(&format!("HOME={}\n", world.place.home.display())));
    assert!(printed.ends_with("{}"));

    let log = fs::read_to_string(world.trial.worker_log()).unwrap();
    for secret in ["sk-secret", "sk-of-the-options", "abc", "Please mend"] {
        assert!(!log.contains(secret), "{secret}");
    }
    assert!(log.contains("--header=x-<THEIR_API_KEY>"), "{log}");
}

#[tokio::test]
async fn req_o04_the_log_tells_each_phase_in_order() {
    let world = World::new().await;
    let solved = world.solve(&[&Script::new(FIX)]).await.unwrap();
    let log = world.log();
    let phases: Vec<_> = log
        .iter()
        .map(|line| line["phase"].as_str().unwrap())
        .collect();
    assert_eq!(
        phases,
        [
            "validate",
            "workspace",
            "prompt",
            "pre_invoke",
            "invoke_cli",
            "post_invoke",
            "parse_output",
            "artifacts"
        ]
    );
    assert!(
        log.iter()
            .all(|line| line["at"].is_string() && line["seconds"].is_number())
    );
    let attempt: AdapterAttempt = serde_json::from_value(log[7]["attempt"].clone()).unwrap();
    assert_eq!(attempt, solved.attempts[0]);
}

#[tokio::test]
async fn a_printed_diff_is_work_and_outlives_a_serialization() {
    let world = World::new().await;
    let agent = Script {
        reads: |left| Reading {
            diff: Some(left.stdout.to_owned()),
            ..Reading::default()
        },
        ..Script::new("echo '--- a/code.py'; exit 4")
    };
    let solved = world.solve(&[&agent]).await.unwrap();
    assert_eq!(
        all_told(&solved),
        [("script", true, Some(4), false, true, "pending")]
    );
    assert_eq!(solved.reading.diff.as_deref(), Some("--- a/code.py\n"));
    let text = serde_json::to_string(&solved).unwrap();
    assert_eq!(serde_json::from_str::<Solved>(&text).unwrap(), solved);
}

/// A patch from elsewhere.
struct Patch(&'static str);

impl Adapter for Patch {
    fn name(&self) -> &'static str {
        "patch"
    }
    fn check(&self, _: &Host, _: &Options) -> Result<(), StageError> {
        Ok(())
    }
    fn plan(&self, _: &Task, _: &Place, _: &Host, _: &Options) -> Result<Plan, StageError> {
        Ok(Plan::Patch(self.0.to_owned()))
    }
    fn read(&self, _: &Left<'_>) -> Reading {
        Reading::default()
    }
}

#[tokio::test]
async fn a_patch_that_was_made_elsewhere_goes_on_word_for_word() {
    let world = World::new().await;
    let solved = world.solve(&[&Patch("not even a diff")]).await.unwrap();
    assert_eq!(
        all_told(&solved),
        [("patch", false, None, false, false, "pending")]
    );
    assert_eq!(solved.reading.diff.as_deref(), Some("not even a diff"));
    assert!(world.extract().await.unwrap().patch.is_empty());
    let solved = world.solve(&[&Patch("")]).await.unwrap();
    assert_eq!((solved.taken, solved.reading.diff), (Some(0), None));
}

#[tokio::test]
async fn an_agent_that_prints_without_end_is_read_within_bounds() {
    let world = World::new().await;
    let agent = Script {
        reads: |left| Reading {
            failure: Some(left.stdout.len().to_string()),
            notes: vec![left.stdout.lines().last().unwrap_or_default().to_owned()],
            ..Reading::default()
        },
        ..Script::new(
            "echo first; yes 0123456789abcdef0123456789abcdef | head -c 80000000; echo; echo last",
        )
    };
    let solved = world.solve(&[&agent]).await.unwrap();
    let read: usize = solved.reading.failure.unwrap().parse().unwrap();
    assert!(read > 60 << 20 && read <= 64 << 20, "{read}");
    assert_eq!(solved.reading.notes[0], "last");
    assert!(
        solved.reading.notes[1].starts_with("agent.stdout: "),
        "{:?}",
        solved.reading.notes
    );
    let kept = fs::metadata(world.trial.agent_stdout()).unwrap().len();
    assert_eq!(kept, 80_000_000 + 12);
}

#[tokio::test]
async fn an_interrupt_ends_everything_and_the_attempt_is_in_the_next_run() {
    let mut world = World::new().await;
    world.stops_at_output = true;
    let agent = Script::new(&format!("{FIX}(setsid sleep 300 &)\necho begun; sleep 300"));
    let solved = world.solve(&[&agent, &agent]).await.unwrap();
    assert_eq!(world.alive(), 0);
    assert!(solved.interrupted);
    assert_eq!(
        all_told(&solved),
        [("script", true, Some(-15), true, false, "interrupted")]
    );
    world.stops_at_output = false;
    world.ground.cancel = tokio_util::sync::CancellationToken::new();
    world.lay_out().await;
    let again = world.solve(&[&Script::new(FIX)]).await.unwrap();
    let outcomes: Vec<_> = again
        .attempts
        .iter()
        .map(|attempt| attempt.outcome.as_str())
        .collect();
    assert_eq!(outcomes, ["interrupted", "pending"]);
    assert_eq!(again.taken, Some(1));
    // It has ended: what is made anew has nothing of it.
    world.lay_out().await;
    let anew = world.solve(&[&Script::new(FIX)]).await.unwrap();
    assert_eq!(anew.attempts.len(), 1);
}

#[tokio::test]
async fn whoever_begins_again_finds_the_base_and_nothing_of_those_before() {
    let world = World::new().await;
    for _ in 0..2 {
        let agent = Script::new(&format!(
            "test ! -e half && test ! -e $HOME/half || exit 9\ntouch half $HOME/half\n{FIX}"
        ));
        let solved = world.solve(&[&agent]).await.unwrap();
        assert_eq!(
            all_told(&solved),
            [("script", true, Some(0), false, false, "pending")]
        );
    }
}

#[tokio::test]
async fn one_that_waits_for_its_service_hears_an_interrupt() {
    let mut world = World::new().await;
    world.limits = RateLimits::with_first_pause(Duration::from_secs(250));
    world.limits.permit("script").await.refused(None);
    let agent = Script::new(FIX);
    let stop = async {
        tokio::task::yield_now().await;
        world.ground.cancel.cancel();
    };
    let agents: [&dyn Adapter; 1] = [&agent];
    let (solved, ()) = tokio::join!(world.solve(&agents), stop);
    let solved = solved.unwrap();
    assert!(solved.interrupted);
    assert_eq!(solved.attempts[0].wall_time_seconds, 0.0);
}

#[tokio::test]
async fn two_workers_daemons_are_not_mixed_up() {
    let (one, other) = (World::new().await, World::new().await);
    let leaves = Script::new(&format!(
        "{FIX}(setsid sleep 300 >/dev/null 2>&1 &)\nexit 0"
    ));
    let waits = Script::new(&format!(
        "(setsid sleep 300 >/dev/null 2>&1 & echo $! > ../daemon)\n\
         while [ ! -e ../go ]; do sleep 0.01; done\nkill -0 $(cat ../daemon) && {FIX}"
    ));
    let go = other.place.tree.with_file_name("go");
    let first = async {
        let agents: [&dyn Adapter; 1] = [&leaves];
        let solved = one.solve(&agents).await.unwrap();
        let alive = (one.alive(), other.alive() > 0);
        fs::write(&go, "").unwrap();
        (solved, alive)
    };
    let agents: [&dyn Adapter; 1] = [&waits];
    let ((first, alive), second) = tokio::join!(first, other.solve(&agents));
    assert_eq!(alive, (0, true));
    assert_eq!(first.attempts[0].survivors_killed, 1);
    let second = second.unwrap();
    assert_eq!(
        all_told(&second),
        [("script", true, Some(0), false, false, "pending")]
    );
    assert_eq!(second.attempts[0].survivors_killed, 1);
    assert_eq!(other.alive(), 0);
}

/// Run by the test below in a process of its own, which is killed.
#[tokio::test]
#[ignore = "a part of another test"]
async fn a_run_to_be_killed() {
    let world = World::new().await;
    println!("\nTRIAL {}", world.trial.0.display());
    println!("PLACE {}", world.ground.path("").display());
    let first = Script {
        name: "first",
        ..Script::new("exit 7")
    };
    let second = Script {
        name: "second",
        ..Script::new(&format!(
            "{FIX}(setsid sh -c 'trap \"\" TERM; sleep 300; sleep 300' &)\ntouch ../begun; sleep 300"
        ))
    };
    world.solve(&[&first, &second]).await.unwrap();
}

#[tokio::test]
async fn fault_n02_n06_what_a_killed_run_leaves_is_ended_and_its_attempts_are_told() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "solve::a_run_to_be_killed",
            "--ignored",
            "--nocapture",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = |prefix: &str| loop {
        let line = lines.next().unwrap().unwrap();
        if let Some(rest) = line.strip_prefix(prefix) {
            break PathBuf::from(rest);
        }
    };
    let (trial, place) = (next("TRIAL "), next("PLACE "));
    while !place.join("work/begun").exists() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let mut world = World::new().await;
    world.trial.0 = trial;
    let solved = world.solve(&[&Script::new(FIX)]).await.unwrap();
    assert_eq!(
        all_told(&solved),
        [
            ("first", true, Some(7), false, false, "failed"),
            ("second", true, None, true, false, "lost"),
            ("script", true, Some(0), false, false, "pending"),
        ]
    );
    assert!(solved.attempts[1].survivors_killed >= 2, "{solved:?}");
    assert_eq!(solved.taken, Some(2));
    let left = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        cwd.starts_with(&place)
    });
    assert_eq!(left.count(), 0);
    fs::remove_dir_all(place).unwrap();
}
