//! A world for the binary: a home, a workspace and a scripted model, all in a folder of its own.
//!
//! It inherits nothing of the environment but the path.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

pub struct World {
    folder: tempfile::TempDir,
}

/// How a run ended, and what it wrote.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A model that says one thing.
pub const HELLO: &str = r#"{"turns": [{"text": "Hello, this is the answer."}]}"#;

impl World {
    /// With a model that follows `scenario`.
    pub fn new(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder };
        fs::create_dir_all(world.workspace()).unwrap();
        fs::create_dir_all(world.path("home")).unwrap();
        fs::write(world.path("scenario.json"), scenario).unwrap();
        world
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    pub fn workspace(&self) -> PathBuf {
        self.path("work")
    }

    /// A file in the workspace.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The binary, with no model named.
    pub fn bare(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hames"));
        command
            .args(args)
            .current_dir(self.workspace())
            .env_clear()
            .envs(self.variables())
            .stdin(Stdio::null());
        command
    }

    pub fn variables(&self) -> Vec<(String, String)> {
        let at = |below: &str| self.path(below).to_string_lossy().into_owned();
        vec![
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("HOME".to_owned(), at("home")),
            ("XDG_STATE_HOME".to_owned(), at("state")),
            ("XDG_CONFIG_HOME".to_owned(), at("config")),
        ]
    }

    /// The value of `--model` for the scenario.
    pub fn model(&self) -> String {
        format!("script:{}", self.path("scenario.json").display())
    }

    /// The binary with the scripted model.
    pub fn hames(&self, args: &[&str]) -> Command {
        let mut command = self.bare(args);
        command.args(["--model", &self.model()]);
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.hames(args).output().unwrap())
    }

    pub fn run_with_stdin(&self, args: &[&str], stdin: &str) -> Ran {
        let mut child = self.spawn(args, Stdio::piped());
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(stdin.as_bytes()).unwrap();
        drop(pipe);
        Ran::of(child.wait_with_output().unwrap())
    }

    pub fn spawn(&self, args: &[&str], stdin: Stdio) -> Child {
        let mut command = self.hames(args);
        command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    pub fn sessions(&self) -> PathBuf {
        self.path("state/hames/sessions")
    }

    /// The ids of all sessions, children left out, in the order of their birth.
    pub fn session_ids(&self) -> Vec<String> {
        let Ok(files) = fs::read_dir(self.sessions()) else {
            return Vec::new();
        };
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let stems = names.filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned()));
        let mut ids: Vec<_> = stems.filter(|stem| !stem.contains('.')).collect();
        ids.sort();
        ids
    }

    /// The entries of the only session there is.
    pub fn entries(&self) -> Vec<Value> {
        let ids = self.session_ids();
        assert_eq!(ids.len(), 1, "{ids:?}");
        entries(&self.sessions().join(format!("{}.jsonl", ids[0])))
    }
}

pub fn entries(journal: &Path) -> Vec<Value> {
    let text = fs::read_to_string(journal).unwrap();
    let lines = text.lines().skip(1);
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// stdout as JSON lines.
    pub fn lines(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect()
    }

    /// The one result line.
    pub fn result(&self) -> Value {
        let lines = self.lines();
        let results: Vec<_> = lines
            .iter()
            .filter(|line| line["type"] == "result")
            .collect();
        assert_eq!(results.len(), 1, "{self:?}");
        assert_eq!(lines.last(), Some(results[0]));
        results[0].clone()
    }
}
