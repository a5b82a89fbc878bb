//! One evaluation of one task, killed or not, and what it leaves.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::STAGES;

/// A run that takes longer than this is stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// An agent that takes its time, starts something that hides, and does the work.
const AGENT: &str = r#"sleep 0.2
setsid sh -c 'sleep 600' >/dev/null 2>&1 &
git apply "$1"
sleep 0.2
"#;

pub(super) struct Trial {
    hames: PathBuf,
    place: PathBuf,
    task: PathBuf,
    id: String,
}

/// What a user finds.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub resolved: String,
    pub patch: String,
    pub tests: String,
    pub prediction: String,
    /// Their names.
    pub files: String,
    /// Of each stage.
    pub seconds: Vec<f64>,
    pub leftovers: usize,
}

impl Trial {
    pub fn make(hames: &Path, task: &Path, place: &Path) -> io::Result<Self> {
        fs::create_dir_all(place)?;
        fs::write(place.join("agent.sh"), AGENT)?;
        let id = task
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(Self {
            hames: hames.to_owned(),
            place: place.to_owned(),
            task: task.to_owned(),
            id,
        })
    }

    pub fn whole(&self) -> io::Result<Outcome> {
        self.run_to_its_end()?;
        self.outcome()
    }

    pub fn again(&self) -> io::Result<Outcome> {
        self.whole()
    }

    /// Kills the run once all stages before `at` are done and `after` has passed. Says where it was.
    pub fn kill_in(&self, at: usize, after: Duration) -> io::Result<String> {
        let mut child = self.start()?;
        let begun = Instant::now();
        while self.done().len() < at && child.try_wait()?.is_none() {
            if begun.elapsed() > PATIENCE {
                child.kill()?;
                return Err(io::Error::other("the run is stuck"));
            }
            std::thread::yield_now();
        }
        let reached = Instant::now();
        while reached.elapsed() < after && child.try_wait()?.is_none() {
            std::thread::yield_now();
        }
        child.kill()?;
        let was_over = child.wait()?.code().is_some();
        let next = STAGES.get(self.done().len()).copied();
        Ok(match (was_over, next) {
            (true, _) | (_, None) => "over already".to_owned(),
            (false, Some(next)) => next.to_owned(),
        })
    }

    fn run_to_its_end(&self) -> io::Result<()> {
        let status = self.start()?.wait()?;
        match status.success() {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "the run ended with {status}; see {}",
                self.place.display()
            ))),
        }
    }

    fn start(&self) -> io::Result<Child> {
        let agent = self.place.join("agent.sh");
        let gold = self.task.join("gold.patch");
        let command = format!("command:sh {} {}", agent.display(), gold.display());
        let said = fs::File::options()
            .create(true)
            .append(true)
            .open(self.place.join("said"))?;
        Command::new(&self.hames)
            .args(["eval", "run"])
            .arg(&self.task)
            .args([
                "--adapter",
                &command,
                "--run-id",
                "r",
                "--baseline",
                "--no-confine",
            ])
            .arg("--dir")
            .arg(self.place.join("experiments"))
            .arg("--cache")
            .arg(self.place.join("cache"))
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said)
            .spawn()
    }

    fn dir(&self) -> PathBuf {
        self.place.join("experiments/r").join(&self.id)
    }

    /// The stages that the manifest has as done.
    fn done(&self) -> Vec<String> {
        let text = fs::read(self.dir().join("manifest.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_slice(&text).unwrap_or_default();
        let stages = manifest["stages"].as_object().cloned().unwrap_or_default();
        let done = stages
            .into_iter()
            .filter(|(_, record)| record["state"] == "done");
        done.map(|(name, _)| name).collect()
    }

    fn outcome(&self) -> io::Result<Outcome> {
        let dir = self.dir();
        let result: Value = serde_json::from_slice(&fs::read(dir.join("result.json"))?)?;
        let mut files: Vec<String> = fs::read_dir(&dir)?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let seconds = |stage: &str| result["stage_timings"][stage].as_f64().unwrap_or(0.01);
        Ok(Outcome {
            resolved: result["resolved"].to_string(),
            patch: fs::read_to_string(dir.join("model.patch"))?,
            tests: format!("{} {}", result["fail_to_pass"], result["pass_to_pass"]),
            prediction: fs::read_to_string(dir.join("prediction.jsonl"))?,
            files: files.join(" "),
            seconds: STAGES.iter().map(|stage| seconds(stage)).collect(),
            leftovers: self.leftovers(),
        })
    }

    /// Processes that have this place in their variables.
    fn leftovers(&self) -> usize {
        let place = self.place.display().to_string().into_bytes();
        let holds = |entry: &fs::DirEntry| {
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            environ.windows(place.len()).any(|part| part == place)
        };
        fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter(holds)
            .count()
    }
}
