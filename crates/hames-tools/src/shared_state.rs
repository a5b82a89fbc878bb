//! Which commands change what all share: a repository's index, installed packages, services.
//!
//! It decides who waits for whom, never who may run: an unknown command runs beside others.

use crate::shell_words::simple_commands;

/// A program, and those of its subcommands that change shared state.
type Row = (&'static str, Subcommands);

enum Subcommands {
    All,
    These(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}
use Subcommands::{All, AllBut, These};

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // Repositories.
    ("git", AllBut(&["annotate", "blame", "cat-file", "check-ignore", "check-attr", "cherry", "count-objects", "describe",
        "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "format-patch", "fsck", "grep", "help", "log",
        "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog",
        "show", "show-ref", "status", "var", "verify-commit", "version", "whatchanged"])),
    ("hg", AllBut(&["annotate", "cat", "diff", "grep", "help", "log", "status", "summary"])),
    ("jj", AllBut(&["diff", "help", "log", "show", "status"])),
    ("svn", AllBut(&["blame", "cat", "diff", "help", "info", "list", "log", "status"])),
    ("gh", These(&["pr", "repo", "issue", "release", "workflow", "run"])),
    // Packages of the system.
    ("apt", AllBut(&["list", "search", "show", "policy"])),
    ("apt-get", All), ("aptitude", All), ("dpkg", All), ("snap", All), ("flatpak", All),
    ("dnf", All), ("yum", All), ("rpm", All), ("zypper", All), ("apk", All), ("pacman", All), ("emerge", All),
    ("brew", AllBut(&["list", "info", "search"])), ("port", All), ("nix-env", All), ("winget", All), ("choco", All), ("scoop", All),
    // Packages of a language.
    ("pip", AllBut(&["list", "show", "freeze", "check", "help"])),
    ("pip3", AllBut(&["list", "show", "freeze", "check", "help"])),
    ("pipx", AllBut(&["list", "run"])), ("poetry", AllBut(&["run", "show", "check"])), ("pdm", AllBut(&["run", "list"])),
    ("uv", AllBut(&["run", "tree", "version"])), ("conda", AllBut(&["list", "info", "run", "search"])), ("mamba", AllBut(&["list", "info", "run"])),
    ("npm", AllBut(&["exec", "explain", "ls", "list", "outdated", "run", "run-script", "start", "test", "t", "view"])),
    ("pnpm", AllBut(&["exec", "list", "ls", "outdated", "run", "start", "test", "why"])),
    ("yarn", AllBut(&["exec", "info", "list", "run", "start", "test", "why"])),
    ("bun", AllBut(&["run", "test", "x"])),
    ("cargo", These(&["add", "fix", "install", "publish", "remove", "uninstall", "update", "vendor", "clean"])),
    ("rustup", AllBut(&["show", "which", "run", "doc"])),
    ("go", These(&["get", "install", "mod", "work", "generate", "clean"])),
    ("gem", AllBut(&["list", "search", "info"])), ("bundle", AllBut(&["exec", "show", "list"])),
    ("composer", AllBut(&["show", "validate", "run-script"])), ("mix", These(&["deps.get", "deps.update", "ecto.migrate", "ecto.reset"])),
    ("dotnet", These(&["add", "remove", "restore", "tool", "nuget"])),
    // Containers, services, infrastructure.
    ("docker", AllBut(&["diff", "history", "images", "info", "inspect", "logs", "port", "ps", "stats", "top", "version"])),
    ("podman", AllBut(&["diff", "history", "images", "info", "inspect", "logs", "port", "ps", "stats", "top", "version"])),
    ("docker-compose", AllBut(&["config", "images", "logs", "ps", "top", "version"])),
    ("kubectl", AllBut(&["describe", "diff", "explain", "get", "logs", "top", "version"])),
    ("helm", AllBut(&["get", "list", "show", "status", "template", "lint"])),
    ("terraform", AllBut(&["fmt", "output", "plan", "show", "validate", "version"])),
    ("systemctl", AllBut(&["cat", "is-active", "is-enabled", "list-units", "show", "status"])),
    ("service", All), ("launchctl", AllBut(&["list", "print"])), ("crontab", All),
    // The machine.
    ("mount", All), ("umount", All), ("useradd", All), ("usermod", All), ("userdel", All), ("groupadd", All), ("passwd", All),
    ("sysctl", All), ("iptables", All), ("nft", All), ("ip", All), ("modprobe", All), ("ldconfig", All), ("update-alternatives", All),
    ("reboot", All), ("shutdown", All), ("killall", All), ("pkill", All),
    // Databases' schemas.
    ("alembic", AllBut(&["current", "heads", "history"])), ("prisma", These(&["migrate", "db"])), ("createdb", All), ("dropdb", All),
];

/// Programs that run another, which is what counts; their options with a value of its own.
#[rustfmt::skip]
const WRAPPERS: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g", "-C", "-D", "-h", "-p", "-r", "-t"]), ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "-S"]), ("nice", &["-n"]), ("ionice", &["-c", "-n"]), ("nohup", &[]), ("setsid", &[]), ("time", &["-f", "-o"]),
    ("timeout", &["-k", "-s"]), ("stdbuf", &["-i", "-o", "-e"]), ("command", &[]), ("builtin", &[]), ("exec", &["-a"]), ("xargs", &["-I", "-n", "-P", "-d", "-L", "-a", "-s"]),
    ("flock", &["-w", "-E"]), ("strace", &["-e", "-o", "-p"]), ("if", &[]), ("then", &[]), ("else", &[]), ("elif", &[]), ("while", &[]), ("until", &[]),
    ("do", &[]), ("!", &[]), ("{", &[]), ("uvx", &[]), ("npx", &[]),
];

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Options before a subcommand that have a value of their own.
const OPTIONS_WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "-R",
    "-p",
    "--git-dir",
    "--work-tree",
    "--prefix",
    "--context",
    "--namespace",
    "-n",
    "-f",
    "-H",
];

/// True when the line holds a command that is known to change what all share.
pub fn changes_shared_state(line: &str) -> bool {
    changes(line, 0)
}

fn changes(line: &str, depth: usize) -> bool {
    let commands = simple_commands(line);
    // Too deep to look into is unknown, and the unknown runs beside others.
    depth < 8 && commands.iter().any(|words| command_changes(words, depth))
}

fn command_changes(words: &[String], depth: usize) -> bool {
    let words = unwrapped(words);
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let program = program.rsplit('/').next().unwrap_or_default();
    match program {
        "eval" => changes(&arguments.join(" "), depth + 1),
        shell if SHELLS.contains(&shell) => {
            script_of(arguments).is_some_and(|script| changes(script, depth + 1))
        }
        // `-exec git add {} +`
        "find" | "fd" => {
            let begins =
                |word: &String| matches!(word.as_str(), "-exec" | "-execdir" | "-x" | "-X");
            let command = arguments
                .iter()
                .position(begins)
                .map(|at| arguments.split_at(at + 1).1);
            command.is_some_and(|command| command_changes(command, depth + 1))
        }
        // `python -m pip install`
        python if python.starts_with("python") => {
            let module = arguments.iter().position(|word| word == "-m");
            module.is_some_and(|at| command_changes(arguments.split_at(at + 1).1, depth + 1))
        }
        _ => listed(program, arguments),
    }
}

fn listed(program: &str, arguments: &[String]) -> bool {
    let subcommand = subcommand(arguments);
    let row = TABLE.iter().find(|(name, _)| *name == program);
    row.is_some_and(|(_, subcommands)| match (subcommands, subcommand) {
        (All, _) => true,
        (These(these), Some(subcommand)) => these.contains(&subcommand),
        (AllBut(these), Some(subcommand)) => !these.contains(&subcommand),
        // `yarn` alone installs; any other alone prints its help.
        (These(_) | AllBut(_), None) => program == "yarn",
    })
}

fn subcommand(arguments: &[String]) -> Option<&str> {
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        if OPTIONS_WITH_VALUE.contains(&word.as_str()) {
            arguments.next();
        } else if !word.starts_with(['-', '+', '<', '>']) {
            return Some(word);
        }
    }
    None
}

/// What stands behind assignments, wrappers and their options.
fn unwrapped(mut words: &[String]) -> &[String] {
    while let Some((first, rest)) = words.split_first() {
        let program = first.rsplit('/').next().unwrap_or_default();
        if is_assignment(first) || first.starts_with(['<', '>']) {
            words = rest;
        } else if let Some((name, with_value)) = WRAPPERS.iter().find(|(name, _)| *name == program)
        {
            words = behind_options(rest, with_value);
            if matches!(*name, "timeout" | "flock") {
                words = words.split_first().map_or(words, |(_, rest)| rest);
            }
        } else {
            break;
        }
    }
    words
}

fn behind_options<'a>(mut words: &'a [String], with_value: &[&str]) -> &'a [String] {
    while let Some((first, rest)) = words.split_first() {
        if !first.starts_with('-') {
            break;
        }
        let skipped = usize::from(with_value.contains(&first.as_str()));
        words = rest.split_at(skipped.min(rest.len())).1;
    }
    words
}

fn is_assignment(word: &str) -> bool {
    let name = word
        .split_once('=')
        .map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(|name| {
        let fits = |char: char| char.is_ascii_alphanumeric() || char == '_';
        !name.is_empty()
            && name.chars().all(fits)
            && !name.starts_with(|char: char| char.is_ascii_digit())
    })
}

/// The text behind `-c`, also as in `-lc`.
fn script_of(arguments: &[String]) -> Option<&str> {
    let is_c =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let at = arguments.iter().position(is_c)?;
    arguments.get(at + 1).map(String::as_str)
}
