//! The environment that instances share: a recipe's dependencies for one interpreter, whole or not there.
//!
//! The tree itself is never installed in it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{interpreters::Interpreter, overlay, seal};
use crate::{
    digest,
    environment::Around,
    experiment::write_atomically,
    instance::{Instance, Recipe},
    lock::Lock,
    repository::slug,
    stage::StageError,
    tool::Tool,
};

const LIMIT: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Venv {
    pub folder: PathBuf,
    pub freeze: Vec<String>,
}

/// Made once for a repository, version, interpreter and list of dependencies.
pub(super) async fn make(
    instance: &Instance,
    python: &Interpreter,
    cx: &Around<'_>,
) -> Result<Venv, StageError> {
    let recipe = &instance.recipe;
    let mut key = vec![
        python.path.to_string_lossy().into_owned(),
        python.version.clone(),
    ];
    key.extend(recipe.deps.iter().cloned());
    key.extend(
        recipe
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}")),
    );
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    let (slug, key) = (slug(&instance.repo), digest::short(&key));
    let name = format!("{slug}-{}-py{}-{key}", instance.version, python.version);
    let folder = cx
        .host
        .cache
        .join("environments")
        .join(name.replace('/', "_"));
    if let Some(venv) = read(&folder) {
        return Ok(venv);
    }
    let what = format!("the environment {}", folder.display());
    let _lock = Lock::wait(&lock_of(&folder), &what, LIMIT, cx.cancel).await?;
    if let Some(venv) = read(&folder) {
        return Ok(venv);
    }
    build(recipe, python, &folder, cx).await
}

/// Beside a folder of the cache.
pub(super) fn lock_of(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// One that is whole, and as it was made.
fn read(folder: &Path) -> Option<Venv> {
    let text = fs::read(folder.join("environment.json")).ok()?;
    let venv = serde_json::from_slice(&text).ok()?;
    seal::holds(folder).then_some(venv)
}

async fn build(
    recipe: &Recipe,
    python: &Interpreter,
    folder: &Path,
    cx: &Around<'_>,
) -> Result<Venv, StageError> {
    let at = |error| StageError::io(format_args!("make {}", folder.display()), &error);
    let half = lock_of(folder).with_extension("half");
    for old in [folder, &half] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(at)?;
        }
    }
    fs::create_dir_all(&half).map_err(at)?;
    let env = variables(recipe, cx);
    let run = async |program: &Path, args: &[&str]| {
        let tool = Tool {
            program,
            args,
            cwd: &half,
            env: &env,
            stdin: None,
            limit: LIMIT,
        };
        tool.succeed(cx).await
    };
    run(&python.path, &["-m", "venv", "."]).await?;
    let own = half.join("bin/python");
    if is_old(python) {
        // The pip that came with it takes no wheel of today.
        run(
            &own,
            &["-m", "pip", "install", "--quiet", "--upgrade", "pip"],
        )
        .await?;
    }
    if !recipe.deps.is_empty() {
        let deps = recipe.deps.iter().map(String::as_str);
        let args: Vec<&str> = ["-m", "pip", "install", "--quiet", "--"]
            .into_iter()
            .chain(deps)
            .collect();
        run(&own, &args).await?;
    }
    let frozen = run(&own, &["-m", "pip", "freeze"]).await?.text();
    let mut freeze: Vec<String> = frozen.lines().map(str::to_owned).collect();
    freeze.sort();
    overlay::replace_in_scripts(&half.join("bin"), &half, folder).map_err(at)?;
    let venv = Venv {
        folder: folder.to_owned(),
        freeze,
    };
    let text = serde_json::to_vec_pretty(&venv).unwrap_or_default();
    seal::set(&half).map_err(at)?;
    write_atomically(&half.join("environment.json"), &text).map_err(at)?;
    fs::rename(&half, folder).map_err(at)?;
    Ok(venv)
}

fn is_old(python: &Interpreter) -> bool {
    ["3.4", "3.5", "3.6", "3.7"].contains(&python.minor())
}

/// For installing: the way to the registry, and the recipe's own, but for where tests find the tree.
pub(super) fn variables(recipe: &Recipe, cx: &Around<'_>) -> Vec<(String, String)> {
    let mut env = cx.host.registry_env();
    env.push(("PIP_DISABLE_PIP_VERSION_CHECK".to_owned(), "1".to_owned()));
    let own = recipe.env.iter().filter(|(name, _)| *name != "PYTHONPATH");
    env.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    env
}
