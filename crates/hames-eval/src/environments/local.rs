//! This machine as a back-end: its interpreters, virtual environments from recipes, tests without a network.
//!
//! It separates, and does not wall in: whoever may not read the rest of the machine needs containers.

mod install;
mod interpreters;
mod network;
mod overlay;
mod seal;
mod test_run;
mod venv;

use std::path::{Path, PathBuf};

use tokio::sync::OnceCell;

use self::{install::Install, interpreters::Interpreter, network::Network};
use crate::{
    environment::{
        Around, Candidate, Checkout, Environment, EnvironmentRecord, Prepared, TestOutput, Work,
    },
    instance::{Instance, Source},
    repository::{Depth, Mirrored, clone},
    stage::StageError,
};

#[derive(Debug, Default)]
pub struct Local {
    options: LocalOptions,
    network: OnceCell<Network>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LocalOptions {
    /// Tests may reach the network. Default false, where the system can keep them from it.
    pub network: bool,
    /// Find survivors that hid from us as well: see [`hames_tools::Program::thorough`]. Default false.
    pub thorough: bool,
}

impl Local {
    pub fn new(options: LocalOptions) -> Self {
        Self {
            options,
            network: OnceCell::new(),
        }
    }

    async fn network(&self, python: &Path, cx: &Around<'_>) -> Result<&Network, StageError> {
        let allowed = self.options.network;
        self.network
            .get_or_try_init(|| network::probe(allowed, python, cx))
            .await
    }

    async fn prepare(&self, instance: &Instance, cx: &Around<'_>) -> Result<Prepared, StageError> {
        self.check(instance, cx)?;
        let python = interpreters::find(&instance.recipe.python, cx).await?;
        let mirrored = crate::repository::mirror(instance, &python.path, cx).await?;
        let install = install::install(instance, &mirrored, &python, cx).await?;
        let network = self.network(&python.path, cx).await?;
        Ok(Prepared {
            mirror: mirrored.repository,
            base: install.commit.clone(),
            environment: install.folder(),
            record: record(&python, &install, network),
            python: Some(python.path),
        })
    }

    async fn checkout(
        &self,
        instance: &Instance,
        prepared: &Prepared,
        tree: &Path,
        cx: &Around<'_>,
    ) -> Result<Checkout, StageError> {
        check_out(instance, prepared, tree, Depth::Whole, cx).await
    }
}

/// The tree, and beside it, as `TREE.venv`, what was installed from it.
async fn check_out(
    instance: &Instance,
    prepared: &Prepared,
    tree: &Path,
    depth: Depth,
    cx: &Around<'_>,
) -> Result<Checkout, StageError> {
    let base = Mirrored {
        repository: prepared.mirror.clone(),
        commit: prepared.base.clone(),
    };
    clone(&base, tree, depth, cx).await?;
    let env = match &prepared.environment {
        None => {
            let python = prepared.python.as_deref().unwrap_or(Path::new("python3"));
            let bin = interpreters::bin(python, cx)?;
            overlay::variables(&instance.recipe, tree, &bin, None, cx)
        }
        Some(folder) => {
            let beside = beside(tree);
            Install::read(folder)?.lay(tree, &beside)?;
            overlay::variables(
                &instance.recipe,
                tree,
                &beside.join("bin"),
                Some(&beside),
                cx,
            )
        }
    };
    Ok(Checkout {
        tree: tree.to_owned(),
        head: prepared.base.clone(),
        env,
    })
}

/// Somebody may have worked in the shared environment since it was made: then it is made again.
async fn mend(instance: &Instance, prepared: &Prepared, cx: &Around<'_>) -> Result<(), StageError> {
    let Some(folder) = &prepared.environment else {
        return Ok(());
    };
    if Install::read(folder)?.shared().is_none_or(seal::holds) {
        return Ok(());
    }
    let python = interpreters::find(&instance.recipe.python, cx).await?;
    venv::make(instance, &python, cx).await.map(drop)
}

/// Where the environment of a checkout lies.
pub(crate) fn beside(tree: &Path) -> PathBuf {
    let mut name = tree.as_os_str().to_owned();
    name.push(".venv");
    PathBuf::from(name)
}

fn record(python: &Interpreter, install: &Install, network: &Network) -> EnvironmentRecord {
    EnvironmentRecord {
        backend: "local".to_owned(),
        interpreter: Some(python.to_string()),
        freeze: install.freeze.clone(),
        os: python.platform.clone(),
        image: None,
        network: Some(network.reaches()),
    }
}

impl Environment for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn check(&self, instance: &Instance, cx: &Around<'_>) -> Result<(), StageError> {
        if let Source::Image { .. } = instance.source {
            return Err(StageError::BadInput(format!(
                "{}: its tree is in a container image only: run it with --environment docker",
                instance.id
            )));
        }
        for program in ["git", "bash"]
            .into_iter()
            .chain(instance.recipe.programs.iter().map(String::as_str))
        {
            if cx.host.find(program).is_none() {
                return Err(StageError::Missing {
                    what: format!("{}: {program}", instance.id),
                    hint: format!("install it, and see that `{program}` is on PATH"),
                });
            }
        }
        interpreters::check(&instance.recipe.python, cx).map_err(|error| match error {
            StageError::Missing { what, hint } => StageError::Missing {
                what: format!("{}: {what}", instance.id),
                hint,
            },
            other => other,
        })
    }

    fn prepare<'a>(&'a self, instance: &'a Instance, cx: &'a Around<'a>) -> Work<'a, Prepared> {
        Box::pin(self.prepare(instance, cx))
    }

    fn checkout<'a>(
        &'a self,
        instance: &'a Instance,
        prepared: &'a Prepared,
        tree: &'a Path,
        cx: &'a Around<'a>,
    ) -> Work<'a, Checkout> {
        Box::pin(self.checkout(instance, prepared, tree, cx))
    }

    fn run_tests<'a>(
        &'a self,
        instance: &'a Instance,
        prepared: &'a Prepared,
        candidate: Candidate<'a>,
        cx: &'a Around<'a>,
    ) -> Work<'a, TestOutput> {
        Box::pin(async move {
            mend(instance, prepared, cx).await?;
            let python = prepared.python.as_deref().unwrap_or(Path::new("python3"));
            let network = self.network(python, cx).await?;
            let around = test_run::Surroundings {
                network,
                thorough: self.options.thorough,
            };
            test_run::run(instance, prepared, candidate, around, cx).await
        })
    }
}
