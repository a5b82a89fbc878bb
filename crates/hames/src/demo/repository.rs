//! The demo's repository: a few files under git in a folder of its own, with a test that fails.
//!
//! Git is run with no settings of the user's, and nothing outside the folder is written.

use std::{
    fs, io,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::{environment::Environment, exit::usage, session_id::SessionId};

/// One bug in one language; which one depends on what is installed.
pub(super) struct Task {
    pub test: &'static str,
    test_file: &'static str,
    files: &'static [(&'static str, &'static str)],
    pub scenario: &'static str,
}

const PYTHON: Task = Task {
    test: "python3 -m unittest",
    test_file: "test_basket.py",
    files: &[
        ("basket.py", include_str!("python/basket.py")),
        ("test_basket.py", include_str!("python/test_basket.py")),
        (".gitignore", "__pycache__/\n"),
    ],
    scenario: include_str!("python/scenario.json"),
};

const SH: Task = Task {
    test: "sh test_basket.sh",
    test_file: "test_basket.sh",
    files: &[
        ("basket.sh", include_str!("sh/basket.sh")),
        ("test_basket.sh", include_str!("sh/test_basket.sh")),
    ],
    scenario: include_str!("sh/scenario.json"),
};

impl Task {
    fn of_this_machine() -> &'static Self {
        let mut python = Command::new("python3");
        python.args(["-c", "import unittest"]);
        python
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let has_python = python.status().is_ok_and(|status| status.success());
        if has_python { &PYTHON } else { &SH }
    }

    pub fn prompt(&self) -> String {
        format!(
            "A test of this repository fails: {}. Find out why, fix the code and not the test, and \
             show that the tests pass.",
            self.test
        )
    }

    /// The scenario of the single calls.
    pub fn bare(&self) -> String {
        include_str!("bare.json").replace("{{test}}", self.test)
    }
}

pub(super) struct Repository {
    pub task: &'static Task,
    pub folder: PathBuf,
    /// Holds the repository, and what stands beside it.
    root: PathBuf,
}

/// What a test run came to.
pub(super) struct TestRun {
    pub passed: bool,
    pub output: String,
}

impl Repository {
    pub fn make(environment: &Environment) -> Result<Self> {
        let temporary = environment
            .var("TMPDIR")
            .map_or_else(std::env::temp_dir, PathBuf::from);
        let root = temporary.join(format!("hames-demo-{}", SessionId::new()));
        let repository = Self {
            task: Task::of_this_machine(),
            folder: root.join("basket"),
            root,
        };
        let made = repository.fill();
        if made.is_err() {
            repository.remove();
        }
        made.map(|()| repository)
    }

    fn fill(&self) -> Result<()> {
        for folder in [&self.folder, &self.beside("home"), &self.beside("config")] {
            fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
        }
        for (name, text) in self.task.files {
            fs::write(self.folder.join(name), text)?;
        }
        self.git(&["init", "-q"])?;
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", "A basket, and what it costs"])?;
        Ok(())
    }

    /// A folder beside the repository, where the agent does not look.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a scenario beside the repository.
    pub fn script(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.beside(name);
        fs::write(&file, text).with_context(|| format!("{}", file.display()))?;
        Ok(file)
    }

    pub fn test(&self) -> Result<TestRun> {
        let mut words = self.task.test.split(' ');
        let mut command = Command::new(words.next().unwrap_or("sh"));
        command
            .args(words)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        // A cache of compiled code could be older than an edit of the same second.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let output = command
            .output()
            .with_context(|| self.task.test.to_owned())?;
        Ok(TestRun {
            passed: output.status.success(),
            output: text(&output.stdout) + &text(&output.stderr),
        })
    }

    pub fn diff(&self) -> Result<String> {
        self.git(&["--no-pager", "diff", "--no-color", "--no-ext-diff", "HEAD"])
    }

    pub fn test_is_untouched(&self) -> bool {
        let own = self
            .task
            .files
            .iter()
            .find(|(name, _)| *name == self.task.test_file);
        let now = fs::read_to_string(self.folder.join(self.task.test_file));
        own.is_some_and(|(_, text)| now.is_ok_and(|now| now == *text))
    }

    pub fn remove(&self) {
        // Whatever is left stands in the temporary folder, which is nobody's to keep.
        let _ = fs::remove_dir_all(&self.root);
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=Hames", "-c", "user.email=demo@localhost"])
            .args(["-c", "init.defaultBranch=main", "-c", "core.autocrlf=false"])
            .args(args)
            .current_dir(&self.folder)
            .env("GIT_CONFIG_GLOBAL", self.beside("home").join("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(variable);
        }
        let output = command.output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => usage("the demo needs git: install it and try again"),
            _ => anyhow::Error::from(error).context("git"),
        })?;
        succeeded(&output, args)
    }
}

fn succeeded(output: &Output, args: &[&str]) -> Result<String> {
    if !output.status.success() {
        bail!("git {}: {}", args.join(" "), text(&output.stderr).trim());
    }
    Ok(text(&output.stdout))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
