//! A git index and a repository of our own over somebody else's files.
//!
//! Neither their configuration nor their hooks, filters or attributes are asked: the base's
//! attributes count, and nothing else.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Against;
use crate::{
    environment::Around,
    repository::{self, GitCall},
    stage::StageError,
    tool::Answer,
};

pub(super) struct Index<'a> {
    against: &'a Against<'a>,
    around: &'a Around<'a>,
    git: PathBuf,
    undone: Vec<u8>,
}

/// One path that is other than in the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub path: String,
    pub is_new: bool,
    /// As an index has it, for the base.
    old: String,
}

impl<'a> Index<'a> {
    /// A repository that holds nothing but borrows the base's objects.
    pub async fn of_base(
        against: &'a Against<'a>,
        around: &'a Around<'a>,
    ) -> Result<Self, StageError> {
        let git = against.scratch.join("git");
        let at = |error| StageError::io(git.display(), &error);
        if git.exists() {
            fs::remove_dir_all(&git).map_err(at)?;
        }
        fs::create_dir_all(against.scratch).map_err(at)?;
        let path = git.display().to_string();
        repository::git_text(
            &["init", "--quiet", "--bare", "--template=", &path],
            against.scratch,
            around,
        )
        .await?;
        let info = git.join("objects/info");
        fs::create_dir_all(&info).map_err(at)?;
        let borrowed = against
            .objects
            .iter()
            .map(|repository| objects_of(repository).display().to_string() + "\n");
        fs::write(info.join("alternates"), borrowed.collect::<String>()).map_err(at)?;
        fs::create_dir_all(git.join("info")).map_err(at)?;
        let index = Self {
            against,
            around,
            git,
            undone: Vec::new(),
        };
        index.run(&["read-tree", against.base]).await?;
        Ok(index)
    }

    /// All that is in the tree and that the base's own rules do not ignore.
    pub async fn add_tree(&self) -> Result<(), StageError> {
        self.run(&["add", "--all", "--ignore-errors"])
            .await
            .map(drop)
    }

    pub async fn changes(&self) -> Result<Vec<Change>, StageError> {
        let answer = self
            .run(&[
                "diff",
                "--cached",
                "--raw",
                "-z",
                "--no-abbrev",
                "--no-renames",
                self.against.base,
            ])
            .await?;
        let mut fields = answer
            .out
            .split(|byte| *byte == 0)
            .map(|field| String::from_utf8_lossy(field).into_owned());
        let mut changes = Vec::new();
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let mut words = head.trim_start_matches(':').split(' ');
            let (mode, _, id) = (words.next(), words.next(), words.next());
            let (Some(mode), Some(id)) = (mode, id) else {
                continue;
            };
            changes.push(Change {
                is_new: mode == "000000",
                old: format!("{mode} {id}\t"),
                path,
            });
        }
        Ok(changes)
    }

    /// New files that the base's rules ignore.
    pub async fn ignored(&self) -> Result<Vec<String>, StageError> {
        let listed = [
            "ls-files",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
            "-z",
        ];
        let answer = self.run(&listed).await?;
        let paths = answer
            .out
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty());
        Ok(paths
            .map(|path| format!("{} (ignored)", String::from_utf8_lossy(path)))
            .collect())
    }

    /// The path is as in the base again, once [`Self::write_undone`] is called.
    pub fn undo(&mut self, change: &Change) {
        self.undone
            .extend(format!("{}{}\0", change.old, change.path).into_bytes());
    }

    pub async fn write_undone(&mut self) -> Result<(), StageError> {
        let undone = std::mem::take(&mut self.undone);
        if undone.is_empty() {
            return Ok(());
        }
        self.call(&["update-index", "-z", "--index-info"], Some(&undone), &[])
            .await
            .and_then(fine)
            .map(drop)
    }

    /// As text. Files whose lines are not UTF-8 are told as binary ones.
    pub async fn diff(&self) -> Result<String, StageError> {
        let diff = [
            "diff",
            "--cached",
            "--binary",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            self.against.base,
        ];
        let answer = self.run(&diff).await?;
        if let Ok(text) = String::from_utf8(answer.out) {
            return Ok(text);
        }
        self.take_for_binary().await?;
        let answer = self.run(&diff).await?;
        Ok(String::from_utf8_lossy(&answer.out).into_owned())
    }

    /// Lines added and removed; binary files count none.
    pub async fn counts(&self) -> Result<(usize, usize), StageError> {
        let answer = self
            .run(&[
                "diff",
                "--cached",
                "--numstat",
                "--no-renames",
                self.against.base,
            ])
            .await?;
        let text = String::from_utf8_lossy(&answer.out).into_owned();
        let number = |word: Option<&str>| {
            word.and_then(|word| word.parse::<usize>().ok())
                .unwrap_or_default()
        };
        let lines = text.lines().map(|line| {
            let mut words = line.split('\t');
            (number(words.next()), number(words.next()))
        });
        Ok(lines.fold((0, 0), |(added, removed), (plus, minus)| {
            (added + plus, removed + minus)
        }))
    }

    /// Whether the patch, laid on the base, gives exactly what is in the index.
    pub async fn gives_itself(&self, patch: &str) -> Result<bool, StageError> {
        let wanted = self.run(&["write-tree"]).await?.text();
        let other = [(
            "GIT_INDEX_FILE",
            self.git.join("other-index").display().to_string(),
        )];
        self.call(&["read-tree", self.against.base], None, &other)
            .await
            .and_then(fine)?;
        let applied = self
            .call(
                &["apply", "--cached", "--whitespace=nowarn", "-"],
                Some(patch.as_bytes()),
                &other,
            )
            .await?;
        if !applied.is_fine() {
            return Ok(false);
        }
        let given = self
            .call(&["write-tree"], None, &other)
            .await
            .and_then(fine)?
            .text();
        Ok(given == wanted)
    }

    /// Whether the patch can be laid on the base at all.
    pub async fn takes(&mut self, patch: &str) -> Result<bool, StageError> {
        let check = ["apply", "--cached", "--check", "--whitespace=nowarn", "-"];
        Ok(self
            .call(&check, Some(patch.as_bytes()), &[])
            .await?
            .is_fine())
    }

    /// By an attribute of our own for each path whose old or new content is not UTF-8.
    async fn take_for_binary(&self) -> Result<(), StageError> {
        let mut attributes = String::new();
        for change in self.changes().await? {
            let one = [
                "diff",
                "--cached",
                "--no-renames",
                self.against.base,
                "--",
                &format!(":(literal){}", change.path),
            ];
            let answer = self.run(&one).await?;
            if String::from_utf8(answer.out).is_err() {
                attributes += &format!("{} -diff\n", quoted(&change.path));
            }
        }
        let path = self.git.join("info/attributes");
        fs::write(&path, attributes).map_err(|error| StageError::io(path.display(), &error))
    }

    async fn run(&self, args: &[&str]) -> Result<Answer, StageError> {
        self.call(args, None, &[]).await.and_then(fine)
    }

    async fn call(
        &self,
        args: &[&str],
        stdin: Option<&[u8]>,
        env: &[(&str, String)],
    ) -> Result<Answer, StageError> {
        let text = |path: &Path| path.display().to_string();
        let mut all = vec![
            ("GIT_DIR", text(&self.git)),
            ("GIT_WORK_TREE", text(self.against.tree)),
            ("GIT_INDEX_FILE", text(&self.git.join("index"))),
            ("GIT_ATTR_SOURCE", self.against.base.to_owned()),
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
        ];
        all.extend(env.iter().cloned());
        let settings = [
            "-c",
            "core.bare=false",
            "-c",
            "core.autocrlf=false",
            "-c",
            "core.safecrlf=false",
            "-c",
            "core.fileMode=true",
            "-c",
            "core.symlinks=true",
            "-c",
            "core.excludesFile=/dev/null",
            "-c",
            "core.attributesFile=/dev/null",
        ];
        let args: Vec<&str> = settings.iter().chain(args).copied().collect();
        repository::git_call(
            GitCall {
                args: &args,
                cwd: self.against.tree,
                env: &all,
                stdin,
            },
            self.around,
        )
        .await
    }
}

fn fine(answer: Answer) -> Result<Answer, StageError> {
    match answer.is_fine() {
        true => Ok(answer),
        false => Err(StageError::Infrastructure(format!(
            "reading the agent's tree: {}",
            answer.complaint()
        ))),
    }
}

/// Of a bare repository, or of one with a tree.
fn objects_of(repository: &Path) -> PathBuf {
    let inside = repository.join(".git/objects");
    match inside.is_dir() {
        true => inside,
        false => repository.join("objects"),
    }
}

/// As an attributes file has it.
fn quoted(path: &str) -> String {
    let mut text = String::from("\"/");
    for char in path.chars() {
        match char {
            '"' | '\\' | '*' | '?' | '[' => text.extend(["\\\\", char.encode_utf8(&mut [0; 4])]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            char => text.push(char),
        }
    }
    text.push('"');
    text
}
