//! The mirror of a source: a bare repository in the cache, made once, whoever asks first.
//!
//! Nothing that an agent sees leads to it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    folder,
    git::{git, git_text},
    sdist,
};
use crate::{
    digest,
    environment::Around,
    instance::{Instance, Source},
    lock::Lock,
    stage::StageError,
};

/// How long a mirror that somebody else makes is waited for.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A commit, and the bare repository that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrored {
    pub repository: PathBuf,
    pub commit: String,
}

/// The base commit of the instance's source; `python` is whose pip fetches a source archive.
///
/// # Errors
/// [`StageError::BadInput`] where the source has no such commit, or is an image's.
pub async fn mirror(
    instance: &Instance,
    python: &Path,
    cx: &Around<'_>,
) -> Result<Mirrored, StageError> {
    match &instance.source {
        Source::Git { url, commit } => {
            let github = || format!("https://github.com/{}.git", instance.repo);
            let address = url.clone().unwrap_or_else(github);
            from_git(&instance.repo, &address, commit, cx).await
        }
        Source::Sdist {
            project, sha256, ..
        } => {
            let place = place(project, sha256, cx);
            once(&place, cx, async |half: &Path| {
                let unpacked = sdist::fetch(&instance.source, half, python, cx).await?;
                import(&unpacked, &half.join("new.git"), cx).await
            })
            .await
        }
        Source::Folder { path } => {
            let contents = folder::contents(path)?;
            once(
                &place(&instance.repo, &contents, cx),
                cx,
                async |half: &Path| import(path, &half.join("new.git"), cx).await,
            )
            .await
        }
        Source::Image { .. } => Err(StageError::BadInput(format!(
            "{}: its tree is in a container image only: run it with --environment docker",
            instance.id
        ))),
    }
}

fn place(name: &str, key: &str, cx: &Around<'_>) -> PathBuf {
    let (slug, key) = (folder::slug(name), digest::short(&[key]));
    cx.host
        .cache
        .join("mirrors")
        .join(format!("{slug}-{key}.git"))
}

/// Makes the repository at `place` unless it is there; it comes there whole or not at all.
async fn once(
    place: &Path,
    cx: &Around<'_>,
    make: impl AsyncFnOnce(&Path) -> Result<(), StageError>,
) -> Result<Mirrored, StageError> {
    if !place.exists() {
        let _lock = lock(place, cx).await?;
        if !place.exists() {
            let half = half(place)?;
            make(half.path()).await?;
            fs::rename(half.path().join("new.git"), place).map_err(|error| {
                StageError::io(format_args!("make {}", place.display()), &error)
            })?;
        }
    }
    let commit = git_text(&["rev-parse", "refs/heads/main"], place, cx).await?;
    Ok(Mirrored {
        repository: place.to_owned(),
        commit,
    })
}

async fn lock(place: &Path, cx: &Around<'_>) -> Result<Lock, StageError> {
    let what = format!("the mirror {}", place.display());
    Lock::wait(&place.with_extension("lock"), &what, PATIENCE, cx.cancel).await
}

/// Where it is made; for whoever holds its lock. What one who was killed had made until then goes.
fn half(place: &Path) -> Result<tempfile::TempDir, StageError> {
    let half = place.with_extension("half");
    let folder = place.parent().unwrap_or(Path::new("."));
    let make = || {
        fs::create_dir_all(folder)?;
        if half.exists() {
            fs::remove_dir_all(&half)?;
        }
        let name = half.file_name().unwrap_or_default();
        let mut builder = tempfile::Builder::new();
        builder.prefix(name).rand_bytes(0).tempdir_in(folder)
    };
    make().map_err(|error| StageError::io(format_args!("make {}", half.display()), &error))
}

/// Everything in a folder as one commit of a new bare repository.
async fn import(from: &Path, bare: &Path, cx: &Around<'_>) -> Result<(), StageError> {
    init_bare(bare, cx).await?;
    let git_dir = format!("--git-dir={}", bare.display());
    let work_tree = format!("--work-tree={}", from.display());
    let place = [
        git_dir.as_str(),
        work_tree.as_str(),
        "-c",
        "core.bare=false",
    ];
    for step in [
        &["add", "--all", "--force"][..],
        &[
            "commit",
            "--quiet",
            "--allow-empty",
            "--no-verify",
            "--message",
            "Base",
        ],
    ] {
        git_text(&[&place, step].concat(), from, cx).await?;
    }
    git_text(&["repack", "-adq"], bare, cx).await?;
    for left in ["index", "COMMIT_EDITMSG"] {
        let _ = fs::remove_file(bare.join(left));
    }
    Ok(())
}

async fn init_bare(bare: &Path, cx: &Around<'_>) -> Result<(), StageError> {
    let folder = bare.parent().unwrap_or(Path::new("."));
    let path = bare.to_string_lossy();
    let init = [
        "init",
        "--quiet",
        "--bare",
        "--template=",
        "--initial-branch=main",
        &path,
    ];
    git_text(&init, folder, cx).await?;
    allow(bare, cx).await
}

/// Commits that no branch leads to can be fetched from it.
async fn allow(bare: &Path, cx: &Around<'_>) -> Result<(), StageError> {
    let setting = ["config", "uploadpack.allowAnySHA1InWant", "true"];
    git_text(&setting, bare, cx).await.map(drop)
}

async fn from_git(
    repo: &str,
    address: &str,
    commit: &str,
    cx: &Around<'_>,
) -> Result<Mirrored, StageError> {
    let place = place(repo, address, cx);
    if !place.exists() {
        let _lock = lock(&place, cx).await?;
        if !place.exists() {
            copy(address, &place, cx).await?;
        }
    }
    let found = |commit| Mirrored {
        repository: place.clone(),
        commit,
    };
    if let Some(commit) = resolve(&place, commit, cx).await? {
        return Ok(found(commit));
    }
    let _lock = lock(&place, cx).await?;
    let everything = ["fetch", "--quiet", "--prune", "origin"];
    git_text(&everything, &place, cx).await?;
    // A commit of a pull request, which no branch leads to.
    if resolve(&place, commit, cx).await?.is_none() {
        git(&["fetch", "--quiet", "origin", commit], &place, cx).await?;
    }
    let commit = resolve(&place, commit, cx).await?.ok_or_else(|| {
        StageError::BadInput(format!(
            "{address} has no commit {commit:?}: correct `base_commit`"
        ))
    })?;
    Ok(found(commit))
}

async fn copy(address: &str, place: &Path, cx: &Around<'_>) -> Result<(), StageError> {
    let is_path = address.starts_with(['/', '.']);
    if is_path && !Path::new(address).exists() {
        let what = format!("there is no repository {address}: correct the source of the task");
        return Err(StageError::BadInput(what));
    }
    let half = half(place)?;
    let new = half.path().join("new.git");
    let clone = ["clone", "--quiet", "--mirror", "--template=", "--", address];
    let path = new.to_string_lossy();
    git_text(&[&clone[..], &[&*path]].concat(), half.path(), cx).await?;
    allow(&new, cx).await?;
    // What was set up on a base lies under a name of its own, which pruning has to leave alone.
    let heads = [
        "config",
        "--replace-all",
        "remote.origin.fetch",
        "+refs/heads/*:refs/heads/*",
    ];
    git_text(&heads, &new, cx).await?;
    let tags = [
        "config",
        "--add",
        "remote.origin.fetch",
        "+refs/tags/*:refs/tags/*",
    ];
    git_text(&tags, &new, cx).await?;
    fs::rename(&new, place)
        .map_err(|error| StageError::io(format_args!("make {}", place.display()), &error))
}

/// The full id of a commit, if the repository has it.
async fn resolve(
    repository: &Path,
    commit: &str,
    cx: &Around<'_>,
) -> Result<Option<String>, StageError> {
    if commit.is_empty() {
        return Ok(None);
    }
    let name = format!("{commit}^{{commit}}");
    let ask = [
        "rev-parse",
        "--quiet",
        "--verify",
        "--end-of-options",
        &name,
    ];
    let answer = git(&ask, repository, cx).await?;
    Ok(answer.is_fine().then(|| answer.text()))
}

/// Keeps a commit of `tree` in the mirror, under a name that no fetch touches.
pub async fn keep(
    mirror: &Path,
    tree: &Path,
    name: &str,
    cx: &Around<'_>,
) -> Result<(), StageError> {
    let from = tree.to_string_lossy();
    let to = format!("+HEAD:refs/bases/{name}");
    let fetch = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        &from,
        &to,
    ];
    git_text(&fetch, mirror, cx).await.map(drop)
}

/// A new bare repository with HEAD of `tree`, and what came before it. Returns its commit.
pub async fn keep_as_mirror(
    tree: &Path,
    bare: &Path,
    cx: &Around<'_>,
) -> Result<String, StageError> {
    init_bare(bare, cx).await?;
    let from = tree.to_string_lossy();
    let head = "+HEAD:refs/heads/main";
    let fetch = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        &from,
        head,
    ];
    git_text(&fetch, bare, cx).await?;
    git_text(&["rev-parse", "refs/heads/main"], bare, cx).await
}
