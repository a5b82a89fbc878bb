//! A git index and a repository of our own over somebody else's files.
//!
//! Neither their configuration nor their hooks, filters or attributes are asked: the base's
//! attributes count, and nothing else. What is ignored is as the tree itself has it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Against, path::attribute_pattern};
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
}

/// One path that is other than in the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub path: Vec<u8>,
    old_mode: String,
    new_mode: String,
    /// The base's object.
    old: String,
    /// A file has become a link, or the like: a diff tells it as two changes.
    is_another_type: bool,
}

impl Change {
    pub fn is_new(&self) -> bool {
        self.old_mode == ABSENT
    }

    fn is_of_content_alone(&self) -> bool {
        self.old_mode == self.new_mode && self.old_mode != SUBMODULE
    }
}

/// A file of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tracked {
    pub path: Vec<u8>,
    object: String,
}

const ABSENT: &str = "000000";
const SUBMODULE: &str = "160000";

/// How a patch is laid on: blanks at line ends are its maker's business.
const APPLY: [&str; 4] = ["apply", "--cached", "--whitespace=nowarn", "-"];

const DIFF: [&str; 9] = [
    "diff",
    "--cached",
    "--binary",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Deaf to what a machine, or a tree, might have set.
const SETTINGS: [&str; 20] = [
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
    "-c",
    "core.protectNTFS=false",
    "-c",
    "core.protectHFS=false",
    "-c",
    "core.bigFileThreshold=1g",
];

impl<'a> Index<'a> {
    /// A repository that holds nothing but borrows the base's objects, from the first that has them.
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
        let init = ["init", "--quiet", "--bare", "--template=", &path];
        repository::git_text(&init, against.scratch, around).await?;
        let info = git.join("objects/info");
        fs::create_dir_all(&info).map_err(at)?;
        fs::create_dir_all(git.join("info")).map_err(at)?;
        let index = Self {
            against,
            around,
            git: git.clone(),
        };
        let mut complaint = "there is no repository to take it from".to_owned();
        for repository in against.objects {
            let objects = objects_of(repository).display().to_string() + "\n";
            fs::write(info.join("alternates"), objects).map_err(at)?;
            let read = index.call(&["read-tree", against.base], &[], None).await?;
            if read.is_fine() {
                return Ok(index);
            }
            complaint = read.complaint();
        }
        Err(StageError::Infrastructure(format!(
            "the base {} cannot be read: {complaint}",
            against.base
        )))
    }

    pub async fn tracked(&self) -> Result<Vec<Tracked>, StageError> {
        let listed = self.listed(&["ls-files", "--stage", "-z"]).await?;
        Ok(listed.iter().filter_map(|line| tracked(line)).collect())
    }

    /// How many bytes each of them has in the base.
    pub async fn sizes(&self, files: &[&Tracked]) -> Result<Vec<u64>, StageError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let ids: String = files
            .iter()
            .map(|file| format!("{}\n", file.object))
            .collect();
        let ask = ["cat-file", "--batch-check=%(objectsize)"];
        let answer = self.call(&ask, ids.as_bytes(), None).await.and_then(fine)?;
        let text = answer.text();
        let sizes = text.lines().map(|line| line.parse().unwrap_or_default());
        Ok(sizes.collect())
    }

    /// These are taken to be as in the base, whatever lies in the tree.
    pub async fn leave(&self, files: &[&Tracked]) -> Result<(), StageError> {
        if files.is_empty() {
            return Ok(());
        }
        let paths = files.iter().flat_map(|file| file.path.iter().chain(&[0]));
        let stdin: Vec<u8> = paths.copied().collect();
        let leave = ["update-index", "--skip-worktree", "-z", "--stdin"];
        self.call(&leave, &stdin, None)
            .await
            .and_then(fine)
            .map(drop)
    }

    /// What became of the base's own files.
    pub async fn add_tracked(&self) -> Result<(), StageError> {
        self.run(&["add", "--update"]).await.map(drop)
    }

    /// Files that the base has not, and that no rule in the tree ignores.
    pub async fn untracked(&self) -> Result<Vec<Vec<u8>>, StageError> {
        self.listed(&["ls-files", "--others", "--exclude-standard", "-z"])
            .await
    }

    /// Those that a rule ignores; a folder of nothing else as one.
    pub async fn ignored(&self) -> Result<Vec<Vec<u8>>, StageError> {
        let mut list = vec!["ls-files", "--others", "--ignored", "--exclude-standard"];
        list.extend(["--directory", "-z"]);
        self.listed(&list).await
    }

    pub async fn add(&self, paths: &[&[u8]]) -> Result<(), StageError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut stdin = paths.join(&0);
        stdin.push(0);
        let add = ["update-index", "--add", "--replace", "-z", "--stdin"];
        self.call(&add, &stdin, None).await.and_then(fine).map(drop)
    }

    pub async fn changes(&self) -> Result<Vec<Change>, StageError> {
        let mut diff = vec!["diff", "--cached", "--raw", "-z", "--no-abbrev"];
        diff.extend(["--no-renames", self.against.base]);
        let fields = self.listed(&diff).await?;
        let pairs = fields.chunks_exact(2);
        Ok(pairs
            .filter_map(|pair| change(&pair[0], &pair[1]))
            .collect())
    }

    /// These are as in the base again.
    pub async fn undo(&self, changes: &[&Change]) -> Result<(), StageError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut stdin = Vec::new();
        for change in changes {
            stdin.extend(format!("{} {}\t", change.old_mode, change.old).bytes());
            stdin.extend(&change.path);
            stdin.push(0);
        }
        let undo = ["update-index", "-z", "--index-info"];
        self.call(&undo, &stdin, None)
            .await
            .and_then(fine)
            .map(drop)
    }

    /// Those whose bytes on disk are the base's own: a base can hold lines that its own attributes
    /// would have written otherwise, and nobody has touched them.
    pub async fn untouched<'c>(
        &self,
        changes: &'c [Change],
    ) -> Result<Vec<&'c Change>, StageError> {
        let changes: Vec<&Change> = changes
            .iter()
            .filter(|change| change.is_of_content_alone())
            .collect();
        let ids: String = changes
            .iter()
            .map(|change| format!("{}\n", change.old))
            .collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let answer = self.call(&["cat-file", "--batch"], ids.as_bytes(), None);
        let answer = answer.await.and_then(fine)?;
        let mut rest = answer.out.as_slice();
        let mut untouched = Vec::new();
        for change in changes {
            let Some((content, after)) = object(rest) else {
                break;
            };
            rest = after;
            let path = super::path::on_disk(self.against.tree, &change.path);
            let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
            if is_file && fs::read(&path).is_ok_and(|bytes| bytes == content) {
                untouched.push(change);
            }
        }
        Ok(untouched)
    }

    /// As text. Files whose lines are not UTF-8 are told as binary ones.
    pub async fn diff(&self) -> Result<String, StageError> {
        let mut diff = DIFF.to_vec();
        diff.push(self.against.base);
        let bytes = match String::from_utf8(self.run(&diff).await?.out) {
            Ok(text) => return Ok(text),
            Err(error) => error.into_bytes(),
        };
        self.take_for_binary(&bytes).await?;
        let answer = self.run(&diff).await?;
        String::from_utf8(answer.out).map_err(|error| {
            StageError::Infrastructure(format!("the patch cannot be written as text: {error}"))
        })
    }

    /// Lines added and removed; binary files count none.
    pub async fn counts(&self) -> Result<(usize, usize), StageError> {
        let numstat = ["diff", "--cached", "--numstat", "--no-renames"];
        let answer = self
            .run(&[&numstat[..], &[self.against.base]].concat())
            .await?;
        let number = |word: Option<&str>| {
            word.and_then(|word| word.parse::<usize>().ok())
                .unwrap_or_default()
        };
        let text = String::from_utf8_lossy(&answer.out);
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
        let other = self.git.join("other-index");
        let base = ["read-tree", self.against.base];
        self.call(&base, &[], Some(&other)).await.and_then(fine)?;
        let applied = self.call(&APPLY, patch.as_bytes(), Some(&other)).await?;
        if !applied.is_fine() {
            return Ok(false);
        }
        let given = self.call(&["write-tree"], &[], Some(&other)).await;
        Ok(given.and_then(fine)?.text() == wanted)
    }

    /// Whether the patch can be laid on the base at all.
    pub async fn takes(&self, patch: &str) -> Result<bool, StageError> {
        let check = [&APPLY[..], &["--check"]].concat();
        Ok(self.call(&check, patch.as_bytes(), None).await?.is_fine())
    }

    /// By an attribute of our own for each path whose part of the patch is not UTF-8.
    async fn take_for_binary(&self, patch: &[u8]) -> Result<(), StageError> {
        let parts = parts_of(patch);
        let changes = self.changes().await?;
        let owners = changes.iter().flat_map(|change| {
            let parts = if change.is_another_type { 2 } else { 1 };
            std::iter::repeat_n(change, parts)
        });
        let are_known = owners.clone().count() == parts.len();
        let mut attributes = String::new();
        for (at, change) in owners.enumerate() {
            let part = parts.get(at).copied().unwrap_or_default();
            if !are_known || std::str::from_utf8(part).is_err() {
                attributes += &format!("{} -diff\n", attribute_pattern(&change.path));
            }
        }
        let path = self.git.join("info/attributes");
        fs::write(&path, attributes).map_err(|error| StageError::io(path.display(), &error))
    }

    /// What git lists, each ended by a zero byte.
    async fn listed(&self, args: &[&str]) -> Result<Vec<Vec<u8>>, StageError> {
        let answer = self.run(args).await?;
        let fields = answer.out.split(|byte| *byte == 0);
        Ok(fields
            .filter(|field| !field.is_empty())
            .map(<[u8]>::to_vec)
            .collect())
    }

    async fn run(&self, args: &[&str]) -> Result<Answer, StageError> {
        self.call(args, &[], None).await.and_then(fine)
    }

    async fn call(
        &self,
        args: &[&str],
        stdin: &[u8],
        index: Option<&Path>,
    ) -> Result<Answer, StageError> {
        let text = |path: &Path| path.display().to_string();
        let own = self.git.join("index");
        let env = [
            ("GIT_DIR", text(&self.git)),
            ("GIT_WORK_TREE", text(self.against.tree)),
            ("GIT_INDEX_FILE", text(index.unwrap_or(&own))),
            ("GIT_ATTR_SOURCE", self.against.base.to_owned()),
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
        ];
        let args: Vec<&str> = SETTINGS.iter().chain(args).copied().collect();
        let call = GitCall {
            args: &args,
            cwd: self.against.tree,
            env: &env,
            stdin: Some(stdin),
        };
        repository::git_call(call, self.around).await
    }
}

fn fine(answer: Answer) -> Result<Answer, StageError> {
    if answer.is_fine() {
        return Ok(answer);
    }
    let what = format!("reading the agent's tree: {}", answer.complaint());
    Err(StageError::Infrastructure(what))
}

/// As `ls-files --stage` has it: mode, object and stage, and after a tab the path.
fn tracked(line: &[u8]) -> Option<Tracked> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(line.get(..tab)?).ok()?;
    Some(Tracked {
        path: line.get(tab + 1..)?.to_vec(),
        object: head.split(' ').nth(1)?.to_owned(),
    })
}

/// As `diff --raw` has it: `:100644 100755 OLD NEW M`.
fn change(head: &[u8], path: &[u8]) -> Option<Change> {
    let head = std::str::from_utf8(head).ok()?.strip_prefix(':')?;
    let mut words = head.split(' ');
    let (old_mode, new_mode) = (words.next()?, words.next()?);
    let (old, _new, status) = (words.next()?, words.next()?, words.next()?);
    Some(Change {
        path: path.to_vec(),
        old_mode: old_mode.to_owned(),
        new_mode: new_mode.to_owned(),
        old: old.to_owned(),
        is_another_type: status.starts_with('T'),
    })
}

/// The first object of what `cat-file --batch` prints, and what follows it.
fn object(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let size: usize = head.rsplit_once(' ')?.1.parse().ok()?;
    let from = end + 1;
    let content = bytes.get(from..from + size)?;
    Some((content, bytes.get(from + size + 1..)?))
}

/// A patch's parts, each from its `diff --git` on: no other line of a patch begins like that.
fn parts_of(patch: &[u8]) -> Vec<&[u8]> {
    const HEAD: &[u8] = b"diff --git ";
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(HEAD) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    let parts = starts.iter().zip(ends);
    parts
        .filter_map(|(from, to)| patch.get(*from..to))
        .collect()
}

/// Of a bare repository, or of one with a tree.
fn objects_of(repository: &Path) -> PathBuf {
    let inside = repository.join(".git/objects");
    match inside.is_dir() {
        true => inside,
        false => repository.join("objects"),
    }
}
