//! One tree with one build directory, in which faults are planted one after the other.
//!
//! It restores what it plants, and gives no verdict on tests that fail without a fault.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{list::Mutant, tree};
use crate::graph::{Graph, Package};

/// How long a build may take, and the tests as they are.
const PATIENCE: Duration = Duration::from_secs(1200);

/// How many lines of a failure that should not be are shown.
const LAST_WORDS: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    Caught,
    /// The tests took far longer than without it: noticed, though by no assertion.
    Hung,
    Survived,
    DoesNotBuild,
    TextIsGone,
}

/// A test binary, or the unit tests, of one crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Suite {
    package: String,
    args: Vec<&'static str>,
}

pub struct Worker<'g> {
    tree: PathBuf,
    build: PathBuf,
    /// What cargo said last.
    said: PathBuf,
    graph: &'g Graph,
    /// How long each suite may take; measured on the tree as it is, when it is first needed.
    patience: BTreeMap<Suite, Duration>,
}

impl<'g> Worker<'g> {
    pub fn prepare(root: &Path, home: &Path, graph: &'g Graph) -> io::Result<Self> {
        let tree = home.join("tree");
        tree::bring_up_to_date(root, &tree)?;
        let (build, said) = (home.join("build"), home.join("said.txt"));
        let patience = BTreeMap::new();
        Ok(Self {
            tree,
            build,
            said,
            graph,
            patience,
        })
    }

    /// What became of it, and which crate's tests saw it.
    pub fn plant(&mut self, mutant: &Mutant) -> io::Result<(Fate, String)> {
        let path = self.tree.join(&mutant.path);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let (Some(faulty), Some(owner)) =
            (mutant.planted_in(&text), self.graph.owner(&mutant.path))
        else {
            return Ok((Fate::TextIsGone, String::new()));
        };
        for suite in self.suites(owner) {
            let patience = self.patience(&suite)?;
            fs::write(&path, &faulty)?;
            let fate = self.test(&suite, patience);
            fs::write(&path, &text)?;
            let fate = fate?;
            if fate != Fate::Survived {
                return Ok((fate, format!(" by {}", suite.package)));
            }
        }
        Ok((Fate::Survived, String::new()))
    }

    /// The owner's first, then those of the crates above it.
    fn suites(&self, owner: &Package) -> Vec<Suite> {
        let above = self.graph.dependents(&owner.name).into_iter();
        let packages = std::iter::once(owner).chain(above);
        packages
            .flat_map(|package| suites_of(&self.tree, package))
            .collect()
    }

    /// Fails when the suite does not pass as it is: nothing can be said of a fault in it then.
    fn patience(&mut self, suite: &Suite) -> io::Result<Duration> {
        if let Some(known) = self.patience.get(suite) {
            return Ok(*known);
        }
        let unplanted = |what: &str| {
            let (package, said) = (&suite.package, last_words(&self.said));
            io::Error::other(format!(
                "with no fault planted, the tests of {package} {what}:\n{said}"
            ))
        };
        if self.cargo_test(suite, &["--no-run"], PATIENCE)? != Some(true) {
            return Err(unplanted("do not build"));
        }
        let began = Instant::now();
        if self.cargo_test(suite, &[], PATIENCE)? != Some(true) {
            return Err(unplanted("do not pass"));
        }
        let patience = Duration::from_secs(20) + 5 * began.elapsed();
        self.patience.insert(suite.clone(), patience);
        Ok(patience)
    }

    fn test(&self, suite: &Suite, patience: Duration) -> io::Result<Fate> {
        if self.cargo_test(suite, &["--no-run"], PATIENCE)? != Some(true) {
            return Ok(Fate::DoesNotBuild);
        }
        Ok(match self.cargo_test(suite, &[], patience)? {
            Some(true) => Fate::Survived,
            Some(false) => Fate::Caught,
            None => Fate::Hung,
        })
    }

    /// `None` when it took too long.
    fn cargo_test(
        &self,
        suite: &Suite,
        args: &[&str],
        patience: Duration,
    ) -> io::Result<Option<bool>> {
        let said = File::create(&self.said)?;
        let mut child = Command::new("cargo")
            .args(["test", "--quiet", "--package", &suite.package])
            .args(&suite.args)
            .args(args)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.build)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "1")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said)
            .process_group(0)
            .spawn()?;
        let began = Instant::now();
        while began.elapsed() < patience {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status.success()));
            }
            thread::sleep(Duration::from_millis(20));
        }
        stop(&mut child)?;
        Ok(None)
    }
}

/// The integration binary, and the unit tests where there are any.
fn suites_of(tree: &Path, package: &Package) -> Vec<Suite> {
    let folder = tree.join(&package.folder);
    let suite = |args: Vec<&'static str>| Suite {
        package: package.name.clone(),
        args,
    };
    let mut suites = Vec::new();
    if folder.join("tests/it/main.rs").exists() {
        suites.push(suite(vec!["--test", "it"]));
    }
    if has_unit_tests(&folder.join("src")) {
        let library = folder.join("src/lib.rs").exists();
        suites.push(suite(if library {
            vec!["--lib"]
        } else {
            vec!["--bins"]
        }));
    }
    suites
}

fn has_unit_tests(folder: &Path) -> bool {
    let Ok(files) = fs::read_dir(folder) else {
        return false;
    };
    files.flatten().any(|file| {
        let path = file.path();
        if path.is_dir() {
            return has_unit_tests(&path);
        }
        fs::read_to_string(path).is_ok_and(|text| text.contains("#[cfg(test)]"))
    })
}

fn last_words(said: &Path) -> String {
    let said = fs::read(said).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(LAST_WORDS)..].join("\n")
}

/// Ends cargo and the tests that it started: they are one process group.
fn stop(child: &mut Child) -> io::Result<()> {
    let group = format!("-{}", child.id());
    Command::new("kill")
        .args(["-KILL", "--", &group])
        .status()?;
    child.wait().map(drop)
}
