//! Containers: labelled with the run and instance they are for, and removed, those of dead runs too.
//!
//! What is run in one is not known here.

use std::{collections::BTreeSet, fs, path::PathBuf};

use hames_tools::Mark;
use tokio_util::sync::CancellationToken;

use super::cli::{Docker, Owner};
use crate::{environment::Around, lock::Lock, stage::StageError};

/// Removes what dead runs have left, and signs the run in.
pub(super) async fn sign_in(run: &str, docker: &Docker<'_>) -> Result<Owner, StageError> {
    reap(docker).await?;
    let folder = docker.cx.host.cache.join("containers");
    let name = format!("{}.lock", Mark::fresh().as_str());
    let lock = Lock::take(&folder.join(name), "a run's containers")?;
    Ok(Owner {
        run: run.to_owned(),
        lock,
    })
}

/// Containers whose run holds its lock no more. One whose lock is not in our cache is another's.
async fn reap(docker: &Docker<'_>) -> Result<(), StageError> {
    let format = "{{.ID}}\t{{.Label \"hames.lock\"}}";
    let list = [
        "ps",
        "--all",
        "--no-trunc",
        "--filter",
        "label=hames.lock",
        "--format",
        format,
    ];
    let list = docker.text(&list).await?;
    let folder = docker.cx.host.cache.join("containers");
    let mut dead = BTreeSet::new();
    for (id, lock) in list.lines().filter_map(|line| line.split_once('\t')) {
        let lock = PathBuf::from(lock);
        let is_ours = lock.parent() == Some(&folder) && lock.is_file();
        if is_ours && (dead.contains(&lock) || Lock::take(&lock, "").is_ok()) {
            docker.text(&["rm", "--force", "--volumes", id]).await?;
            dead.insert(lock);
        }
    }
    for lock in dead {
        let _ = fs::remove_file(lock);
    }
    Ok(())
}

/// One that waits to be told what to do.
pub(super) struct Container<'a> {
    pub id: String,
    docker: &'a Docker<'a>,
}

impl<'a> Container<'a> {
    /// `settings` are flags of `docker create`.
    pub async fn start(
        docker: &'a Docker<'a>,
        instance: &str,
        image: &str,
        settings: &[String],
    ) -> Result<Self, StageError> {
        let mut args = vec!["create".to_owned(), "--init".to_owned()];
        if let Some(Owner { run, lock }) = docker.owner {
            args.push(format!("--label=hames.run={run}"));
            args.push(format!("--label=hames.lock={}", lock.path().display()));
        }
        args.push(format!("--label=hames.instance={instance}"));
        args.extend(settings.iter().cloned());
        let rest = ["--entrypoint=tail", image, "-f", "/dev/null"];
        args.extend(rest.map(str::to_owned));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let id = docker.text(&args).await?;
        let container = Self { id, docker };
        match docker.text(&["start", &container.id]).await {
            Ok(_) => Ok(container),
            Err(error) => {
                container.remove().await;
                Err(error)
            }
        }
    }

    /// With all that runs in it, also where the run was interrupted. What fails here is the
    /// reaper's to do.
    pub async fn remove(self) {
        let cancel = CancellationToken::new();
        let cx = Around {
            host: self.docker.cx.host,
            cancel: &cancel,
        };
        let remove = ["rm", "--force", "--volumes", &self.id];
        let _ = self.docker.ask_within(&remove, &cx).await;
    }
}
