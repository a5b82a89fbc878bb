//! Where one trial is worked on: the agent's tree, home and temp, and the folders of S3 and S6.
//!
//! It lies in the cache, away from the results: what an agent sees around its tree is its own.

use std::{fs, path::PathBuf};

use crate::{
    adapter::Place,
    environment::{Checkout, Prepared},
    given::Ready,
    leaks,
    record::{FailureClass, InstanceResult},
    removal::remove_tree,
    stage::StageError,
    stages::s2_prepare,
    trial::TrialContext,
};

pub(super) async fn prepare(cx: &TrialContext<'_>) -> Result<(Ready, Vec<PathBuf>), StageError> {
    let run = cx.run;
    for (adapter, options) in &run.chain {
        adapter.check(&run.host, options)?;
    }
    let around = run.around();
    let environment = run.environment.as_ref();
    let prepared = s2_prepare::run(environment, cx.instance, &around).await?;
    let (checkout, place) = lay_out(cx, &prepared).await?;
    let leaks = leaks::scan(cx.instance, &checkout, &place, &around).await?;
    if !leaks.found.is_empty() {
        let message = format!(
            "the agent could read answers, so it was not started: {}",
            leaks.found.join("; ")
        );
        return Err(StageError::Infrastructure(message));
    }
    Ok((
        Ready {
            prepared,
            checkout,
            place,
            leaks,
        },
        Vec::new(),
    ))
}

/// The cache may have been emptied since S2: what it shared is made again. That is no reason to do
/// again what an agent has done from it.
pub(super) async fn restore(cx: &TrialContext<'_>, ready: &mut Ready) -> Result<(), StageError> {
    let Prepared {
        mirror,
        environment,
        ..
    } = &ready.prepared;
    let is_there = |path: &PathBuf| path.exists();
    if is_there(mirror) && environment.as_ref().is_none_or(is_there) {
        return Ok(());
    }
    let run = cx.run;
    let around = run.around();
    ready.prepared = s2_prepare::run(run.environment.as_ref(), cx.instance, &around).await?;
    Ok(())
}

/// A clean checkout, and an empty home and temp beside it.
pub(super) async fn lay_out(
    cx: &TrialContext<'_>,
    prepared: &Prepared,
) -> Result<(Checkout, Place), StageError> {
    let work = cx.work_dir();
    if work.exists() {
        remove_tree(&work).map_err(|error| StageError::io(work.display(), &error))?;
    }
    let [tree, home, temp] = ["tree", "home", "tmp"].map(|name| work.join(name));
    for folder in [&home, &temp] {
        fs::create_dir_all(folder).map_err(|error| StageError::io(folder.display(), &error))?;
    }
    let around = cx.run.around();
    let checkout = cx
        .run
        .environment
        .checkout(cx.instance, prepared, &tree, &around)
        .await?;
    let env = checkout.env.clone();
    Ok((
        checkout,
        Place {
            tree,
            home,
            temp,
            env,
        },
    ))
}

/// Removes what nobody will look at any more. A folder that cannot be removed is said, no more.
pub(super) fn clear(cx: &TrialContext<'_>, result: &InstanceResult) {
    let failed = result.failure.as_ref().map(|failure| failure.class);
    let goes_on = failed.is_some_and(FailureClass::is_tried_again);
    let is_over = !goes_on && !cx.run.plan.keep;
    let work = cx.work_dir();
    if is_over
        && work.exists()
        && let Err(error) = remove_tree(&work)
    {
        cx.note(&format!("{} could not be removed: {error}", work.display()));
    }
}
