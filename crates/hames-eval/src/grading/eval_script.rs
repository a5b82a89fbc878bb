//! The script that lays the tests over a tree and runs them, between the official marks.
//!
//! `{testbed}` and `{base}` in it are the back-end's to fill in; it runs nothing itself.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use super::{
    Version,
    log::{END, EXIT_CODE, START},
    parser_of,
};
use crate::{
    instance::{Instance, TestRun},
    log_parsers::{LogOf, by_repo},
    stage::StageError,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalScript {
    pub text: String,
    /// The name of the parser that its output is for.
    pub parser: String,
}

/// Version 5 writes down how the test command itself ended.
pub fn eval_script(instance: &Instance, version: Version) -> Result<EvalScript, StageError> {
    let text = match &instance.tests.run {
        TestRun::Script { text } => match version {
            Version::V4 => text.clone(),
            Version::V5 => with_exit_code(text),
        },
        TestRun::Command { command } => around(instance, command)?,
        TestRun::Official => around(instance, &official(instance)?)?,
        // Its own tests say how they went; nobody reads a log.
        TestRun::Reward { .. } => {
            let text = "bash {tests}/test.sh\n".to_owned();
            return Ok(EvalScript {
                text,
                parser: "reward".to_owned(),
            });
        }
    };
    let parser = parser_of(instance)?.name.to_owned();
    Ok(EvalScript { text, parser })
}

/// A dataset's own script ends with a command of its own, so the tests' status is caught before the
/// end mark, and told after it. A script without that mark, or that does it already, stays as it is.
fn with_exit_code(text: &str) -> String {
    let marks = |line: &&str| line.contains(END);
    let Some(mark) = text
        .lines()
        .find(marks)
        .filter(|_| !text.contains(EXIT_CODE))
    else {
        return text.to_owned();
    };
    let told =
        format!("HAMES_TEST_EXIT_CODE=$?\n{mark}\necho \"{EXIT_CODE}: $HAMES_TEST_EXIT_CODE\"");
    text.replacen(mark, &told, 1)
}

fn around(instance: &Instance, command: &str) -> Result<String, StageError> {
    let patch = &instance.answers.test_patch;
    let touched = Touched::by(patch);
    if touched.all.is_empty() {
        let message = format!(
            "{}: test_patch names no file, so there are no tests to lay",
            instance.id
        );
        return Err(StageError::BadInput(message));
    }
    let reset = touched.reset();
    let apply = apply(patch);
    Ok(format!(
        "#!/bin/bash\n\
         set -uxo pipefail\n\
         cd '{{testbed}}'\n\
         git status\n\
         git show --stat\n\
         git -c core.fileMode=false diff '{{base}}'\n\
         {reset}\
         {apply}\n\
         : '{START}'\n\
         {command}\n\
         HAMES_TEST_EXIT_CODE=$?\n\
         : '{END}'\n\
         echo \"{EXIT_CODE}: $HAMES_TEST_EXIT_CODE\"\n\
         {reset}"
    ))
}

/// The patch goes in byte by byte: the delimiter is none of its lines, and a last line without an
/// end stays without one.
fn apply(patch: &str) -> String {
    let mut delimiter = "EOF_114329324912".to_owned();
    while patch.lines().any(|line| line.trim_end() == delimiter) {
        delimiter.push('7');
    }
    let (body, cut) = match patch.strip_suffix('\n') {
        Some(body) => (body, ""),
        None => (patch, " | head -c -1"),
    };
    match cut {
        "" => format!("git apply -v - <<'{delimiter}'\n{body}\n{delimiter}"),
        cut => format!("cat <<'{delimiter}'{cut} | git apply -v -\n{body}\n{delimiter}"),
    }
}

/// The files of a patch.
struct Touched {
    /// Old and new names.
    all: BTreeSet<String>,
    /// Those that are not in the base.
    new: BTreeSet<String>,
}

impl Touched {
    fn by(patch: &str) -> Self {
        let (mut all, mut new) = (BTreeSet::new(), BTreeSet::new());
        let mut old: Option<&str> = None;
        for line in patch.lines() {
            if let Some(path) = line.strip_prefix("--- ") {
                old = Some(path);
            } else if let (Some(path), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
                let named = |path: &str, side: &str| {
                    let path = path.split('\t').next().unwrap_or_default();
                    path.strip_prefix(side).map(str::to_owned)
                };
                let (before, after) = (named(before, "a/"), named(path, "b/"));
                if before.is_none() {
                    new.extend(after.clone());
                }
                all.extend(before);
                all.extend(after);
            } else if let Some(path) = line.strip_prefix("rename to ") {
                new.insert(path.to_owned());
                all.insert(path.to_owned());
            } else if let Some(path) = line.strip_prefix("rename from ") {
                all.insert(path.to_owned());
            }
        }
        Self { all, new }
    }

    /// Whatever the agent made of the tests' files, they are as in the base, or not there.
    fn reset(&self) -> String {
        let quoted = |paths: &mut dyn Iterator<Item = &String>| -> String {
            paths
                .map(|path| format!(" '{}'", path.replace('\'', "'\\''")))
                .collect()
        };
        let known = quoted(&mut self.all.difference(&self.new));
        let new = quoted(&mut self.new.iter());
        let mut text = String::new();
        if !known.is_empty() {
            text += &format!("git checkout '{{base}}' --{known}\n");
        }
        if !new.is_empty() {
            text += &format!("rm -rf --{new}\n");
        }
        text
    }
}

/// Files of these kinds are no tests.
const NO_TESTS: [&str; 11] = [
    ".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml",
];

static HEADER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"diff --git a/.* b/(.*)").ok());

/// The test files of a patch, as the repository's runner wants them named.
pub fn directives(repo: &str, patch: &str) -> Vec<String> {
    let found = HEADER.iter().flat_map(|header| header.captures_iter(patch));
    let files = found
        .filter_map(|found| found.get(1))
        .map(|path| path.as_str());
    let tests = files.filter(|path| !NO_TESTS.iter().any(|kind| path.ends_with(kind)));
    let named = tests.map(|path| match repo {
        "django/django" => {
            let path = path.strip_suffix(".py").unwrap_or(path);
            path.strip_prefix("tests/")
                .unwrap_or(path)
                .replace('/', ".")
        }
        _ => path.to_owned(),
    });
    named.collect()
}

/// What the official tables run in a repository; the same for nearly all of its versions.
const COMMANDS: [(&str, &str); 12] = [
    (
        "astropy/astropy",
        "pytest -rA -vv -o console_output_style=classic --tb=no",
    ),
    (
        "django/django",
        "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1",
    ),
    ("matplotlib/matplotlib", "pytest -rA"),
    ("mwaskom/seaborn", "pytest --no-header -rA"),
    ("pallets/flask", "pytest -rA"),
    ("psf/requests", "pytest -rA"),
    ("pydata/xarray", "pytest -rA"),
    ("pylint-dev/pylint", "pytest -rA"),
    ("pytest-dev/pytest", "pytest -rA"),
    ("scikit-learn/scikit-learn", "pytest -rA"),
    ("sphinx-doc/sphinx", "tox --current-env -epy39 -v --"),
    (
        "sympy/sympy",
        "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose",
    ),
];

fn official(instance: &Instance) -> Result<String, StageError> {
    let known = COMMANDS.iter().find(|(repo, _)| *repo == instance.repo);
    let command = known.map(|(_, command)| *command).or_else(|| {
        // The other Python repositories are all run in one way.
        by_repo(&instance.repo, LogOf::default())
            .filter(|parser| parser.name.starts_with("pytest"))
            .map(|_| "pytest -rA")
    });
    let command = command.ok_or_else(|| {
        StageError::BadInput(format!(
            "{}: no test command is known for {}: give the row an eval_script and a log_parser",
            instance.id, instance.repo
        ))
    })?;
    let tests = directives(&instance.repo, &instance.answers.test_patch);
    Ok(format!("{command} {}", tests.join(" ")))
}
