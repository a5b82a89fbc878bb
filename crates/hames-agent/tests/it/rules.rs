//! Rules and modes: what is allowed, asked and denied, and that nothing slips through a shell line.

use std::{path::Path, process::Command, sync::Arc};

use hames_agent::permission::{
    LookOnly, PermissionPolicy, Verdict,
    modes::{Mode, Places, Policy},
    rules::{Anchors, Reading, Rule, Rules, split, split_list, suggest},
};
use hames_testkit::{Rig, Script, asks, says};
use hames_types::{Access, DecidedBy, Entry, ToolCall, WorkPath};

use crate::went;

const WORKSPACE: &str = "/ws";
const HOME: &str = "/home/u";

fn anchors() -> Anchors<'static> {
    Anchors {
        root: WORKSPACE,
        home: Some(HOME),
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    let alias = |name: &str| (name == "run_terminal_cmd").then(|| "bash".to_owned());
    let reading = Reading {
        alias: &alias,
        anchors: anchors(),
    };
    Rule::parse(text, reading).map_err(|error| error.to_string())
}

fn list(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| rule(text).unwrap()).collect()
}

fn policy(mode: Mode, allow: &[&str], ask: &[&str], deny: &[&str]) -> Policy {
    Policy {
        mode,
        rules: Rules {
            allow: list(allow),
            ask: list(ask),
            deny: list(deny),
        },
        places: Places {
            workspace: WORKSPACE.to_owned(),
            added: vec!["/added".to_owned()],
            home: Some(HOME.to_owned()),
            own: vec!["/home/u/.local/state/hames".to_owned()],
        },
    }
}

fn call(name: &str) -> ToolCall {
    ToolCall {
        id: "a".into(),
        name: name.to_owned(),
        input: "{}".into(),
    }
}

/// `allow`, `ask` (each time, too) or `deny`.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask { .. } | Verdict::AskEachTime { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

fn bash(policy: &Policy, line: &str) -> &'static str {
    word(&policy.check(&call("bash"), &Access::command(line)))
}

fn touches(policy: &Policy, tool: &str, access: &Access) -> &'static str {
    word(&policy.check(&call(tool), access))
}

#[test]
fn rules_that_cannot_be_read_quote_themselves_and_say_why() {
    let table = [
        ("", "a tool's name comes first, as in Bash(git status)"),
        ("(x)", "a tool's name comes first, as in Bash(git status)"),
        ("Bash(git", "it has to end with `)`"),
        ("Bash(git) x", "it has to end with `)`"),
        (
            "Bash()",
            "the brackets are empty; for every call write Bash",
        ),
        ("git status", "a tool's name cannot hold ' '"),
        ("Read([a)", "[ has no ]: write \\[ for the character itself"),
        ("Read({a)", "{ has no }: write \\{ for the character itself"),
        (
            "Edit(../x)",
            "`..` leads out of what the rule is about: write the path it means",
        ),
    ];
    for (text, why) in table {
        let expected = format!("the permission rule {text:?} cannot be read: {why}");
        assert_eq!(rule(text).unwrap_err(), expected);
    }
    let homeless = Reading {
        alias: &|_| None,
        anchors: Anchors {
            root: WORKSPACE,
            home: None,
        },
    };
    let error = Rule::parse("Read(~/x)", homeless).unwrap_err().to_string();
    assert!(error.contains("a home that is not known"), "{error}");
}

#[test]
fn a_list_is_split_outside_brackets() {
    let text = "Bash(git log *, x), Read Edit(/a b/**),,Bash(echo \\()";
    let rules = [
        "Bash(git log *, x)",
        "Read",
        "Edit(/a b/**)",
        "Bash(echo \\()",
    ];
    assert_eq!(split_list(text), rules);
}

#[test]
fn commands_are_matched_by_pattern() {
    let table = [
        ("Bash(npm run *)", "npm run build --x", "allow"),
        ("Bash(npm run *)", "npm run", "allow"),
        ("Bash(npm run *)", "npm runx", "ask"),
        ("Bash(npm run *)", "npm install", "ask"),
        ("Bash(npm run:*)", "npm run build", "allow"),
        ("Bash(git status)", "git status", "allow"),
        ("Bash(git status)", "  git   'status' ", "allow"),
        ("Bash(git status)", "git status -s", "ask"),
        ("Bash(git * main)", "git push origin main", "allow"),
        ("Bash(git * main)", "git push origin dev", "ask"),
        ("Bash(*)", "anything", "allow"),
        ("Bash", "anything; at all", "allow"),
        ("bash", "anything", "allow"),
        ("run_terminal_cmd(make *)", "make all", "allow"),
        ("Bash(npm *)", "./npm test", "ask"),
        ("Bash(echo \\*)", "echo '*'", "allow"),
        ("Bash(echo \\*)", "echo x", "ask"),
        ("Read", "ls", "ask"),
    ];
    for (rule, line, expected) in table {
        let policy = policy(Mode::Default, &[rule], &[], &[]);
        assert_eq!(bash(&policy, line), expected, "{rule} on {line}");
    }
}

#[test]
fn fault_i01_every_command_of_a_line_has_to_be_allowed() {
    let allow = ["Bash(npm test *)", "Bash(git log *)", "Bash(cat *)"];
    let policy = policy(Mode::Default, &allow, &[], &[]);
    let allowed = [
        "npm test && git log -3",
        "npm test || git log; cat x & git log | cat",
        "npm test |& cat\ngit log",
        "cd sub && npm test",
        "npm test 2>&1 | cat > /dev/null",
        "(npm test; git log) 2>/dev/null",
        "{ npm test; git log; }",
        "if npm test; then git log; else cat x; fi",
        "for f in a b; do cat $f; done",
        "cat \"$(git log)\" `npm test` # and no more",
        "cat <<'EOF' | cat\nrm -rf / ; $(evil)\nEOF\nnpm test",
        "timeout -k 1 5 npm test",
        "RUST_LOG=debug nice -n 5 npm test",
        "bash -lc 'npm test && git log'",
        "git log | xargs -n 1 cat",
        "time -p npm test",
        "cat < input",
        "echo done; npm test",
    ];
    for line in allowed {
        assert_eq!(bash(&policy, line), "allow", "{line}");
    }
    let asked = [
        "npm test && rm x",
        "npm test; rm x",
        "npm test & rm x",
        "npm test | sh",
        "npm test |& rm x",
        "npm test\nrm x",
        "npm test $(rm x)",
        "npm test \"`rm x`\"",
        "npm test <(rm x)",
        "cat >(rm x)",
        "(npm test; rm x)",
        "{ npm test; rm x; }",
        "if rm x; then npm test; fi",
        "while npm test; do rm x; done",
        "for f in $(rm x); do cat $f; done",
        "cat > out.txt",
        "cat >> ~/.profile2",
        "cat &> out.txt",
        "npm test 'a\nb' ; rm",
        "PATH=.:$PATH npm test",
        "LD_PRELOAD=./evil.so npm test",
        "for PATH in evil; do npm test; done",
        "sudo npm test",
        "env -S 'rm x' npm test",
        "bash -c \"$X\"",
        "$X",
        "n{p,}m test",
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<EOF\n`rm x`\nEOF",
        "cat <<EOF\nEO\\\nF\nEOF",
        "cat <<EOF\nno end",
        "npm test 'open",
        "npm test \\",
        "npm test $'a\\'b' ; cat x",
        "npm test ${x:-$(rm x)}",
        "npm test $((1))",
        "case x in *) npm test;; esac",
        "cat() { rm x; }; cat y",
        "alias cat=rm; cat y",
        "trap 'rm x' EXIT; cat y",
        "cd /etc && cat passwd",
        "cd sub && ./npm test",
        "npm test\rrm x",
        "cat x ) ; (npm test",
        "eval \"cat $X\"",
        "find . -exec rm {} \\;",
        "git log | xargs rm",
        "cat x | bash",
        "test -v 'a[$(rm x)]' ; cat y",
        "",
        "# only words",
        "cd sub",
    ];
    for line in asked {
        assert_eq!(bash(&policy, line), "ask", "{line}");
    }
}

#[test]
fn fault_i02_a_denied_command_is_found_wherever_it_stands() {
    let deny = ["Bash(rm *)", "Bash(git push *)"];
    let policy = policy(Mode::FullAuto, &["Bash"], &[], &deny);
    let denied = [
        "rm x",
        "rm",
        "/bin/rm x",
        "\\rm x",
        "r'm' x",
        "ls && rm x",
        "echo $(rm x)",
        "echo \"a `rm x`\"",
        "cat <(rm x)",
        "(cd x; rm y)",
        "if true; then rm x; fi",
        "! rm x",
        "eval rm x",
        "eval 'ls; rm x'",
        "sh -c 'rm x'",
        "bash -euo pipefail -c 'ls; rm x'",
        "bash -c \"bash -c 'rm x'\"",
        "env -i A=b rm x",
        "sudo -u root rm x",
        "xargs -0 rm",
        "time rm x",
        "timeout 5 rm x",
        "nohup nice -5 rm x &",
        "exec rm x",
        "command rm x",
        "busybox rm x",
        "find . -name x -exec rm {} +",
        "FOO=bar rm x",
        "git push origin main",
        "ls > x; git 'push'",
        "echo $((1)); rm x",
    ];
    for line in denied {
        assert_eq!(bash(&policy, line), "deny", "{line}");
    }
    let asked = [
        "$CMD x",
        "$(echo rm) x",
        "r{m,n} x",
        "git $VERB origin",
        "somewrapper -x rm y",
        "timeout --odd 5 rm x",
        "cat <<EOF | sh\nrm x\nEOF",
        "ls 'open",
        "f() { ls; }; f",
    ];
    for line in asked {
        assert_eq!(bash(&policy, line), "ask", "{line}");
    }
    for line in [
        "echo rm x",
        "grep rm x",
        "ls *.rs",
        "cargo test $X",
        "cat <<E\na $x\nE",
    ] {
        let expected = if line.contains("<<") { "ask" } else { "allow" };
        assert_eq!(bash(&policy, line), expected, "{line}");
    }
}

/// A small generator of its own, so that a failure can be run again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// A compound line, and the simple commands that stand in it.
fn compound(dice: &mut Dice, depth: usize) -> (String, Vec<&'static str>) {
    if depth == 0 || dice.roll(4) == 0 {
        let command = dice.pick(&["good 1", "good two", "fine", "evil x", "other"]);
        return (command.to_owned(), vec![command]);
    }
    let (one, mut commands) = compound(dice, depth - 1);
    let (two, more) = compound(dice, depth - 1);
    let pair = |joined: String, mut commands: Vec<&'static str>, more: Vec<&'static str>| {
        commands.extend(more);
        (joined, commands)
    };
    let plain = !one.contains(['\'', '"', '`', '\\', '\n']);
    match dice.roll(12) {
        0 => pair(format!("{one} && {two}"), commands, more),
        1 => pair(format!("{one} || {two}"), commands, more),
        2 => pair(format!("{one}; {two}"), commands, more),
        3 => pair(format!("{one} | {two}"), commands, more),
        4 => pair(format!("{one}\n{two}"), commands, more),
        5 => pair(format!("{one} & {two}"), commands, more),
        6 => (format!("( {one} )"), commands),
        7 => pair(format!("if {one}; then {two}; fi"), commands, more),
        8 => {
            commands.push("good $x");
            (format!("good \"$( {one}\n)\""), commands)
        }
        9 if plain => (format!("sh -c '{one}'"), commands),
        10 if plain => {
            commands.push("good $x");
            (format!("good `{one}`"), commands)
        }
        _ => (format!("{{ {one}; }}"), commands),
    }
}

#[test]
fn fault_i03_generated_compounds_are_judged_like_their_commands() {
    let allow = ["Bash(good *)", "Bash(fine)"];
    let policy = policy(Mode::Default, &allow, &[], &["Bash(evil *)"]);
    let (mut dice, mut seen) = (Dice(7), [0, 0, 0]);
    for _ in 0..3_000 {
        let (line, commands) = compound(&mut dice, 3);
        let (expected, kind) = if commands.iter().any(|one| one.starts_with("evil")) {
            ("deny", 0)
        } else if commands.contains(&"other") {
            ("ask", 1)
        } else {
            ("allow", 2)
        };
        seen[kind] += 1;
        assert_eq!(bash(&policy, &line), expected, "{line}");
    }
    assert!(seen.iter().all(|count| *count > 200), "{seen:?}");
}

/// What is allowed is given to a real shell, in which `evil` leaves a mark.
#[test]
fn fault_i01_no_line_that_is_allowed_runs_what_is_not() {
    let Some(shell) = ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| Path::new(path).exists())
    else {
        println!("skipped: there is no bash here");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("allowed-lines");
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in ["good", "evil", "sh", "env", "xargs"] {
        let _ = std::fs::remove_file(bin.join(name));
    }
    let mark = folder.join("mark");
    script(&bin.join("good"), "");
    script(
        &bin.join("evil"),
        &format!("echo \"$@\" >> '{}'", mark.display()),
    );
    let policy = policy(Mode::Default, &["Bash(good *)"], &[], &[]);
    let pieces = [
        "good",
        "evil",
        "good x",
        "evil x",
        " ",
        " ",
        " ",
        ";",
        "&&",
        "|",
        "&",
        "\n",
        "$(",
        ")",
        "(",
        "`",
        "'",
        "\"",
        "\\",
        "{",
        "}",
        "<",
        ">",
        "<<E",
        "\nE\n",
        "E",
        "#",
        "!",
        "eval ",
        "if ",
        "; then ",
        "; fi",
        "$x",
        "${x",
        "}",
        "x=",
        "[",
        "]",
        "[[",
        "case",
        " in ",
        "bash -c ",
        "command ",
        "<(",
        "$'",
        "time ",
        "exec ",
        "for x in ",
        "; do ",
        "; done",
        "-",
        "2",
        "=",
        "\t",
        "\r",
        "<<<",
        "<<-'E'",
        "*",
    ];
    let rounds = option_env!("HAMES_FUZZ_ROUNDS").map_or(60_000, |n| n.parse().unwrap());
    let (mut dice, mut ran) = (Dice(11), 0);
    for _ in 0..rounds {
        let length = 1 + dice.roll(8);
        let rest: String = (0..length).map(|_| dice.pick(&pieces)).collect();
        let line = format!(
            "{}{rest}",
            dice.pick(&["", "good ", "good '", "good \"", "good <<E\n"])
        );
        if !line.contains("evil") || bash(&policy, &line) != "allow" {
            continue;
        }
        let status = Command::new(shell)
            .args(["-c", &line])
            .env_clear()
            .env("PATH", &bin)
            .current_dir(&folder)
            .stdin(std::process::Stdio::null())
            .output();
        ran += 1;
        assert!(status.is_ok());
        assert!(!mark.exists(), "this ran evil: {line:?}");
    }
    assert!(ran > 200, "only {ran} lines were tried");
}

fn script(path: &Path, body: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn paths_are_matched_as_in_a_gitignore() {
    let table = [
        ("Edit(/src/**)", "/ws/src/a/b.rs", "allow"),
        ("Edit(/src/**)", "/ws/srcs/a.rs", "ask"),
        ("Edit(/src/*)", "/ws/src/a.rs", "allow"),
        ("Edit(/src/*)", "/ws/src/a/b.rs", "ask"),
        ("Edit(src/**/*.rs)", "/ws/src/b.rs", "allow"),
        ("Edit(src/**/*.rs)", "/ws/src/a/b/c.rs", "allow"),
        ("Edit(src/**/*.rs)", "/ws/src/a/b/c.py", "ask"),
        ("Edit(*.md)", "/ws/docs/a.md", "allow"),
        ("Edit(./*.md)", "/ws/docs/a.md", "ask"),
        ("Edit(//etc/hosts)", "/etc/hosts", "allow"),
        ("Edit(/etc/hosts)", "/etc/hosts", "ask"),
        ("Edit(~/notes/**)", "/home/u/notes/x", "allow"),
        ("Edit(/a[0-9]?.{rs,md})", "/ws/a1x.md", "allow"),
        ("Edit(/a[!0-9].rs)", "/ws/a1.rs", "ask"),
        ("Edit(/a\\[1\\])", "/ws/a[1]", "allow"),
        ("Edit(/src/**)", "/ws/src/../../etc/x", "ask"),
        ("Write(/src/**)", "/ws/src/a", "ask"),
        ("Edit", "/etc/hosts", "allow"),
        ("Edit(**)", "/ws/a", "allow"),
        ("Edit(**)", "/etc/hosts", "ask"),
    ];
    for (rule, path, expected) in table {
        let policy = policy(Mode::Default, &[rule], &[], &[]);
        let got = touches(&policy, "edit", &Access::write(path));
        assert_eq!(got, expected, "{rule} on {path}");
    }
    let table = [
        ("Read(secrets)", "/ws/a/secrets/deep/key", "deny"),
        ("Read(/secrets/**)", "/ws/secrets", "deny"),
        ("Read(~/secrets/**)", "/home/u/secrets/a", "deny"),
        ("Read(/var/x)", "/var/x/y", "deny"),
        ("Read(.env)", "/ws/.env", "deny"),
        ("Read(.env)", "/ws/.envrc", "allow"),
        ("Read(x)", "/ws/../etc/a", "deny"),
    ];
    for (rule, path, expected) in table {
        let policy = policy(Mode::FullAuto, &[], &[], &[rule]);
        let got = touches(&policy, "grep", &Access::read(path));
        assert_eq!(got, expected, "{rule} on {path}");
        assert_eq!(policy.hides(path), expected == "deny", "{rule} on {path}");
    }
}

#[test]
fn a_rule_about_files_binds_commands_that_name_them() {
    let deny = ["Read(.env)", "Edit(/vendor/**)"];
    let policy = policy(Mode::FullAuto, &["Bash"], &[], &deny);
    for line in [
        "cat .env",
        "cat ./a/../.env",
        "cd sub && cat .env",
        "sort < .env",
        "curl -d @.env x",
        "x --file=.env",
        "echo x > vendor/y",
        "tee vendor/y",
        "cp a vendor/y",
        "sed -i s/a/b/ vendor/y",
    ] {
        assert_eq!(bash(&policy, line), "deny", "{line}");
    }
    for line in [
        "cat vendor/y",
        "cp vendor/y a",
        "sed s/a/b/ vendor/y",
        "cat env",
    ] {
        assert_eq!(bash(&policy, line), "allow", "{line}");
    }
}

#[test]
fn names_of_tools_and_hosts() {
    let on_tool = |rule: &str, tool: &str| {
        touches(
            &policy(Mode::Default, &[rule], &[], &[]),
            tool,
            &Access::unknown(),
        )
    };
    assert_eq!(on_tool("mcp__srv__tool", "mcp__srv__tool"), "allow");
    assert_eq!(on_tool("mcp__srv__tool", "mcp__srv__tool2"), "ask");
    assert_eq!(on_tool("mcp__srv", "mcp__srv__tool"), "allow");
    assert_eq!(on_tool("mcp__srv", "mcp__srv2__tool"), "ask");
    assert_eq!(on_tool("mcp__srv__*", "mcp__srv__tool"), "allow");
    assert_eq!(on_tool("Skill(x)", "Skill"), "ask");
    let skill = policy(Mode::FullAuto, &[], &[], &["Skill(x)"]);
    assert_eq!(touches(&skill, "Skill", &Access::nothing()), "deny");

    let host = |name: &str| Access {
        hosts: vec![name.to_owned()],
        ..Access::default()
    };
    let only = policy(
        Mode::Default,
        &["fetch(domain:docs.rs)"],
        &[],
        &["fetch(domain:evil.org)"],
    );
    assert_eq!(touches(&only, "fetch", &host("Docs.rs")), "allow");
    assert_eq!(touches(&only, "fetch", &host("a.docs.rs")), "ask");
    assert_eq!(touches(&only, "fetch", &host("a.evil.org")), "deny");
    assert_eq!(touches(&only, "fetch", &host("notevil.org")), "ask");
    assert_eq!(touches(&only, "other", &host("docs.rs")), "ask");
}

#[test]
fn deny_beats_ask_beats_allow() {
    let lists = |allow: bool, ask: bool, deny: bool| {
        let list = |there: bool| if there { vec!["Bash(make *)"] } else { vec![] };
        policy(Mode::Default, &list(allow), &list(ask), &list(deny))
    };
    for bits in 0..8 {
        let (allow, ask, deny) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
        let verdict = lists(allow, ask, deny).check(&call("bash"), &Access::command("make all"));
        let expected = match (deny, ask, allow) {
            (true, _, _) => "deny",
            (false, true, _) => "ask",
            (false, false, true) => "allow",
            (false, false, false) => "ask",
        };
        assert_eq!(word(&verdict), expected);
        let each_time = matches!(verdict, Verdict::AskEachTime { .. });
        assert_eq!(each_time, ask && !deny, "only a rule insists on a person");
    }
    let whole = policy(Mode::FullAuto, &["Bash(make *)"], &["Edit"], &["Bash"]);
    assert_eq!(bash(&whole, "make"), "deny");
    assert_eq!(touches(&whole, "edit", &Access::write("/ws/a")), "ask");
    let but = policy(
        Mode::Default,
        &["Bash"],
        &["Bash(git push *)"],
        &["Bash(rm *)"],
    );
    assert_eq!(bash(&but, "ls"), "allow");
    assert_eq!(bash(&but, "ls; git push"), "ask");
    assert_eq!(bash(&but, "git push; rm x"), "deny");
}

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

#[test]
fn a_line_nested_too_deep_is_doubted_and_ends() {
    let line = format!("{}x{}", "$(".repeat(5_000), ")".repeat(5_000));
    assert!(split(&line).doubt.is_some());
    assert!(split(&"(".repeat(50_000)).doubt.is_some());
    assert!(split(&"eval ".repeat(3_000)).doubt.is_some());
}
