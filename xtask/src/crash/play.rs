//! The program under test: built, started, and killed or waited for.
//!
//! It has a home of its own, so that no user's settings or keys come near it.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

pub struct Program {
    hames: PathBuf,
    folder: PathBuf,
}

pub enum Ended {
    Killed,
    ByItself(i32),
}

/// The executable that cargo says it has built.
pub fn build(root: &Path, what: &[&str]) -> io::Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["build", "--quiet", "--message-format=json"])
        .args(what)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "cargo cannot build {}",
            what.join(" ")
        )));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    built
        .next_back()
        .ok_or_else(|| io::Error::other("cargo names no executable"))
}

/// Each message makes two calls that each append a line of their own.
pub fn scenario(rounds: usize) -> String {
    let call = |round: usize, side: &str| {
        let command = format!("echo {round}-{side} >> effects.txt; sleep 0.02");
        json!({"name": "bash", "input": {"command": command}})
    };
    let round = |round| {
        json!({
            "text": format!("Round {round}."), "calls": [call(round, "left"), call(round, "right")],
        })
    };
    let mut turns: Vec<Value> = (1..=rounds).map(round).collect();
    turns.push(json!({"text": "All rounds are done."}));
    let defaults = json!({"delay": 10, "pace": 2});
    json!({"defaults": defaults, "turns": turns}).to_string()
}

impl Program {
    pub fn new(hames: &Path, folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder.join("work"))?;
        fs::create_dir_all(folder.join("home"))?;
        let (hames, folder) = (hames.to_owned(), folder.to_owned());
        Ok(Self { hames, folder })
    }

    /// From the prompt, or from where it was; killed after that time.
    pub fn run(&self, model: &str, resumes: bool, after: Duration) -> io::Result<Ended> {
        let mut command = Command::new(&self.hames);
        command.arg("-p");
        match resumes {
            true => command.arg("--continue"),
            false => command.arg("Take all rounds."),
        };
        let home = self.folder.join("home");
        let log = fs::File::create(self.folder.join("stderr.txt"))?;
        let mut child = command
            .args([
                "--model",
                model,
                "--permission-mode",
                "full-auto",
                "--max-turns",
                "100",
            ])
            .current_dir(self.folder.join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let (ended, end) = mpsc::channel();
        if let Some(mut stdout) = child.stdout.take() {
            thread::spawn(move || {
                let _ = stdout.read_to_end(&mut Vec::new());
                ended.send(())
            });
        }
        let in_time = end.recv_timeout(after) != Err(mpsc::RecvTimeoutError::Timeout);
        if !in_time {
            child.kill()?;
        }
        let status = child.wait()?;
        Ok(match status.code() {
            Some(code) => Ended::ByItself(code),
            None => Ended::Killed,
        })
    }

    pub fn sessions(&self) -> PathBuf {
        self.folder.join("home/state/hames/sessions")
    }

    /// The lines that commands have appended.
    pub fn effects(&self) -> io::Result<Vec<String>> {
        let path = self.folder.join("work/effects.txt");
        let text = if path.exists() {
            fs::read_to_string(path)?
        } else {
            String::new()
        };
        Ok(text.lines().map(str::to_owned).collect())
    }

    pub fn last_words(&self) -> String {
        let text = fs::read_to_string(self.folder.join("stderr.txt"));
        let text = text.unwrap_or_default();
        text.lines().last().unwrap_or_default().to_owned()
    }
}
