//! What a recipe does to the tree before it is anybody's base: set-up commands, and installing it in place.
//!
//! Done once and kept, so that a checkout copies a few small files and runs no installer.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    interpreters::{self, Interpreter},
    overlay,
    venv::{self, Venv},
};
use crate::{
    digest,
    environment::Around,
    experiment::write_atomically,
    instance::{Instance, Recipe},
    lock::Lock,
    repository::{Depth, Mirrored, clone, commit_all, git_text, keep, slug},
    stage::StageError,
    tool::Tool,
};

const LIMIT: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Install {
    /// What checkouts begin from.
    pub commit: String,
    pub freeze: Vec<String>,
    /// None where there is no environment.
    model: Option<Model>,
}

/// The small environment that checkouts copy, with the places that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Model {
    folder: PathBuf,
    /// The environment that it lies over.
    shared: PathBuf,
    /// Where it was made, and for which tree.
    made_at: PathBuf,
    tree: PathBuf,
}

/// Idempotent; shared by all who ask with the same base, interpreter and recipe.
pub(super) async fn install(
    instance: &Instance,
    base: &Mirrored,
    python: &Interpreter,
    cx: &Around<'_>,
) -> Result<Install, StageError> {
    let recipe = &instance.recipe;
    let with_venv = recipe.editable || !recipe.deps.is_empty();
    if !with_venv && recipe.setup.is_empty() {
        return Ok(Install {
            commit: base.commit.clone(),
            freeze: Vec::new(),
            model: None,
        });
    }
    let venv = match with_venv {
        true => Some(venv::make(instance, python, cx).await?),
        false => None,
    };
    let key = key(recipe, base, python, venv.as_ref());
    let name = format!("{}-{key}", slug(&instance.repo));
    let folder = cx.host.cache.join("installs").join(&name);
    if let Some(install) = found(&folder, base, cx).await {
        return Ok(install);
    }
    let what = format!("the installed tree {}", folder.display());
    let _lock = Lock::wait(&venv::lock_of(&folder), &what, LIMIT, cx.cancel).await?;
    if let Some(install) = found(&folder, base, cx).await {
        return Ok(install);
    }
    let work = Building {
        recipe,
        base,
        python,
        venv: venv.as_ref(),
        name: &name,
        folder: &folder,
        cx,
    };
    work.build().await
}

/// One whose commit is gone with its mirror, which somebody removed, is none.
async fn found(folder: &Path, base: &Mirrored, cx: &Around<'_>) -> Option<Install> {
    let install = Install::read(folder).ok()?;
    let kind = git_text(&["cat-file", "-t", &install.commit], &base.repository, cx).await;
    kind.is_ok_and(|kind| kind == "commit").then_some(install)
}

fn key(recipe: &Recipe, base: &Mirrored, python: &Interpreter, venv: Option<&Venv>) -> String {
    let mut key = vec![
        base.repository.to_string_lossy().into_owned(),
        base.commit.clone(),
        python.to_string(),
        recipe.editable.to_string(),
    ];
    key.extend(venv.map(|venv| venv.folder.to_string_lossy().into_owned()));
    key.extend(recipe.setup.iter().cloned());
    key.extend(
        recipe
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}")),
    );
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    digest::short(&key)
}

impl Install {
    const FILE: &str = "install.json";

    pub fn read(folder: &Path) -> Result<Self, StageError> {
        let file = folder.join(Self::FILE);
        let at = || format!("read {}", file.display());
        let bytes = fs::read(&file).map_err(|error| StageError::io(at(), &error))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| StageError::Infrastructure(format!("{}: {error}", at())))
    }

    pub fn folder(&self) -> Option<PathBuf> {
        let model = self.model.as_ref()?;
        model.folder.parent().map(Path::to_owned)
    }

    pub fn shared(&self) -> Option<&Path> {
        self.model.as_ref().map(|model| &*model.shared)
    }

    /// For a tree of somebody's own, the environment at `at`.
    pub fn lay(&self, tree: &Path, at: &Path) -> Result<(), StageError> {
        let Some(model) = &self.model else {
            return Ok(());
        };
        let places = [(&*model.made_at, at), (&*model.tree, tree)];
        overlay::copy(&model.folder, at, &places)
            .map_err(|error| StageError::io(format_args!("make {}", at.display()), &error))
    }
}

struct Building<'a> {
    recipe: &'a Recipe,
    base: &'a Mirrored,
    python: &'a Interpreter,
    venv: Option<&'a Venv>,
    name: &'a str,
    folder: &'a Path,
    cx: &'a Around<'a>,
}

impl Building<'_> {
    async fn build(self) -> Result<Install, StageError> {
        let at = |error| StageError::io(format_args!("make {}", self.folder.display()), &error);
        let half = venv::lock_of(self.folder).with_extension("half");
        for old in [self.folder, &half] {
            if old.exists() {
                fs::remove_dir_all(old).map_err(at)?;
            }
        }
        fs::create_dir_all(&half).map_err(at)?;
        // Installers write resolved paths, and these are looked for later.
        let half = fs::canonicalize(&half).map_err(at)?;
        let (tree, place) = (half.join("tree"), half.join("overlay"));
        if let Some(venv) = self.venv {
            overlay::lay(&venv.folder, self.python, &place).map_err(at)?;
        }
        let commit = if self.recipe.editable || !self.recipe.setup.is_empty() {
            clone(self.base, &tree, Depth::Shallow, self.cx).await?;
            self.change(&tree, &place).await?;
            let commit = commit_all(&tree, "Set up", self.cx).await?;
            keep(&self.base.repository, &tree, self.name, self.cx).await?;
            fs::remove_dir_all(&tree).map_err(at)?;
            commit
        } else {
            self.base.commit.clone()
        };
        let install = Install {
            commit,
            freeze: self
                .venv
                .map(|venv| venv.freeze.clone())
                .unwrap_or_default(),
            model: self.venv.map(|venv| Model {
                shared: venv.folder.clone(),
                folder: self.folder.join("overlay"),
                made_at: place.clone(),
                tree: tree.clone(),
            }),
        };
        let text = serde_json::to_vec_pretty(&install).unwrap_or_default();
        write_atomically(&half.join(Install::FILE), &text).map_err(at)?;
        fs::rename(&half, self.folder).map_err(at)?;
        Ok(install)
    }

    /// The recipe's commands, then the tree itself, installed in place.
    async fn change(&self, tree: &Path, place: &Path) -> Result<(), StageError> {
        let (bin, overlay) = match self.venv {
            Some(_) => (place.join("bin"), Some(place)),
            None => (interpreters::bin(&self.python.path, self.cx)?, None),
        };
        let mut env = venv::variables(self.recipe, self.cx);
        for (name, value) in overlay::variables(self.recipe, tree, &bin, overlay, self.cx) {
            if name != "PYTHONPATH" {
                env.retain(|(old, _)| *old != name);
                env.push((name, value));
            }
        }
        let run = async |program: &Path, args: &[&str]| {
            let tool = Tool {
                program,
                args,
                cwd: tree,
                env: &env,
                stdin: None,
                limit: LIMIT,
            };
            tool.succeed(self.cx).await
        };
        let bash = self.cx.host.find("bash").unwrap_or_else(|| "bash".into());
        for command in &self.recipe.setup {
            run(&bash, &["-c", command]).await?;
        }
        if self.recipe.editable {
            let install = ["-m", "pip", "install", "--quiet", "--no-deps", "-e", "."];
            run(&place.join("bin/python"), &install).await?;
        }
        forget_bytecode(tree)
            .map_err(|error| StageError::io(format_args!("clean {}", tree.display()), &error))
    }
}

/// What an interpreter left while it installed is no part of a base.
fn forget_bytecode(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || entry.file_name() == ".git" {
            continue;
        }
        if entry.file_name() == "__pycache__" {
            fs::remove_dir_all(entry.path())?;
        } else {
            forget_bytecode(&entry.path())?;
        }
    }
    Ok(())
}
