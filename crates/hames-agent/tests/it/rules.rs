//! Rules and modes: what is allowed, asked and denied, and that nothing slips through a shell line.

use std::{path::Path, process::Command};

use hames_agent::permission::{
    PermissionPolicy, Verdict,
    modes::{Mode, Places, Policy},
    rules::{Anchors, Reading, Rule, Rules, split, split_list},
};
use hames_types::{Access, ToolCall};

const WORKSPACE: &str = "/ws";
const HOME: &str = "/home/u";

pub fn anchors() -> Anchors<'static> {
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

pub fn list(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| rule(text).unwrap()).collect()
}

pub fn policy(mode: Mode, allow: &[&str], ask: &[&str], deny: &[&str]) -> Policy {
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

pub fn call(name: &str) -> ToolCall {
    ToolCall {
        id: "a".into(),
        name: name.to_owned(),
        input: "{}".into(),
    }
}

/// `allow`, `ask` (each time, too) or `deny`.
pub fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask { .. } | Verdict::AskEachTime { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

pub fn bash(policy: &Policy, line: &str) -> &'static str {
    word(&policy.check(&call("bash"), &Access::command(line)))
}

pub fn touches(policy: &Policy, tool: &str, access: &Access) -> &'static str {
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

/// What the lines for a real shell are made of.
#[cfg(unix)]
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "good", "evil", "good x", "evil x", " ", " ", " ", ";", "&&", "|", "&", "\n", "$(", ")",
    "(", "`", "'", "\"", "\\", "{", "}", "<", ">", "<<E", "\nE\n", "E", "#", "!", "eval ",
    "if ", "; then ", "; fi", "$x", "${x", "}", "x=", "[", "]", "[[", "case", " in ",
    "bash -c ", "command ", "<(", "$'", "time ", "exec ", "for x in ", "; do ", "; done", "-",
    "2", "=", "\t", "\r", "<<<", "<<-'E'", "*",
];

/// What is allowed is given to a real shell, in which `evil` leaves a mark.
#[cfg(unix)]
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
    // A run that failed has left it there.
    let mark = folder.join("mark");
    let _ = std::fs::remove_file(&mark);
    script(&bin.join("good"), "");
    script(
        &bin.join("evil"),
        &format!("echo \"$@\" >> '{}'", mark.display()),
    );
    let policy = policy(Mode::Default, &["Bash(good *)"], &[], &[]);
    let rounds = option_env!("HAMES_FUZZ_ROUNDS").map_or(60_000, |n| n.parse().unwrap());
    let (mut dice, mut ran) = (Dice(11), 0);
    for _ in 0..rounds {
        let length = 1 + dice.roll(8);
        let rest: String = (0..length).map(|_| dice.pick(PIECES)).collect();
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

#[cfg(unix)]
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

#[test]
fn a_line_nested_too_deep_is_doubted_and_ends() {
    let line = format!("{}x{}", "$(".repeat(5_000), ")".repeat(5_000));
    assert!(split(&line).doubt.is_some());
    assert!(split(&"(".repeat(50_000)).doubt.is_some());
    assert!(split(&"eval ".repeat(3_000)).doubt.is_some());
}
