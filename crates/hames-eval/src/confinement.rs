//! Folders with answers in them, covered up for an agent's process where the system can.
//!
//! It keeps an honest agent from stumbling over what it should not see. It is no wall against one
//! that means harm: that is what containers are for.

use std::path::{Path, PathBuf};

use crate::{
    adapter::{CommandLine, Place},
    environment::Around,
    stage::StageError,
    tool::Tool,
};

/// Covers what is named, then becomes the agent: its process is the one that was started.
const COVER: &str = r#"n=$1; shift
while [ "$n" -gt 0 ]; do
  if [ -d "$1" ]; then mount -t tmpfs -o ro,size=4k none "$1" || exit 125
  elif [ -e "$1" ]; then mount --bind /dev/null "$1" || exit 125
  fi
  shift; n=$((n - 1))
done
exec "$@""#;

/// How this machine can hide a folder from one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// What stands before the shell that covers the folders; none where it cannot be done.
    prefix: Option<Vec<String>>,
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
        Self { prefix: None }
    }

    /// Tries it once, on a folder of its own.
    pub async fn probe(around: &Around<'_>) -> Result<Self, StageError> {
        let Some(unshare) = around.host.find("unshare") else {
            return Ok(Self::none());
        };
        let unshare = unshare.display().to_string();
        let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
        let folder =
            tempfile::tempdir().map_err(|error| StageError::io("make a folder", &error))?;
        let marked = folder.path().join("mark");
        std::fs::write(&marked, "").map_err(|error| StageError::io(marked.display(), &error))?;
        for way in ways {
            let prefix: Vec<String> = std::iter::once(unshare.clone())
                .chain(way.iter().map(|word| (*word).to_owned()))
                .collect();
            let confinement = Self {
                prefix: Some(prefix),
            };
            let check = format!("test ! -e '{}'", marked.display());
            let line = CommandLine {
                args: vec!["-c".to_owned(), check],
                ..CommandLine::new("/bin/sh")
            };
            let tried = confinement.over(line, vec![folder.path().to_owned()]);
            let args: Vec<&str> = tried.args.iter().map(String::as_str).collect();
            let tool = Tool {
                program: &tried.program,
                args: &args,
                cwd: Path::new("/"),
                env: &around.host.plain_env(),
                stdin: None,
                limit: std::time::Duration::from_secs(10),
            };
            if tool.run(around).await?.is_fine() {
                return Ok(confinement);
            }
        }
        Ok(Self::none())
    }

    pub fn is_possible(&self) -> bool {
        self.prefix.is_some()
    }

    /// What an agent works with stays in sight: its own place, and its program.
    pub fn confine(&self, line: CommandLine, place: &Place, hide: &[PathBuf]) -> Confined {
        let (mut hidden, mut open) = (Vec::new(), Vec::new());
        for folder in hide.iter().filter(|folder| folder.exists()) {
            let own = [&place.tree, &place.home, &place.temp];
            if !self.is_possible() {
                open.push((folder.clone(), "this system has no private mounts for us"));
            } else if own.iter().any(|own| own.starts_with(folder)) {
                open.push((folder.clone(), "the agent works below it"));
            } else if line.program.starts_with(folder) {
                open.push((folder.clone(), "the agent's program is below it"));
            } else {
                hidden.push(folder.clone());
            }
        }
        let line = match hidden.is_empty() {
            true => line,
            false => self.over(line, hidden.clone()),
        };
        Confined { line, hidden, open }
    }

    fn over(&self, line: CommandLine, hidden: Vec<PathBuf>) -> CommandLine {
        let Some((program, way)) = self.prefix.as_ref().and_then(|prefix| prefix.split_first())
        else {
            return line;
        };
        let text = |path: &Path| path.display().to_string();
        let mut args: Vec<String> = way.to_vec();
        args.extend(["--", "/bin/sh", "-c", COVER, "sh"].map(str::to_owned));
        args.push(hidden.len().to_string());
        args.extend(hidden.iter().map(|path| text(path)));
        args.push(text(&line.program));
        args.extend(line.args.iter().cloned());
        CommandLine {
            program: program.into(),
            args,
            ..line
        }
    }
}
