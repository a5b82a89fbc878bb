//! Where the files of a run lie, and how they are written so that a kill leaves the old or the new.
//!
//! What is in them is each stage's business.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// `experiments/<run id>/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    pub id: String,
    pub dir: PathBuf,
}

/// One trial of one instance: `<instance>/`, and `<instance>~2/` and so on for further trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialDir(pub PathBuf);

impl Experiment {
    pub fn new(root: &Path, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            dir: root.join(id),
        }
    }

    pub fn trial(&self, instance: &str, trial: u32) -> TrialDir {
        TrialDir(self.dir.join(trial_name(instance, trial)))
    }

    /// Where all runs are: the folder as a whole where nothing else is in it, else each of them, with
    /// the store.
    pub fn around(&self) -> Vec<PathBuf> {
        let root = self.dir.parent().unwrap_or(&self.dir);
        let entries: Vec<PathBuf> = fs::read_dir(root)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        let (runs, others): (Vec<PathBuf>, Vec<PathBuf>) =
            entries.into_iter().partition(|path| is_of_runs(path));
        match others.is_empty() {
            true => vec![root.to_owned()],
            false => runs,
        }
    }

    /// The official layout's folder for one instance, of the trial's own run id.
    pub fn official(&self, model: &str, instance: &str, trial: u32) -> PathBuf {
        let logs = self.dir.join("logs/run_evaluation");
        logs.join(trial_name(&self.id, trial))
            .join(file_name(model))
            .join(instance)
    }

    /// What the run was asked to do.
    pub fn run_file(&self) -> PathBuf {
        self.dir.join("run.json")
    }
}

impl TrialDir {
    pub fn manifest(&self) -> PathBuf {
        self.0.join("manifest.json")
    }
    pub fn result(&self) -> PathBuf {
        self.0.join("result.json")
    }
    pub fn worker_log(&self) -> PathBuf {
        self.0.join("s4_worker.log")
    }
    /// Attempts of S4, written down before they begin.
    pub fn attempts(&self) -> PathBuf {
        self.0.join("attempts.jsonl")
    }
    pub fn task(&self) -> PathBuf {
        self.0.join("task.json")
    }
    pub fn prediction(&self) -> PathBuf {
        self.0.join("prediction.jsonl")
    }
    pub fn model_patch(&self) -> PathBuf {
        self.0.join("model.patch")
    }
    pub fn report(&self) -> PathBuf {
        self.0.join("report.json")
    }
    /// ATIF.
    pub fn trajectory(&self) -> PathBuf {
        self.0.join("trajectory.json")
    }
    /// What the agent printed.
    pub fn agent_stdout(&self) -> PathBuf {
        self.0.join("agent.stdout")
    }
    pub fn agent_stderr(&self) -> PathBuf {
        self.0.join("agent.stderr")
    }
    pub fn test_output(&self) -> PathBuf {
        self.0.join("test_output.txt")
    }
}

fn is_of_runs(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.join("run.json").is_file() || name.starts_with("results.")
}

fn trial_name(name: &str, trial: u32) -> String {
    match trial {
        0 | 1 => name.to_owned(),
        trial => format!("{name}~{trial}"),
    }
}

/// As the official layout spells a model: `/` becomes `__`.
pub fn file_name(model: &str) -> String {
    match model {
        "." | ".." => model.replace('.', "_"),
        _ => model.replace('/', "__"),
    }
}

/// How a file that is not whole yet is called.
const BESIDE: &str = ".unfinished-";

/// Removes what a kill has left of [`write_atomically`]; for a folder that nobody else writes to.
pub fn sweep(folder: &Path) {
    let unfinished = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(BESIDE);
    for entry in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(unfinished)
    {
        let _ = fs::remove_file(entry.path());
    }
}

/// Readable for whom the user's mask lets read, as any other file of theirs.
fn beside() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(BESIDE);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Writes a whole file beside its place and moves it there: a reader sees the old or the new.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = beside().tempfile_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)
        .map(drop)
        .map_err(|refused| refused.error)
}
