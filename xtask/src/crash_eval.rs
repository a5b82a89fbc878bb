//! `kill -9` of an evaluation in each of its stages, then the same command again: the result has to
//! be that of a run that nobody killed.
//!
//! It looks at files and processes as a user would find them, and never inside the program.

mod trial;

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use trial::{Outcome, Trial};

use crate::crash::build;

const USAGE: &str = "usage: crash-eval [--kills N] [--seed S] [--task ID] [--keep] [--hames FILE]";

/// In the order they run; S3 is asked for.
pub(crate) const STAGES: [&str; 7] = [
    "S1_build",
    "S2_prepare",
    "S3_baseline",
    "S4_solve",
    "S5_patch",
    "S6_score",
    "S7_record",
];

struct Options {
    /// Of each stage.
    kills: usize,
    seed: u64,
    task: Option<String>,
    keep: bool,
    hames: Option<PathBuf>,
}

pub fn run(root: &Path, args: &[String]) -> io::Result<bool> {
    let Some(options) = Options::read(args) else {
        return Err(io::Error::other(USAGE));
    };
    let hames = match &options.hames {
        Some(built) => built.clone(),
        None => build(root, &["-p", "hames", "--bin", "hames"])?,
    };
    let folder = std::env::temp_dir().join(format!("hames-crash-eval-{}", std::process::id()));
    let task = task(root, options.task.as_deref())?;
    let whole = Trial::make(&hames, &task, &folder.join("whole"))?.whole()?;
    let mut random = options.seed;
    let mut wrong = Vec::new();
    eprintln!(
        "{:<12} {:>6} {:>10} {:>9}  WHERE THE KILLS HIT",
        "STAGE", "KILLS", "SAME AFTER", "LEFTOVERS"
    );
    for (at, stage) in STAGES.iter().enumerate() {
        let mut row = Row::default();
        for kill in 0..options.kills {
            let place = folder.join(format!("{stage}-{kill}"));
            let trial = Trial::make(&hames, &task, &place)?;
            let within = whole.seconds.get(at).copied().unwrap_or_default();
            let after = Duration::from_secs_f64(within * share(&mut random));
            let hit = trial.kill_in(at, after)?;
            row.hits.push(hit);
            let again = trial.again()?;
            row.kills += 1;
            row.leftovers += again.leftovers;
            match again.difference(&whole) {
                None => row.same += 1,
                Some(difference) => wrong.push(format!("{stage}, kill {kill}: {difference}")),
            }
            if !options.keep {
                let _ = fs::remove_dir_all(&place);
            }
        }
        eprintln!(
            "{stage:<12} {:>6} {:>10} {:>9}  {}",
            row.kills,
            row.same,
            row.leftovers,
            row.told()
        );
    }
    for one in &wrong {
        eprintln!("not the same: {one}");
    }
    if !options.keep && wrong.is_empty() {
        let _ = fs::remove_dir_all(&folder);
    } else {
        eprintln!("kept: {}", folder.display());
    }
    Ok(wrong.is_empty())
}

#[derive(Default)]
struct Row {
    kills: usize,
    same: usize,
    /// Processes of a killed run's agent that outlived the rerun.
    leftovers: usize,
    hits: Vec<String>,
}

impl Row {
    fn told(&self) -> String {
        let mut counted: Vec<(String, usize)> = Vec::new();
        for hit in &self.hits {
            match counted.iter_mut().find(|(name, _)| name == hit) {
                Some((_, count)) => *count += 1,
                None => counted.push((hit.clone(), 1)),
            }
        }
        let words: Vec<String> = counted
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        words.join(", ")
    }
}

impl Options {
    fn read(args: &[String]) -> Option<Self> {
        let mut options = Self {
            kills: 10,
            seed: 1,
            task: None,
            keep: false,
            hames: None,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--kills" => options.kills = args.next()?.parse().ok()?,
                "--seed" => options.seed = args.next()?.parse().ok()?,
                "--task" => options.task = Some(args.next()?.clone()),
                "--keep" => options.keep = true,
                "--hames" => options.hames = Some(args.next()?.into()),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// A folder of the built-in benchmark: the one named, or the first.
fn task(root: &Path, name: Option<&str>) -> io::Result<PathBuf> {
    let benchmark = root.join("crates/hames-eval/benchmark/tasks");
    let mut tasks: Vec<PathBuf> = fs::read_dir(&benchmark)?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    tasks.sort();
    let fits = |path: &&PathBuf| {
        path.join("gold.patch").is_file()
            && name.is_none_or(|name| path.file_name().is_some_and(|own| own == name))
    };
    let found = tasks.iter().find(fits).cloned();
    found.ok_or_else(|| io::Error::other(format!("no such task in {}", benchmark.display())))
}

/// From 0 to 1, the same for the same seed.
fn share(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let top = u32::try_from(*state >> 33).unwrap_or_default();
    f64::from(top) / f64::from(u32::MAX >> 1)
}

/// Whether a run's files say what those of the whole run say.
impl Outcome {
    fn difference(&self, whole: &Self) -> Option<String> {
        let pairs = [
            ("resolved", &self.resolved, &whole.resolved),
            ("patch", &self.patch, &whole.patch),
            ("tests", &self.tests, &whole.tests),
            ("prediction", &self.prediction, &whole.prediction),
            ("files", &self.files, &whole.files),
        ];
        let differs = pairs.iter().find(|(_, own, other)| own != other);
        if let Some((name, own, other)) = differs {
            return Some(format!("{name}: {own} instead of {other}"));
        }
        (self.leftovers > 0).then(|| {
            format!(
                "{} processes of the killed run's agent are alive",
                self.leftovers
            )
        })
    }
}
