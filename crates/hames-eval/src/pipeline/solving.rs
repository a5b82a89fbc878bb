//! S4 and S5 in a trial: what they are given of it, and what is kept of what they give.
//!
//! How an agent is run and ended, and how its work is taken, is theirs.

use std::{fs, path::PathBuf};

use super::workspace;
use crate::{
    adapter::{Adapter, Options},
    atif,
    event::Event,
    experiment::write_atomically,
    given::{Ready, Solving},
    instance::Task,
    leaks,
    patch::{self, Against},
    stage::StageError,
    stages::{
        s4_solve::{self, SolveContext, Solved},
        s5_patch::{self, Extracted, PatchContext},
    },
    trial::TrialContext,
};

pub(super) async fn solve(
    cx: &TrialContext<'_>,
    task: &Task,
    ready: &Ready,
) -> Result<(Solving, Vec<PathBuf>), StageError> {
    let (run, dir) = (cx.run, cx.dir());
    let ready = &fresh(cx, ready).await?;
    let chain: Vec<(&dyn Adapter, &Options)> = run
        .chain
        .iter()
        .map(|(adapter, options)| (adapter.as_ref(), options))
        .collect();
    let plays_gold = chain.iter().any(|(adapter, _)| adapter.plays_gold());
    let gold_patch = plays_gold.then(|| cx.instance.answers.gold_patch.clone());
    let task = Task {
        gold_patch,
        ..task.clone()
    };
    let solved = s4_solve::run(&SolveContext {
        task: &task,
        chain: &chain,
        checkout: &ready.checkout,
        place: &ready.place,
        trial: &dir,
        host: &run.host,
        wall_limit: run.plan.wall(),
        hide: &hidden(cx),
        confinement: &run.confinement,
        retries: run.plan.retries,
        limits: &run.limits,
        cancel: &run.cancel,
        on_output: &|| {
            cx.tell(&Event::AgentSpoke {
                worker: cx.worker,
                trial: cx.id(),
            })
        },
        has_work: &|| Box::pin(has_work(cx, ready)),
        renew: &|| Box::pin(renew(cx, ready)),
    })
    .await?;
    if solved.interrupted {
        return Err(StageError::Interrupted);
    }
    // Whoever removes all that is its own has made an empty patch, and is no trouble of the machine.
    let work = cx.work_dir();
    fs::create_dir_all(&work).map_err(|error| StageError::io(work.display(), &error))?;
    let peeking = leaks::peeking(&solved.reading.trajectory);
    let trajectory = export(cx, &solved)?;
    let outputs = vec![trajectory, dir.worker_log()];
    Ok((
        Solving {
            solved,
            ready: ready.clone(),
            peeking,
        },
        outputs,
    ))
}

async fn has_work(cx: &TrialContext<'_>, ready: &Ready) -> Result<bool, StageError> {
    let objects = [ready.prepared.mirror.clone(), ready.checkout.tree.clone()];
    let against = Against {
        tree: &ready.checkout.tree,
        base: &ready.checkout.head,
        objects: &objects,
        scratch: &cx.work_dir().join("s4"),
    };
    // What is noise to S5 is no work here either.
    let extracted = patch::extract(&against, &cx.run.around()).await?;
    Ok(!extracted.patch.is_empty())
}

async fn renew(cx: &TrialContext<'_>, ready: &Ready) -> Result<(), StageError> {
    workspace::lay_out(cx, &ready.prepared).await.map(drop)
}

/// ATIF, of the attempt whose work is taken.
fn export(cx: &TrialContext<'_>, solved: &Solved) -> Result<PathBuf, StageError> {
    let path = cx.dir().trajectory();
    let attempt = solved
        .taken
        .and_then(|taken| solved.attempts.get(taken))
        .or(solved.attempts.last());
    let name = attempt.map_or("none", |attempt| attempt.adapter.as_str());
    let told = atif::export(&solved.reading.trajectory, name);
    let text = serde_json::to_vec_pretty(&told)
        .map_err(|error| StageError::Infrastructure(error.to_string()))?;
    write_atomically(&path, &text).map_err(|error| StageError::io(path.display(), &error))?;
    Ok(path)
}

/// The checkout as it was prepared; a new one where an earlier agent has been in it already.
async fn fresh(cx: &TrialContext<'_>, ready: &Ready) -> Result<Ready, StageError> {
    let begun = cx.work_dir().join("begun");
    let ready = match begun.exists() || !ready.checkout.tree.exists() {
        true => {
            let (checkout, place) = workspace::lay_out(cx, &ready.prepared).await?;
            Ready {
                checkout,
                place,
                ..ready.clone()
            }
        }
        false => ready.clone(),
    };
    fs::write(&begun, "").map_err(|error| StageError::io(begun.display(), &error))?;
    Ok(ready)
}

/// Folders that hold answers.
fn hidden(cx: &TrialContext<'_>) -> Vec<PathBuf> {
    let run = cx.run;
    if !run.plan.confine {
        return Vec::new();
    }
    let cache = ["mirrors", "work"].map(|name| run.host.cache.join(name));
    let mut hidden = vec![run.plan.tasks.clone()];
    hidden.extend(cache);
    // Runs of gold lie beside this one, and what others have found.
    hidden.extend(run.experiment.around());
    hidden
}

pub(super) async fn extract(
    cx: &TrialContext<'_>,
    ready: &Ready,
    solving: &Solving,
) -> Result<(Extracted, Vec<PathBuf>), StageError> {
    let dir = cx.dir();
    let extracted = s5_patch::run(&PatchContext {
        instance_id: &cx.instance.id,
        model_name: &cx.run.plan.model_name,
        checkout: &solving.ready.checkout,
        mirror: &ready.prepared.mirror,
        printed: solving.solved.reading.diff.as_deref(),
        scratch: &cx.work_dir().join("s5"),
        trial: &dir,
        around: &cx.run.around(),
    })
    .await?;
    Ok((extracted, vec![dir.model_patch(), dir.prediction()]))
}
