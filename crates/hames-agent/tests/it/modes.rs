//! Modes: what each allows by what a call touches, what stays closed, and what a refusal says.

use std::sync::Arc;

use hames_agent::permission::{
    LookOnly, PermissionPolicy, Verdict,
    modes::Mode,
    rules::{split_list, suggest},
};
use hames_testkit::{Rig, Script, asks, says};
use hames_types::{Access, DecidedBy, Entry, WorkPath};

use crate::{
    rules::{anchors, bash, call, policy, touches},
    went,
};

fn hosts() -> Access {
    Access {
        hosts: vec!["docs.rs".to_owned()],
        ..Access::default()
    }
}

#[test]
fn each_mode_by_what_a_call_touches() {
    let table: [(&str, Access, [&str; 4]); 11] = [
        ("todo", Access::nothing(), ["allow"; 4]),
        ("read", Access::read("/ws/a"), ["allow"; 4]),
        ("read", Access::read("/added/a"), ["allow"; 4]),
        (
            "read",
            Access::read("/etc/hosts"),
            ["ask", "ask", "ask", "allow"],
        ),
        (
            "read",
            Access::read("/wsx/a"),
            ["ask", "ask", "ask", "allow"],
        ),
        (
            "write",
            Access::write("/ws/a"),
            ["ask", "deny", "allow", "allow"],
        ),
        (
            "write",
            Access::write("/ws/../a"),
            ["ask", "deny", "ask", "allow"],
        ),
        (
            "write",
            Access::write("/tmp/a"),
            ["ask", "deny", "ask", "allow"],
        ),
        (
            "bash",
            Access::command("make"),
            ["ask", "deny", "ask", "allow"],
        ),
        ("fetch", hosts(), ["ask", "deny", "ask", "allow"]),
        (
            "mcp__a__b",
            Access::unknown(),
            ["ask", "deny", "ask", "allow"],
        ),
    ];
    for (tool, access, expected) in table {
        let got = Mode::ALL.map(|mode| touches(&policy(mode, &[], &[], &[]), tool, &access));
        assert_eq!(got, expected, "{tool} {access:?}");
    }
}

#[test]
fn accept_edits_makes_folders_and_no_more() {
    let policy = policy(Mode::AcceptEdits, &[], &[], &[]);
    for line in [
        "mkdir -p a/b",
        "touch a && mkdir /added/x",
        "rmdir '/ws/a b'",
    ] {
        assert_eq!(bash(&policy, line), "allow", "{line}");
    }
    for line in [
        "mkdir /tmp/x",
        "mkdir ../x",
        "mkdir $X",
        "mkdir a; rm b",
        "mkdir -m 777 a",
        "touch ~/x",
        "cp a b",
        "mkdir a > b",
    ] {
        assert_eq!(bash(&policy, line), "ask", "{line}");
    }
    assert_eq!(bash(&policy, "touch .git/hooks/pre-commit"), "deny");
}

#[test]
fn plan_mode_runs_a_command_that_a_rule_names_and_writes_nothing() {
    let allow = ["Bash(git log *)", "Edit(/src/**)", "mcp__a__b"];
    let plan = policy(Mode::Plan, &allow, &["Bash(make *)"], &[]);
    assert_eq!(bash(&plan, "git log -3"), "allow");
    assert_eq!(bash(&plan, "git log > x"), "deny");
    assert_eq!(bash(&plan, "make"), "deny");
    assert_eq!(touches(&plan, "edit", &Access::write("/ws/src/a")), "deny");
    assert_eq!(touches(&plan, "mcp__a__b", &Access::unknown()), "deny");
    let all = policy(Mode::Plan, &["Bash"], &[], &[]);
    assert_eq!(bash(&all, "git log"), "deny");
    let Verdict::Deny { reason } = all.check(&call("bash"), &Access::command("rm x")) else {
        panic!("it is denied");
    };
    assert_eq!(
        reason,
        "plan mode only looks, and this is running `rm x`: say what you would do instead"
    );
}

#[test]
fn oh03_built_in_places_stay_closed_in_every_mode_and_under_every_rule() {
    let open = policy(
        Mode::FullAuto,
        &["Read", "Edit", "Write", "Bash", "Read(//**)"],
        &[],
        &[],
    );
    let writes = [
        "/ws/.git/hooks/pre-commit",
        "/ws/sub/.GIT/Hooks/x",
        "/ws/.git/config",
        "/ws/.git/modules/a/hooks/x",
        "/ws/.hames/settings.json",
        "/ws/.claude/settings.local.json",
        "/home/u/.claude/settings.json",
        "/home/u/.ssh/authorized_keys",
        "/home/u/.bashrc",
        "/home/u/.config/fish/config.fish",
        "/home/u/.gitconfig",
        "/home/u/.aws/credentials",
        "/home/u/.local/state/hames/sessions/x.jsonl",
        "/etc/sudoers.d/x",
    ];
    for path in writes {
        assert_eq!(
            touches(&open, "write", &Access::write(path)),
            "deny",
            "{path}"
        );
        assert_eq!(bash(&open, &format!("echo x > {path}")), "deny", "{path}");
        assert_eq!(
            bash(&open, &format!("ls; sh -c 'tee {path}'")),
            "deny",
            "{path}"
        );
    }
    let reads = [
        "/home/u/.ssh/id_ed25519",
        "/home/u/.ssh/work",
        "/elsewhere/.ssh/id_rsa",
        "/home/u/.aws/credentials",
        "/home/u/.netrc",
        "/home/u/.gnupg/x",
    ];
    for path in reads {
        assert_eq!(
            touches(&open, "read", &Access::read(path)),
            "deny",
            "{path}"
        );
        let path = path.replace("/home/u", "~");
        assert_eq!(bash(&open, &format!("cat {path}")), "deny", "{path}");
    }
    assert_eq!(bash(&open, "cd ~/.ssh && cat id_rsa"), "deny");
    assert_eq!(bash(&open, "cat $HOME/.ssh/id_rsa ${HOME}/x"), "deny");
    for path in [
        "/ws/.git/HEAD",
        "/ws/.github/hooks/x",
        "/ws/.npmrc",
        "/ws/config",
    ] {
        assert_eq!(
            touches(&open, "write", &Access::write(path)),
            "allow",
            "{path}"
        );
    }
    for path in [
        "/home/u/.ssh/id_rsa.pub",
        "/home/u/.ssh/known_hosts",
        "/home/u/.bashrc",
    ] {
        assert_eq!(
            touches(&open, "read", &Access::read(path)),
            "allow",
            "{path}"
        );
    }
}

#[test]
fn a_question_names_the_rule_and_the_mode_that_would_spare_it() {
    let policy = policy(Mode::Default, &[], &["Bash(git push *)"], &[]);
    let reason = |tool: &str, access: Access| match policy.check(&call(tool), &access) {
        Verdict::Ask { reason } | Verdict::AskEachTime { reason } => reason,
        Verdict::Allow | Verdict::Deny { .. } => panic!("it asks"),
    };
    assert_eq!(
        reason("bash", Access::command("cargo test --workspace")),
        "running `cargo test --workspace` needs a yes; to allow it: --allowed-tools \
         'Bash(cargo test *)' or --permission-mode full-auto"
    );
    assert_eq!(
        reason("edit", Access::write("/ws/src/a.rs")),
        "writing /ws/src/a.rs needs a yes; to allow it: --allowed-tools 'Edit(/src/**)' or \
         --permission-mode accept-edits"
    );
    assert_eq!(
        reason("read", Access::read("/etc/hosts")),
        "reading /etc/hosts outside the workspace needs a yes; to allow it: --allowed-tools \
         'Read(//etc/hosts)' or --permission-mode full-auto"
    );
    assert_eq!(
        reason("bash", Access::command("git push")),
        "the rule Bash(git push *) asks first"
    );
}

#[test]
fn fault_i04_the_suggested_rules_allow_the_call_and_no_dangerous_kin() {
    let both = Access {
        reads: vec![WorkPath::new("/ws/a/b.rs"), WorkPath::new("/etc/hosts")],
        writes: vec![WorkPath::new("/ws/a/b.rs")],
        ..Access::default()
    };
    let table = [
        (
            "bash",
            Access::command("cargo test -p x"),
            "Bash(cargo test *)",
        ),
        (
            "bash",
            Access::command("npm run build --prod"),
            "Bash(npm run build *)",
        ),
        (
            "bash",
            Access::command("npm exec evil"),
            "Bash(npm exec evil)",
        ),
        (
            "bash",
            Access::command("cargo run -- x"),
            "Bash(cargo run -- x)",
        ),
        ("bash", Access::command("rm -rf *.o"), "Bash(rm -rf \\*.o)"),
        (
            "bash",
            Access::command("python3 x.py"),
            "Bash(python3 x.py)",
        ),
        (
            "bash",
            Access::command("git log | wc -l"),
            "Bash(git log *) Bash(wc -l)",
        ),
        (
            "bash",
            Access::command("echo $((1)) > it's"),
            "Bash(echo $\\(\\(1\\)\\) > it's)",
        ),
        (
            "bash",
            Access::command("timeout 5 make all"),
            "Bash(make all *)",
        ),
        ("write", Access::write("/ws/top"), "Edit(/top)"),
        ("edit", both, "Edit(/a/**) Read(//etc/hosts)"),
        ("fetch", hosts(), "fetch(domain:docs.rs)"),
        ("mcp__a__b", Access::unknown(), "mcp__a__b"),
    ];
    for (tool, access, expected) in table {
        let suggestion = suggest(&call(tool), &access, anchors());
        assert_eq!(suggestion.0.join(" "), expected);
        let rules: Vec<&str> = suggestion.0.iter().map(String::as_str).collect();
        let remembered = policy(Mode::Default, &rules, &[], &[]);
        assert_eq!(touches(&remembered, tool, &access), "allow", "{expected}");
        let flags = suggestion
            .flags()
            .replace("--allowed-tools ", "")
            .replace("'\\''", "\u{1}");
        let flags = flags.replace('\'', " ").replace('\u{1}', "'");
        assert_eq!(
            split_list(&flags),
            suggestion.0,
            "a flag gives the same rules"
        );
    }
}

#[test]
fn the_policy_is_pure_and_narrowing_never_widens() {
    let lines = ["make", "rm x", "git push", "ls; rm x"];
    let mut accesses: Vec<Access> = lines.iter().map(|line| Access::command(*line)).collect();
    accesses.extend([
        Access::write("/ws/a"),
        Access::read("/ws/a"),
        Access::unknown(),
        hosts(),
    ]);
    for mode in Mode::ALL {
        let policy = policy(
            mode,
            &["Bash(make *)"],
            &["Bash(git push *)"],
            &["Bash(rm *)"],
        );
        let narrow = LookOnly(Arc::new(policy.clone()));
        for access in &accesses {
            let verdict = policy.check(&call("bash"), access);
            assert_eq!(policy.check(&call("bash"), access), verdict);
            let under = narrow.check(&call("bash"), access);
            if under == Verdict::Allow {
                assert_eq!(verdict, Verdict::Allow, "{mode} {access:?}");
            }
        }
    }
}

#[test]
fn modes_have_the_names_that_people_type() {
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
        assert_eq!(mode.claude_name().parse(), Ok(mode));
    }
    let error = "yolo".parse::<Mode>().unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no permission mode \"yolo\": it is default, plan, accept-edits or full-auto"
    );
}

/// A rig under the real policy, whose acting toys write in the workspace.
fn rig(mode: Mode, deny: &[&str], turns: Arc<Script>) -> Rig {
    let mut rig = Rig::new(turns);
    let mut policy = policy(mode, &[], &[], deny);
    policy.places.workspace = "file".to_owned();
    rig.cx.policy = Arc::new(policy);
    rig
}

#[tokio::test(start_paused = true)]
async fn fault_h05_h06_req_l21_with_nobody_to_ask_nothing_runs_and_the_way_out_is_named() {
    let turns = vec![
        asks(&[("a", "run", "{}"), ("b", "act", "{}")]),
        says("done"),
    ];
    let rig = rig(Mode::Default, &[], Script::in_order(turns));
    let (session, _) = went(&rig).await;
    let text = hames_testkit::render(session.transcript());
    assert!(
        text.contains(
            "a Denied running `make` needs a yes; to allow it: --allowed-tools 'Bash(make)' or \
             --permission-mode full-auto; nobody can be asked here"
        ),
        "{text}"
    );
    assert_eq!(rig.world.calls(), [""; 0]);
    let records = hames_testkit::rig::records(&*rig.memory);
    let decided: Vec<DecidedBy> = records
        .iter()
        .filter_map(|record| match record.entry {
            Entry::PermissionDecided { by, allowed, .. } => {
                assert!(!allowed);
                Some(by)
            }
            _ => None,
        })
        .collect();
    assert_eq!(decided, [DecidedBy::Nobody, DecidedBy::Nobody]);
}

#[tokio::test(start_paused = true)]
async fn fault_i08_a_denial_holds_for_the_agents_that_an_agent_starts() {
    let turns = vec![
        asks(&[("a", "run", "{}")]),
        asks(&[("b", "delegate", "{}")]),
        asks(&[("c", "run", "{}")]),
        says("could not"),
        says("done"),
    ];
    let rig = rig(Mode::FullAuto, &["Bash(make *)"], Script::in_order(turns));
    let _ = went(&rig).await;
    assert_eq!(
        rig.world.calls(),
        ["b"],
        "neither the agent nor its child ran it"
    );
    let denied = rig.cx.child("x");
    let std::ops::ControlFlow::Continue(child) = denied else {
        panic!("a child opens");
    };
    let make = Access::command("make");
    assert_eq!(
        child.policy.check(&call("run"), &make),
        rig.cx.policy.check(&call("run"), &make)
    );
}
