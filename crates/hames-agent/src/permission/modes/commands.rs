//! What a command line touches, as far as its words tell.
//!
//! It sees words, not effects: a script's own files are the sandbox's business.

use super::{Places, Policy, sensitive};
use crate::permission::rules::{Line, Redirect, Ruled, Script, Simple, Word, base_name, split};

pub enum Touched {
    /// By a redirection, or by a program that writes what it is given.
    Written(String),
    Named(String),
}

/// Programs that change the files they are given.
const WRITERS: &[&str] = &[
    "chmod", "chown", "dd", "mv", "patch", "rm", "tee", "touch", "truncate", "unlink",
];

/// They make new empty files and folders, or remove empty ones.
const MAKERS: &[&str] = &["mkdir", "rmdir", "touch"];

/// Beside a command that a rule allows they need none of their own.
const HARMLESS: &[&str] = &[
    ":", "[", "break", "continue", "echo", "exit", "false", "printf", "pwd", "read", "test", "true",
];

/// Every path that a word of the line may mean, whatever folder it has changed to.
pub fn touched(line: &str, places: &Places) -> Vec<Touched> {
    let script = split(line);
    let bases = bases(&script, places);
    let mut touched = Vec::new();
    for command in &script.commands {
        for (at, word) in command.words.iter().enumerate().skip(1) {
            let written = writes(command, at);
            let paths = paths(word, &bases, places).into_iter();
            touched.extend(paths.flat_map(|path| {
                let written = written.then(|| Touched::Written(path.clone()));
                written.into_iter().chain([Touched::Named(path)])
            }));
        }
    }
    for redirect in &script.redirects {
        for path in paths(&redirect.target, &bases, places) {
            touched.push(if redirect.writes {
                Touched::Written(path)
            } else {
                Touched::Named(path)
            });
        }
    }
    touched
}

/// Whether the command would change what its word at this place names.
fn writes(command: &Simple, at: usize) -> bool {
    let any = |starts: &[&str]| {
        let mut words = command.words.iter();
        words.any(|word| starts.iter().any(|start| word.text.starts_with(start)))
    };
    let name = base_name(command.name());
    let is_last = at + 1 == command.words.len();
    match name {
        "sed" => any(&["-i", "--in-place"]),
        "cp" | "install" | "ln" | "rsync" => is_last || any(&["-t", "--target"]),
        name => WRITERS.contains(&name),
    }
}

/// The workspace, and the folders that a `cd` of the line goes to.
fn bases(script: &Script, places: &Places) -> Vec<String> {
    let mut bases = vec![places.workspace.clone()];
    for command in &script.commands {
        let target = command.words.get(1).filter(|_| is_cd(command));
        let here = bases.clone();
        bases.extend(
            target
                .into_iter()
                .flat_map(|word| paths(word, &here, places)),
        );
        bases.truncate(16);
    }
    bases
}

fn is_cd(command: &Simple) -> bool {
    matches!(command.name(), "cd" | "pushd")
}

/// The word as a path from each base; what follows a `=` or `@` in it as well.
fn paths(word: &Word, bases: &[String], places: &Places) -> Vec<String> {
    let text = word.text.as_str();
    let value = text.split_once('=').map(|(_, value)| value);
    let texts = [Some(text), value, text.strip_prefix('@')];
    let mut paths = Vec::new();
    for text in texts.into_iter().flatten().filter(|text| !text.is_empty()) {
        let home = places.home.as_deref();
        let home = home.zip(text.strip_prefix("~/").or(text.strip_prefix("$HOME/")));
        let home = home.or(text
            .strip_prefix("${HOME}/")
            .and_then(|rest| Some((places.home.as_deref()?, rest))));
        match home {
            Some((home, rest)) => paths.push(normal(&format!("{home}/{rest}"))),
            None if text.starts_with('/') => paths.push(normal(text)),
            None => paths.extend(bases.iter().map(|base| normal(&format!("{base}/{text}")))),
        }
    }
    paths
}

/// Without `.` and `..`, as the text has it.
fn normal(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// What the rules say of a line: its commands, and the files that its words name.
pub fn ruled(policy: &Policy, tool: &str, line: &str) -> Ruled {
    let (rules, places) = (&policy.rules, &policy.places);
    let script = split(line);
    let files = touched(line, places)
        .into_iter()
        .map(|touched| match touched {
            Touched::Written(path) => rules.on_write(tool, &path),
            Touched::Named(path) => rules.on_read(&path),
        });
    let barred = files.filter(|ruled| matches!(ruled, Ruled::Denied { .. } | Ruled::Asked { .. }));
    let moves = script.commands.iter().any(is_cd);
    let relative = script
        .commands
        .iter()
        .any(|command| command.name().contains('/'));
    let harmless = |command: &Simple| {
        let goes_inside = || {
            let target = command.words.get(1).filter(|word| word.literal);
            let bases = [places.workspace.clone()];
            let inside = |path: &String| places.contain(path);
            is_cd(command)
                && command.words.len() == 2
                && !relative
                && target.is_some_and(|word| paths(word, &bases, places).iter().all(inside))
        };
        HARMLESS.contains(&command.name()) || goes_inside()
    };
    let may_write = |redirect: &Redirect| may_write(policy, redirect, moves);
    let line = Line {
        text: line,
        script: &script,
        harmless: &harmless,
        may_write: &may_write,
    };
    barred.fold(rules.on_command(tool, &line), Ruled::and)
}

fn may_write(policy: &Policy, redirect: &Redirect, moves: bool) -> bool {
    let target = redirect.target.text.as_str();
    if matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr") {
        return true;
    }
    let relative = !target.starts_with(['/', '~']);
    if !redirect.target.literal || relative && moves {
        return false;
    }
    let bases = [policy.places.workspace.clone()];
    let judged = |path: &String| {
        let by_mode = match policy.mode {
            super::Mode::FullAuto => true,
            super::Mode::AcceptEdits => policy.places.contain(path),
            super::Mode::Default | super::Mode::Plan => false,
        };
        by_mode || policy.rules.on_write("edit", path) == Ruled::Allowed
    };
    paths(&redirect.target, &bases, &policy.places)
        .first()
        .is_some_and(judged)
}

/// For `accept-edits`: makes nothing but empty files and folders of the workspace.
pub fn only_makes_files(line: &str, places: &Places) -> bool {
    let script = split(line);
    let bases = [places.workspace.clone()];
    let inside = |word: &Word| {
        let plain = word.literal && !word.text.starts_with('-');
        let option = word.literal && word.text == "-p";
        option
            || plain
                && paths(word, &bases, places).iter().all(|path| {
                    places.contain(path) && sensitive::never_written(path, places).is_none()
                })
    };
    script.doubt.is_none()
        && script.redirects.is_empty()
        && !script.commands.is_empty()
        && script.commands.iter().all(|command| {
            MAKERS.contains(&command.name()) && command.words.iter().skip(1).all(inside)
        })
}
