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
    args: Vec<String>,
}

impl Suite {
    /// Those of its tests whose names hold a word of the path below `src`, or of those that stand
    /// with the fault: none, often enough, which costs nothing.
    fn about(&self, mutant: &Mutant) -> Self {
        let path = &mutant.path;
        let below = path
            .rsplit_once("/src/")
            .map_or(&**path, |(_, below)| below);
        let words = below.trim_end_matches(".rs").split('/').map(str::to_owned);
        let mut args = self.args.clone();
        args.push("--".to_owned());
        args.extend(words.filter(|word| word != "lib" && word != "main"));
        args.extend(mutant.near.iter().cloned());
        // No word at all would be every test.
        if args.last().is_some_and(|last| last == "--") {
            args.push("lib::".to_owned());
        }
        Self {
            package: self.package.clone(),
            args,
        }
    }
}

pub struct Worker<'g> {
    tree: PathBuf,
    build: PathBuf,
    /// What cargo said last.
    said: PathBuf,
    graph: &'g Graph,
    /// No more than the tests that are about the very module.
    near_alone: bool,
    /// How long each suite may take; measured on the tree as it is, when it is first needed.
    patience: BTreeMap<Suite, Duration>,
}

impl<'g> Worker<'g> {
    pub fn prepare(
        root: &Path,
        home: &Path,
        graph: &'g Graph,
        near_alone: bool,
    ) -> io::Result<Self> {
        let tree = home.join("tree");
        tree::bring_up_to_date(root, &tree)?;
        let (build, said) = (home.join("build"), home.join("said.txt"));
        let patience = BTreeMap::new();
        Ok(Self {
            tree,
            build,
            said,
            graph,
            near_alone,
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
        for suite in self.suites(owner, mutant) {
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

    /// The owner's first, then those of the crates above it; before all, the few that are about
    /// the very module, as most faults are seen by one of them.
    fn suites(&self, owner: &Package, mutant: &Mutant) -> Vec<Suite> {
        let above = self.graph.dependents(&owner.name).into_iter();
        let packages = std::iter::once(owner).chain(above);
        let whole: Vec<Suite> = packages
            .flat_map(|package| suites_of(&self.tree, package))
            .collect();
        let near = whole.first().map(|first| first.about(mutant));
        let whole = whole.into_iter().filter(|_| !self.near_alone);
        near.into_iter().chain(whole).collect()
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
            .args(args)
            .args(&suite.args)
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
    let suite = |args: &[&str]| Suite {
        package: package.name.clone(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    };
    let mut suites = Vec::new();
    if folder.join("tests/it/main.rs").exists() {
        suites.push(suite(&["--test", "it"]));
    }
    if has_unit_tests(&folder.join("src")) {
        let library = folder.join("src/lib.rs").exists();
        suites.push(suite(if library { &["--lib"] } else { &["--bins"] }));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_are_about_a_module_hold_a_word_of_its_path() {
        let suite = Suite {
            package: "a".to_owned(),
            args: vec!["--test".to_owned(), "it".to_owned()],
        };
        let about = |path: &str, near: &[&str]| {
            let mutant = Mutant {
                path: path.to_owned(),
                near: near.iter().map(|word| (*word).to_owned()).collect(),
                ..Mutant::default()
            };
            suite.about(&mutant).args.join(" ")
        };
        let expected = "--test it -- environments local seal installed";
        let path = "crates/a/src/environments/local/seal.rs";
        assert_eq!(about(path, &["installed"]), expected);
        assert_eq!(about("crates/a/src/lib.rs", &[]), "--test it -- lib::");
    }
}
