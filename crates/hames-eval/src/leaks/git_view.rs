//! What git holds for whoever works in a checkout, and which of it is not the past of its HEAD.
//!
//! It searches for no text: objects that should not be there are handed on with their contents.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{
    environment::Around,
    repository::{git, git_text, git_told},
    stage::StageError,
};

#[derive(Debug, Default)]
pub(super) struct GitView {
    /// Files that are as in the base.
    pub tracked: Vec<String>,
    /// Files that are not as in the base, or not in it.
    pub changed: Vec<String>,
    /// Objects that the base and its past do not lead to: name, contents.
    pub strays: Vec<(String, Vec<u8>)>,
    /// What leads to later history, in words.
    pub later: Vec<String>,
    /// Objects and refs that were looked at.
    pub seen: usize,
}

impl GitView {
    pub async fn read(tree: &Path, cx: &Around<'_>) -> Result<Self, StageError> {
        let files = git_text(&["ls-files", "-z"], tree, cx).await?;
        let tracked = files.split('\0').filter(|name| !name.is_empty());
        let mut view = Self {
            tracked: tracked.map(str::to_owned).collect(),
            ..Self::default()
        };
        view.look_at_tree(tree, cx).await?;
        // What somebody changed says nothing of the base.
        let changed: BTreeSet<&String> = view.changed.iter().collect();
        view.tracked.retain(|name| !changed.contains(name));
        view.look_at_objects(tree, cx).await?;
        view.look_at_refs(tree, cx).await?;
        view.look_at_links(tree, cx).await?;
        Ok(view)
    }

    async fn look_at_tree(&mut self, tree: &Path, cx: &Around<'_>) -> Result<(), StageError> {
        let ask = ["status", "--porcelain", "-z", "--ignored", "--no-renames"];
        let ask = [&ask[..], &["--untracked-files=all"]].concat();
        let status = git_text(&ask, tree, cx).await?;
        for entry in status.split('\0') {
            let Some(name) = entry.get(3..) else {
                continue;
            };
            // An ignored folder is told as one.
            match name.strip_suffix('/') {
                Some(folder) => self.changed.extend(below(tree, folder)),
                None => self.changed.push(name.to_owned()),
            }
        }
        Ok(())
    }

    async fn look_at_objects(&mut self, tree: &Path, cx: &Around<'_>) -> Result<(), StageError> {
        let all = [
            "cat-file",
            "--batch-all-objects",
            "--unordered",
            "--batch-check=%(objectname)",
        ];
        let all = git_text(&all, tree, cx).await?;
        let past = ["rev-list", "--objects", "--no-object-names", "HEAD"];
        let past = git_text(&past, tree, cx).await?;
        let past: BTreeSet<&str> = past.lines().collect();
        let strays: Vec<&str> = all.lines().filter(|id| !past.contains(id)).collect();
        self.seen += all.lines().count();
        if strays.is_empty() {
            return Ok(());
        }
        let list = strays.join("\n") + "\n";
        let answer = git_told(&["cat-file", "--batch"], list.as_bytes(), tree, cx).await?;
        self.strays = objects(&answer.out);
        let later = self
            .strays
            .iter()
            .filter(|(name, _)| name.starts_with("the commit "));
        self.later
            .extend(later.map(|(name, _)| format!("{name} is not in the past of HEAD")));
        Ok(())
    }

    /// Tags and branches of the past are the past's; those that lead elsewhere are not.
    async fn look_at_refs(&mut self, tree: &Path, cx: &Around<'_>) -> Result<(), StageError> {
        let refs = git_text(
            &["for-each-ref", "--format=%(refname)", "--no-merged=HEAD"],
            tree,
            cx,
        )
        .await;
        let refs = refs.unwrap_or_default();
        self.later.extend(
            refs.lines()
                .map(|name| format!("{name} leads out of the past of HEAD")),
        );
        let all = git_text(&["for-each-ref", "--format=%(refname)"], tree, cx).await?;
        self.seen += all.lines().count();
        let reflog = git(&["reflog", "--all", "--format=%H"], tree, cx)
            .await?
            .text();
        let entries: BTreeSet<&str> = reflog.lines().collect();
        for commit in entries {
            self.seen += 1;
            let ask = ["merge-base", "--is-ancestor", commit, "HEAD"];
            if !git(&ask, tree, cx).await?.is_fine() {
                self.later.push(format!(
                    "a reflog leads to {commit}, out of the past of HEAD"
                ));
            }
        }
        Ok(())
    }

    async fn look_at_links(&mut self, tree: &Path, cx: &Around<'_>) -> Result<(), StageError> {
        let ask = [
            "config",
            "--local",
            "--get-regexp",
            "^(remote|url|branch|include)",
        ];
        let config = git(&ask, tree, cx).await?.text();
        self.later.extend(
            config
                .lines()
                .map(|line| format!("git's configuration says {line}")),
        );
        let git_dir = tree.join(".git");
        for name in ["objects/info/alternates", "FETCH_HEAD", "ORIG_HEAD"] {
            if fs::metadata(git_dir.join(name)).is_ok_and(|about| about.len() > 0) {
                self.later.push(format!("there is .git/{name}"));
            }
        }
        Ok(())
    }
}

fn below(tree: &Path, folder: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(at) = open.pop() {
        let entries = fs::read_dir(tree.join(&at)).into_iter().flatten().flatten();
        for entry in entries {
            let name = format!("{at}/{}", entry.file_name().to_string_lossy());
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => open.push(name),
                false => found.push(name),
            }
        }
    }
    found
}

/// `<id> <type> <size>`, a line end, the contents, a line end.
fn objects(mut bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        let (head, rest) = bytes.split_at(end);
        let head = String::from_utf8_lossy(head);
        let mut words = head.split(' ');
        let (Some(id), Some(kind)) = (words.next(), words.next()) else {
            break;
        };
        let size = words
            .next()
            .and_then(|size| size.parse().ok())
            .unwrap_or(0_usize);
        let rest = rest.get(1..).unwrap_or_default();
        let Some((contents, rest)) = rest.split_at_checked(size) else {
            break;
        };
        found.push((format!("the {kind} {id}"), contents.to_vec()));
        bytes = rest.get(1..).unwrap_or_default();
    }
    found
}
