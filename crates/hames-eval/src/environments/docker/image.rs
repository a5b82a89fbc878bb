//! Images: which one an instance has, and the tree in it, copied out once and kept as a bare repository.
//!
//! An image is pulled if it is not there, and never built.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{cli::Docker, container::Container, workdir};
use crate::{
    digest,
    environment::{EnvironmentRecord, Prepared},
    experiment::write_atomically,
    instance::Instance,
    lock::Lock,
    repository::{git, git_text, keep_as_mirror},
    stage::StageError,
};

const PATIENCE: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Image {
    pub name: String,
    /// Its content's.
    pub id: String,
}

/// The recipe's own; else the official name as it is built locally, else as it is on the hub.
fn names(instance: &Instance) -> Vec<String> {
    if !instance.recipe.image.is_empty() {
        return vec![instance.recipe.image.clone()];
    }
    let id = instance.id.to_lowercase();
    let hub = id.replace("__", "_1776_");
    vec![
        format!("sweb.eval.x86_64.{id}:latest"),
        format!("swebench/sweb.eval.x86_64.{hub}:latest"),
    ]
}

pub(super) async fn find(instance: &Instance, docker: &Docker<'_>) -> Result<Image, StageError> {
    let names = names(instance);
    for name in &names {
        if let Some(image) = inspect(name, docker).await? {
            return Ok(image);
        }
    }
    let name = names.last().map_or("", String::as_str);
    let pulled = docker.ask(&["pull", "--quiet", name]).await?;
    if let (true, Some(image)) = (pulled.is_fine(), inspect(name, docker).await?) {
        return Ok(image);
    }
    let why = pulled.complaint();
    let is_unknown = [
        "not found",
        "manifest unknown",
        "does not exist",
        "access denied",
    ];
    if is_unknown.iter().any(|words| why.contains(words)) {
        return Err(StageError::Missing {
            what: format!("{}: the image {name} ({why})", instance.id),
            hint: "build it, or correct the task's `image`".to_owned(),
        });
    }
    let what = format!("{}: docker pull {name}: {why}", instance.id);
    Err(StageError::Infrastructure(what))
}

async fn inspect(name: &str, docker: &Docker<'_>) -> Result<Option<Image>, StageError> {
    let ask = ["image", "inspect", "--format", "{{.Id}}", name];
    let answer = docker.ask(&ask).await?;
    Ok(answer.is_fine().then(|| Image {
        name: name.to_owned(),
        id: answer.text(),
    }))
}

/// Idempotent: what an image holds does not change.
pub(super) async fn copy_out(
    instance: &Instance,
    image: &Image,
    docker: &Docker<'_>,
) -> Result<Prepared, StageError> {
    let workdir = workdir(instance);
    let name = digest::short(&[&image.id, &workdir.to_string_lossy()]);
    let folder = docker.cx.host.cache.join("images").join(name);
    let kept = folder.join("prepared.json");
    if let Some(prepared) = read(&kept) {
        return Ok(prepared);
    }
    let what = format!("the image's tree {}", folder.display());
    let lock = folder.with_extension("lock");
    let _lock = Lock::wait(&lock, &what, PATIENCE, docker.cx.cancel).await?;
    if let Some(prepared) = read(&kept) {
        return Ok(prepared);
    }
    let at = |error| StageError::io(format_args!("make {}", folder.display()), &error);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(at)?;
    }
    fs::create_dir_all(&folder).map_err(at)?;
    let container = Container::start(docker, &instance.id, &image.name, &network(false)).await?;
    let copied = look(&container.id, &workdir, &folder, docker).await;
    container.remove().await;
    let (record, tree) = copied?;
    let mirrored = from_tree(&tree, &folder.join("mirror.git"), docker).await?;
    fs::remove_dir_all(&tree).map_err(at)?;
    let prepared = Prepared {
        mirror: folder.join("mirror.git"),
        base: mirrored,
        record: EnvironmentRecord {
            image: Some(format!("{} ({})", image.name, image.id)),
            ..record
        },
        ..Prepared::default()
    };
    let text = serde_json::to_vec_pretty(&prepared).unwrap_or_default();
    write_atomically(&kept, &text).map_err(at)?;
    Ok(prepared)
}

fn read(kept: &Path) -> Option<Prepared> {
    serde_json::from_slice(&fs::read(kept).ok()?).ok()
}

pub(super) fn network(allowed: bool) -> Vec<String> {
    match allowed {
        true => Vec::new(),
        false => vec!["--network=none".to_owned()],
    }
}

/// The official images keep their environment with conda, and others have the interpreter they have.
const QUESTION: &str = "source /opt/miniconda3/bin/activate testbed 2>/dev/null; \
    python -c 'import platform; print(platform.python_implementation(), platform.python_version())'; \
    (. /etc/os-release; echo \"$PRETTY_NAME\"); python -m pip freeze 2>/dev/null";

async fn look(
    container: &str,
    workdir: &Path,
    folder: &Path,
    docker: &Docker<'_>,
) -> Result<(EnvironmentRecord, PathBuf), StageError> {
    let told = docker
        .ask(&["exec", container, "bash", "-c", QUESTION])
        .await?
        .text();
    let mut lines = told.lines().map(str::to_owned);
    let mut record = EnvironmentRecord {
        backend: "docker".to_owned(),
        interpreter: lines.next().filter(|line| !line.is_empty()),
        os: lines.next().unwrap_or_default(),
        freeze: lines.collect(),
        ..EnvironmentRecord::default()
    };
    record.freeze.sort();
    let tree = folder.join("tree");
    let from = format!("{container}:{}", workdir.display());
    docker
        .text(&["cp", "--quiet", &from, &tree.to_string_lossy()])
        .await?;
    Ok((record, tree))
}

/// What is tracked, as it is in the image; an image without a repository has all of its files.
async fn from_tree(tree: &Path, mirror: &Path, docker: &Docker<'_>) -> Result<String, StageError> {
    let cx = docker.cx;
    if !tree.join(".git").exists() {
        let init = ["init", "--quiet", "--template=", "--initial-branch=main"];
        git_text(&init, tree, cx).await?;
        git_text(&["add", "--all", "--force"], tree, cx).await?;
        git_text(
            &["commit", "--quiet", "--allow-empty", "--message", "Base"],
            tree,
            cx,
        )
        .await?;
    }
    let changed = git(&["diff", "--quiet", "HEAD"], tree, cx).await?;
    if !changed.is_fine() {
        let commit = [
            "commit",
            "--quiet",
            "--no-verify",
            "--all",
            "--message",
            "As in the image",
        ];
        git_text(&commit, tree, cx).await?;
    }
    keep_as_mirror(tree, mirror, cx).await
}
