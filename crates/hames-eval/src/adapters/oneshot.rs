//! `oneshot`: one call of a model, with no tools, and a diff read out of its answer.
//!
//! It sees the issue, the list of files, and the text of those that the issue names; never more.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use regex::Regex;

use super::{
    hames::{self, PASSES},
    launch,
};
use crate::{
    adapter::{About, Adapter, Choice, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
};

pub const NAME: &str = "oneshot";

pub struct Oneshot;

const SYSTEM: &str = "You fix issues in software projects. You have no tools and one answer. \
Answer with one unified diff against the files as they are shown, in one fenced block marked diff, with `a/` and \
`b/` paths from the project's root and three lines of context. Change no tests.";

/// Every tool that hames has, and whatever a server may add.
const DENIED: &str = "bash,read,write,edit,glob,grep,todo,fetch,task,mcp__*";

/// Bytes: a prompt that fits the windows of most models, with room for an answer.
const MOST_LIST: usize = 40_000;
const MOST_FILE: usize = 60_000;
const MOST_FILES: usize = 160_000;

impl Adapter for Oneshot {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["one-shot"]
    }

    fn passes(&self) -> &'static [&'static str] {
        &PASSES
    }

    fn about(&self) -> About {
        About {
            install: "part of hames",
            reads: "the session's journal; a diff in the answer, its hunks' counts mended",
            stops: "interrupts the run and writes its result; killed after 10 s",
            takes: &[
                Choice::Model,
                Choice::BaseUrl,
                Choice::MaxTurns,
                Choice::MaxCost,
                Choice::ExtraArgs,
            ],
        }
    }

    fn check(&self, host: &Host, _: &Options) -> Result<(), StageError> {
        hames::is_there(host)
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let mut first = options.clone();
        let model = options.model.split(',').next().unwrap_or_default().trim();
        model.clone_into(&mut first.model);
        let mut line = hames::start(self, place, host, &first);
        launch::add(&mut line, ["--max-turns", "1", "--system-prompt", SYSTEM]);
        launch::add(&mut line, ["--disallowed-tools", DENIED]);
        line.args.extend(options.extra_args.iter().cloned());
        launch::add(&mut line, ["-"]);
        line.stdin = Some(prompt(&task.problem_statement, &place.tree));
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        hames::retell(left).finish(left, &self.about())
    }
}

fn prompt(issue: &str, tree: &Path) -> String {
    let files = files_of(tree);
    let mut prompt = format!("# The issue\n\n{}\n\n# The files\n\n", issue.trim());
    let mut left_out = 0;
    for file in &files {
        if prompt.len() + file.len() > MOST_LIST + issue.len() {
            left_out += 1;
            continue;
        }
        prompt += file;
        prompt.push('\n');
    }
    if left_out > 0 {
        prompt += &format!("… and {left_out} more\n");
    }
    let mut room = MOST_FILES;
    for file in named(issue, &files) {
        let Ok(text) = fs::read_to_string(tree.join(file)) else {
            continue;
        };
        if text.len() > MOST_FILE.min(room) {
            prompt += &format!("\n# {file}\n\n(too long to be shown)\n");
            continue;
        }
        room -= text.len();
        prompt += &format!("\n# {file}\n\n````\n{text}````\n");
    }
    prompt
}

/// Paths from the root, sorted; no version control, no caches, no links.
fn files_of(tree: &Path) -> Vec<String> {
    let mut folders = vec![PathBuf::new()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(tree.join(&folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && name != ".git" && name != "__pycache__" => {
                    folders.push(path);
                }
                Ok(kind) if kind.is_file() => files.extend(path.to_str().map(str::to_owned)),
                Ok(_) | Err(_) => {}
            }
        }
    }
    files.sort();
    files
}

static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\w./-]*\w").ok());

/// The files that a text names: by path, by the end of one, or as a module (`package.module`).
fn named<'a>(text: &str, files: &'a [String]) -> Vec<&'a String> {
    let Some(words) = WORDS.as_ref() else {
        return Vec::new();
    };
    let mut found: Vec<&String> = Vec::new();
    for word in words.find_iter(text).map(|word| word.as_str()) {
        let word = word.trim_start_matches(['.', '/']);
        let module = word.replace('.', "/") + ".py";
        let names = |file: &&String| {
            let is = |path: &str| {
                path.contains('.')
                    && file
                        .strip_suffix(path)
                        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            is(word) || (word.contains('.') && is(&module)) || word.ends_with(&format!("/{file}"))
        };
        let named = files.iter().filter(names).take(3);
        let new: Vec<_> = named.filter(|file| !found.contains(file)).collect();
        found.extend(new);
    }
    found
}
