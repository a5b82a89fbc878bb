//! Folders with answers in them, covered up for an agent's process where the system can.
//!
//! It keeps an honest agent from stumbling over what it should not see, and one that looks for it
//! from finding it easily. It is no wall against one that means harm: that is what containers are for.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    adapter::{CommandLine, Place},
    environment::Around,
    stage::StageError,
    tool::Tool,
};

/// Covers what is named, puts back what is the agent's own, then becomes the agent: its process is
/// the one that was started.
const COVER: &str = include_str!("confinement/cover.sh");

/// What [`COVER`] says, and ends with, where it cannot.
const CANNOT: &str = "hames: cannot cover ";
const CANNOT_CODE: i32 = 125;

/// How long the system has to show that it can.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ways to mounts of one's own, the best first: those that leave the agent who it is, and without
/// the right to lift the cover.
const WAYS: [Way; 4] = [
    Way {
        unshare: &["--mount"],
        drop: &["--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
    },
    Way {
        unshare: &["--user", "--map-current-user", "--keep-caps", "--mount"],
        drop: &["--ambient-caps=-all", "--inh-caps=-all"],
    },
    Way {
        unshare: &["--mount"],
        drop: &[],
    },
    Way {
        unshare: &["--user", "--map-root-user", "--mount"],
        drop: &[],
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    unshare: &'static [&'static str],
    /// What `setpriv` takes from the agent; nothing, and it is not asked.
    drop: &'static [&'static str],
}

/// How this machine can hide a folder from one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// None where it cannot be done.
    means: Option<Means>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Means {
    unshare: PathBuf,
    way: Way,
}

/// What was made of a command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Confined {
    pub line: CommandLine,
    pub hidden: Vec<PathBuf>,
    /// Folders that could not be hidden, and why.
    pub open: Vec<(PathBuf, &'static str)>,
}

impl Confinement {
    pub fn none() -> Self {
        Self { means: None }
    }

    /// Tries it once, on a folder of its own.
    ///
    /// # Errors
    /// The run was interrupted, or there is no room for a folder. That it cannot be done is no error.
    pub async fn probe(around: &Around<'_>) -> Result<Self, StageError> {
        let Some(unshare) = around.host.find("unshare") else {
            return Ok(Self::none());
        };
        let ground =
            tempfile::tempdir().map_err(|error| StageError::io("make a folder", &error))?;
        for way in WAYS {
            let unshare = unshare.clone();
            let confinement = Self {
                means: Some(Means { unshare, way }),
            };
            if confinement.works_on(ground.path(), around).await? {
                return Ok(confinement);
            }
        }
        Ok(Self::none())
    }

    /// Whether an answer in `ground` is gone, and an agent's place in it is still there.
    async fn works_on(&self, ground: &Path, around: &Around<'_>) -> Result<bool, StageError> {
        let at = |error| StageError::io(ground.display(), &error);
        let place = Place {
            tree: ground.join("tree"),
            home: ground.join("home"),
            temp: ground.join("tmp"),
            env: Vec::new(),
        };
        for folder in [&place.tree, &place.home, &place.temp] {
            fs::create_dir_all(folder).map_err(at)?;
        }
        for file in [ground.join("answer"), place.tree.join("own")] {
            fs::write(file, "").map_err(at)?;
        }
        let check = "test -e own && test ! -e ../answer && touch written && ! touch ../lost";
        let line = CommandLine {
            args: vec!["-c".to_owned(), format!("{{ {check}; }} 2>/dev/null")],
            ..CommandLine::new("/bin/sh")
        };
        let tried = self.confine(line, &place, &[ground.to_owned()]).line;
        let args: Vec<&str> = tried.args.iter().map(String::as_str).collect();
        let tool = Tool {
            program: &tried.program,
            args: &args,
            cwd: &place.tree,
            env: &around.host.plain_env(),
            stdin: None,
            limit: PATIENCE,
        };
        match tool.run(around).await {
            Ok(answer) => Ok(answer.is_fine()),
            Err(StageError::Interrupted) => Err(StageError::Interrupted),
            Err(_) => Ok(false),
        }
    }

    pub fn is_possible(&self) -> bool {
        self.means.is_some()
    }

    /// What an agent works with stays in sight: its own place, and its program.
    pub fn confine(&self, line: CommandLine, place: &Place, hide: &[PathBuf]) -> Confined {
        let own = own_folders(place);
        let works_in = |folder: &Path| own.iter().any(|own| own == folder);
        let program = real(&line.program);
        let (mut hidden, mut open) = (Vec::new(), Vec::new());
        for folder in hide.iter().filter(|folder| folder.exists()) {
            let folder = real(folder);
            if !self.is_possible() {
                open.push((folder, "this system has no private mounts for us"));
            } else if works_in(&folder) {
                open.push((folder, "the agent works in it"));
            } else if [&program, &line.program].iter().any(|program| {
                program.starts_with(&folder) && !own.iter().any(|own| program.starts_with(own))
            }) {
                open.push((folder, "the agent's program is below it"));
            } else {
                hidden.push(folder);
            }
        }
        // What lies in a covered folder is covered with it.
        let outer: Vec<PathBuf> = hidden.clone();
        hidden.retain(|folder: &PathBuf| {
            !outer
                .iter()
                .any(|other| folder != other && folder.starts_with(other))
        });
        let means = self.means.as_ref().filter(|_| !hidden.is_empty());
        let line = match means {
            None => line,
            Some(means) => means.over(line, &place.tree, &hidden, &own),
        };
        Confined { line, hidden, open }
    }
}

/// What an agent works with: its tree with the environment beside it, home and temporary folder.
fn own_folders(place: &Place) -> Vec<PathBuf> {
    let venv = crate::environments::local::beside(&place.tree);
    let own = [&place.tree, &venv, &place.home, &place.temp];
    let own = own.into_iter().filter(|folder| folder.exists());
    own.map(|folder| real(folder)).collect()
}

impl Confined {
    /// Whether the cover could not be made, by how it ended and what it said first: then there was
    /// no agent at all.
    pub fn has_failed(&self, returncode: Option<i32>, stderr: &str) -> Option<String> {
        let is_ours = !self.hidden.is_empty() && returncode == Some(CANNOT_CODE);
        let mut said = stderr.lines().filter(|_| is_ours);
        said.find(|line| line.starts_with(CANNOT))
            .map(str::to_owned)
    }
}

impl Means {
    fn over(
        &self,
        line: CommandLine,
        tree: &Path,
        hidden: &[PathBuf],
        own: &[PathBuf],
    ) -> CommandLine {
        let text = |path: &Path| path.display().to_string();
        let is_covered = |own: &&PathBuf| hidden.iter().any(|folder| own.starts_with(folder));
        let own: Vec<&PathBuf> = own.iter().filter(is_covered).collect();
        let mut args: Vec<String> = self
            .way
            .unshare
            .iter()
            .map(|word| (*word).to_owned())
            .collect();
        args.extend(["--", "/bin/sh", "-c", COVER, "sh"].map(str::to_owned));
        args.push(text(tree));
        args.push(own.len().to_string());
        args.extend(own.iter().map(|path| text(path)));
        args.push(hidden.len().to_string());
        args.extend(hidden.iter().map(|path| text(path)));
        if !self.way.drop.is_empty() {
            args.push("setpriv".to_owned());
            args.extend(self.way.drop.iter().map(|word| (*word).to_owned()));
            args.push("--".to_owned());
        }
        args.push(text(&line.program));
        args.extend(line.args.iter().cloned());
        CommandLine {
            program: self.unshare.clone(),
            args,
            ..line
        }
    }
}

/// Where it really lies: a mount knows no links.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
