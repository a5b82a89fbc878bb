//! One trial of one instance, from S1 to S7: each stage runs, is skipped because it is done, or fails.
//!
//! What a stage does is in `stages/`; S7 is reached whatever happened before it, and S5 whatever
//! became of S4.

mod course;
mod solving;
mod workspace;

use self::course::{Course, Stopped};
use crate::{
    given::Given,
    record::{FailureClass, InstanceResult},
    stage::{Stage, StageError},
    stages::{s1_build, s3_baseline, s6_score, s7_record},
    trial::TrialContext,
};

/// The trial's result, which is on disk by then. The error says that it could not be written, or
/// that somebody else is at it.
pub async fn run_trial(cx: &TrialContext<'_>) -> Result<InstanceResult, StageError> {
    let mut course = Course::open(cx)?;
    if let Some(result) = course.result() {
        return Ok(result);
    }
    let mut given = Given::default();
    let stopped = run_stages(cx, &mut course, &mut given).await.err();
    let result = course.record(&given, stopped, s7_record::run)?;
    workspace::clear(cx, &result);
    Ok(result)
}

async fn run_stages(
    cx: &TrialContext<'_>,
    course: &mut Course<'_>,
    given: &mut Given,
) -> Result<(), Stopped> {
    let plan = &cx.run.plan;

    let build = async { s1_build::run(cx.instance, plan.telling, &cx.dir()) };
    let task = given.task.insert(course.stage(Stage::Build, build).await?);

    let prepare = workspace::prepare(cx);
    let ready = given
        .ready
        .insert(course.stage(Stage::Prepare, prepare).await?);
    let restored = workspace::restore(cx, ready).await;
    restored.map_err(|error| Stopped::by(Stage::Prepare, &error))?;

    if plan.baseline {
        let baseline = s3_baseline::run(cx, &ready.prepared);
        let found = course.stage(Stage::Baseline, baseline).await?;
        if !given.baseline.insert(found).valid {
            return Err(Stopped::at(
                Stage::Baseline,
                FailureClass::InvalidInstance,
                s3_baseline::REFUSAL,
            ));
        }
    }

    let solve = solving::solve(cx, task, ready);
    let solved = given
        .solved
        .insert(course.stage(Stage::Solve, solve).await?);

    let patch = solving::extract(cx, ready, solved);
    let extracted = given
        .extracted
        .insert(course.stage(Stage::Patch, patch).await?);

    let score = s6_score::run(cx, &ready.prepared, extracted);
    given.scored = Some(course.stage(Stage::Score, score).await?);
    Ok(())
}
