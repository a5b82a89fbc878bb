//! Programs that run the program named in their arguments, and how to find it there.
//!
//! An option that is not in the table makes the line doubtful; it is never guessed over.

use super::shell::{Parser, Word};

struct Wrapper {
    name: &'static str,
    /// Short options without a value, by letter.
    flags: &'static str,
    /// Options whose value is attached, or the next word.
    valued: &'static [&'static str],
    /// Words of its own before the command.
    own_words: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// What it runs decides.
    Plain,
    /// It adds arguments that nobody can see in the line.
    AddsWords,
    /// It gives power: it has to be allowed as well as what it runs.
    GivesPower,
}

const fn plain(name: &'static str, flags: &'static str) -> Wrapper {
    Wrapper {
        name,
        flags,
        valued: &[],
        own_words: 0,
        kind: Kind::Plain,
    }
}

const WRAPPERS: &[Wrapper] = &[
    plain("time", "p"),
    plain("nohup", ""),
    plain("setsid", "fwc"),
    plain("builtin", ""),
    plain("command", "p"),
    plain("busybox", ""),
    plain("toybox", ""),
    Wrapper {
        valued: &["-a"],
        ..plain("exec", "cl")
    },
    Wrapper {
        valued: &["-n", "--adjustment"],
        ..plain("nice", "0123456789")
    },
    Wrapper {
        valued: &["-c", "-n"],
        ..plain("ionice", "t")
    },
    Wrapper {
        valued: &["-s", "-k", "--signal", "--kill-after"],
        own_words: 1,
        ..plain("timeout", "v")
    },
    Wrapper {
        valued: &["-i", "-o", "-e"],
        ..plain("stdbuf", "")
    },
    Wrapper {
        valued: &["-u", "--unset", "-C", "--chdir"],
        ..plain("env", "i0v")
    },
    Wrapper {
        valued: &[
            "-n",
            "-I",
            "-P",
            "-L",
            "-d",
            "-s",
            "-E",
            "--max-args",
            "--max-procs",
        ],
        kind: Kind::AddsWords,
        ..plain("xargs", "0rtpx")
    },
    Wrapper {
        valued: &["-u", "-g", "-h", "-p", "-C", "-D"],
        kind: Kind::GivesPower,
        ..plain("sudo", "nEHSkb")
    },
    Wrapper {
        valued: &["-u"],
        kind: Kind::GivesPower,
        ..plain("doas", "n")
    },
];

/// They change what later words mean, or run text that only they understand.
const DOUBTFUL: &[&str] = &[
    "alias", "unalias", "trap", "enable", "hash", "shopt", "set", "bind", "su", "runuser", "zsh",
    "ksh", "mksh", "fish", "csh", "tcsh", "parallel", "watch", "script",
];

/// Built-ins that evaluate an index in brackets, commands in it included.
const EVALUATE_INDEXES: &[&str] = &[
    "let",
    "declare",
    "typeset",
    "local",
    "readonly",
    "export",
    "unset",
    "read",
    "printf",
    "test",
    "[",
    "wait",
    "mapfile",
    "readarray",
];

/// Variables that may be set for a command without changing what runs.
const SAFE_VARIABLES: &[&str] = &[
    "CI",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "GOARCH",
    "GOOS",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// A name in lower case is the shell's own, not the environment's.
pub fn is_safe_variable(name: &str) -> bool {
    let own = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let local = !name.is_empty() && name.chars().all(own);
    SAFE_VARIABLES.contains(&name)
        || local && !name.contains("proxy") && !name.contains("path") && name != "status"
}

/// Emits a simple command, and those that it would run.
pub(super) fn take_off(parser: &mut Parser, mut words: Vec<Word>) {
    while let Some(name) = words.first().and_then(|word| assigned(&word.text)) {
        if !is_safe_variable(name) {
            parser.doubt("a variable that may change what runs");
        }
        words.remove(0);
    }
    let Some(first) = words.first() else { return };
    if !first.literal {
        parser.doubt("a command whose name is computed");
    }
    if first.text.is_empty() || first.text.contains(char::is_whitespace) {
        parser.doubt("a command with an unusual name");
    }
    let name = base_name(&first.text).to_owned();
    if DOUBTFUL.contains(&name.as_str()) {
        parser.doubt("a command that changes what others mean");
    }
    let indexed = |word: &Word| word.text.contains('[') && word.text != "[";
    if EVALUATE_INDEXES.contains(&name.as_str()) && words.iter().any(indexed) {
        parser.doubt("an index that may run commands");
    }
    match name.as_str() {
        "sh" | "bash" | "dash" | "ash" => shell(parser, words),
        "eval" => eval(parser, words),
        "find" | "fd" | "fdfind" => find(parser, words),
        _ => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => wrapped(parser, wrapper, words),
            None => parser.push(words, false),
        },
    }
}

pub fn base_name(command: &str) -> &str {
    command.rsplit('/').next().unwrap_or(command)
}

/// The name before `=`, if the word assigns.
fn assigned(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (starts && rest).then_some(name)
}

fn wrapped(parser: &mut Parser, wrapper: &Wrapper, words: Vec<Word>) {
    let Some(start) = command_start(wrapper, &words) else {
        parser.doubt("a wrapper with an unusual option");
        return parser.push(words, false);
    };
    let mut inner: Vec<Word> = words.get(start..).unwrap_or_default().to_vec();
    if inner.is_empty() || wrapper.name == "command" && looks_up(&words) {
        return parser.push(words, false);
    }
    if wrapper.kind == Kind::AddsWords {
        inner.push(unseen());
    }
    parser.push(words, wrapper.kind != Kind::GivesPower);
    take_off(parser, inner);
}

fn looks_up(words: &[Word]) -> bool {
    words
        .get(1)
        .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
}

/// Where the command begins behind a wrapper's options; `None` where an option is not known.
fn command_start(wrapper: &Wrapper, words: &[Word]) -> Option<usize> {
    if wrapper.name == "command" && looks_up(words) {
        return Some(words.len());
    }
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        if !word.literal {
            return None;
        }
        at += option_length(wrapper, text)?;
    }
    Some((at + wrapper.own_words).min(words.len()))
}

/// How many words an option takes.
fn option_length(wrapper: &Wrapper, text: &str) -> Option<usize> {
    if wrapper.valued.contains(&text) {
        return Some(2);
    }
    let attached = |option: &&str| match option.strip_prefix("--") {
        Some(_) => text
            .strip_prefix(*option)
            .is_some_and(|rest| rest.starts_with('=')),
        None => text.starts_with(*option),
    };
    if wrapper.valued.iter().any(attached) {
        return Some(1);
    }
    let letters = text.strip_prefix('-')?;
    letters
        .chars()
        .all(|c| wrapper.flags.contains(c))
        .then_some(1)
}

/// An argument that is not in the line.
fn unseen() -> Word {
    Word {
        text: "…".to_owned(),
        literal: false,
        bare: false,
    }
}

/// `sh -c TEXT` runs the text; without a script it runs what it is fed, which nobody can see.
fn shell(parser: &mut Parser, words: Vec<Word>) {
    let (mut at, mut has_text) = (1, false);
    while let Some(word) = words.get(at) {
        let Some(letters) = word.text.strip_prefix(['-', '+']) else {
            break;
        };
        match letters {
            "-norc" | "-noprofile" | "-posix" | "-login" => {}
            _ if letters.is_empty()
                || !letters.chars().all(|c| "abcefhlmnoptuvxBCEHPT".contains(c)) =>
            {
                parser.doubt("a shell with an unusual option");
                break;
            }
            _ => {
                has_text |= letters.contains('c');
                at += usize::from(letters.ends_with('o'));
            }
        }
        at += 1;
    }
    match words.get(at).cloned() {
        None => {
            parser.doubt("a shell that runs what it is fed");
            parser.push(words, false);
        }
        Some(_) if !has_text => parser.push(words, false),
        Some(text) => {
            parser.push(words, true);
            if text.literal {
                parser.nested(&text.text);
            } else {
                parser.doubt("a script that is computed");
            }
        }
    }
}

fn eval(parser: &mut Parser, words: Vec<Word>) {
    let text: Vec<&str> = words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    let text = text.join(" ");
    if !words.iter().all(|word| word.literal) {
        parser.doubt("a script that is computed");
    }
    parser.push(words, true);
    parser.nested(&text);
}

/// `find … -exec COMMAND … ;` and its kin; the search itself is a command too.
fn find(parser: &mut Parser, words: Vec<Word>) {
    let runs = [
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-x",
        "-X",
        "--exec",
        "--exec-batch",
    ];
    let mut inner: Option<Vec<Word>> = None;
    let mut found = Vec::new();
    for word in words.iter().skip(1) {
        match &mut inner {
            None if runs.contains(&word.text.as_str()) => inner = Some(Vec::new()),
            None => {}
            Some(_) if matches!(word.text.as_str(), ";" | "+") => found.extend(inner.take()),
            Some(command) => command.push(word.clone()),
        }
    }
    found.extend(inner);
    parser.push(words, false);
    for mut command in found {
        command.push(unseen());
        take_off(parser, command);
    }
}
