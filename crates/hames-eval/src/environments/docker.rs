//! Containers as a back-end, by docker's command line: the official images, one fresh container for each test run.
//!
//! The agent works outside, in a copy of the image's tree; nothing of its own enters a container but
//! its patch.

mod cli;
mod container;
mod image;
mod test_run;

use std::path::{Path, PathBuf};

use tokio::sync::OnceCell;

use self::cli::{Docker as Cli, Owner};
use crate::{
    environment::{Around, Candidate, Checkout, Environment, Prepared, TestOutput, Work},
    instance::{Instance, Source},
    repository::{Depth, Mirrored, clone},
    stage::StageError,
};

#[derive(Debug, Default)]
pub struct Docker {
    options: DockerOptions,
    /// Who we are to the containers of this run; made, and the dead ones' removed, when first asked.
    owner: OnceCell<Owner>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DockerOptions {
    /// Written on each container.
    pub run: String,
    /// Tests may reach the network. Default false.
    pub network: bool,
}

impl Docker {
    pub fn new(options: DockerOptions) -> Self {
        Self {
            options,
            owner: OnceCell::new(),
        }
    }

    async fn cli<'a>(&'a self, cx: &'a Around<'a>) -> Result<Cli<'a>, StageError> {
        let cli = Cli::find(cx)?;
        let owner = self
            .owner
            .get_or_try_init(|| container::sign_in(&self.options.run, &cli));
        let owner = owner.await?;
        Ok(Cli {
            owner: Some(owner),
            ..cli
        })
    }

    async fn prepare(&self, instance: &Instance, cx: &Around<'_>) -> Result<Prepared, StageError> {
        self.check(instance, cx)?;
        let cli = self.cli(cx).await?;
        let image = image::find(instance, &cli).await?;
        let mut prepared = image::copy_out(instance, &image, &cli).await?;
        prepared.record.network = Some(self.options.network);
        Ok(prepared)
    }
}

/// Where the tree lies in the image.
fn workdir(instance: &Instance) -> PathBuf {
    match &instance.source {
        Source::Image { workdir } => workdir.clone(),
        Source::Git { .. } | Source::Sdist { .. } | Source::Folder { .. } => {
            PathBuf::from("/testbed")
        }
    }
}

impl Environment for Docker {
    fn name(&self) -> &'static str {
        "docker"
    }

    fn check(&self, _instance: &Instance, cx: &Around<'_>) -> Result<(), StageError> {
        Cli::find(cx).map(drop)
    }

    fn prepare<'a>(&'a self, instance: &'a Instance, cx: &'a Around<'a>) -> Work<'a, Prepared> {
        Box::pin(self.prepare(instance, cx))
    }

    fn checkout<'a>(
        &'a self,
        _instance: &'a Instance,
        prepared: &'a Prepared,
        tree: &'a Path,
        cx: &'a Around<'a>,
    ) -> Work<'a, Checkout> {
        Box::pin(async move {
            let base = Mirrored {
                repository: prepared.mirror.clone(),
                commit: prepared.base.clone(),
            };
            clone(&base, tree, Depth::Whole, cx).await?;
            Ok(Checkout {
                tree: tree.to_owned(),
                head: base.commit,
                env: cx.host.pick(&["PATH"]),
            })
        })
    }

    fn run_tests<'a>(
        &'a self,
        instance: &'a Instance,
        prepared: &'a Prepared,
        candidate: Candidate<'a>,
        cx: &'a Around<'a>,
    ) -> Work<'a, TestOutput> {
        Box::pin(async move {
            let cli = self.cli(cx).await?;
            test_run::run(instance, prepared, candidate, self.options.network, &cli).await
        })
    }
}
