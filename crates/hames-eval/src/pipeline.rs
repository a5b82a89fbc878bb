//! One trial of one instance, from S1 to S7: each stage runs, is skipped because it is done, or fails.
//!
//! What a stage does is in `stages/`; S7 is reached whatever happened before it, and S5 whatever
//! became of S4.

mod course;
mod solving;
mod workspace;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::course::{Course, Stopped};
pub use self::{course::Passed, solving::Solving, workspace::Ready};
use crate::{
    adapter::{Adapter, Options},
    confinement::Confinement,
    environment::{Around, Environment},
    event::{Observer, TrialId},
    experiment::{Experiment, TrialDir},
    host::Host,
    instance::{Instance, Task},
    plan::RunPlan,
    rate_limit::RateLimits,
    record::{Baseline, FailureClass, InstanceResult},
    stage::{Stage, StageError},
    stages::{
        s1_build, s3_baseline,
        s5_patch::Extracted,
        s6_score::{self, Scored},
        s7_record,
    },
    store::Store,
};

/// What all trials of a run share.
pub struct RunContext {
    pub plan: RunPlan,
    pub experiment: Experiment,
    pub host: Host,
    pub environment: Box<dyn Environment>,
    /// In the order of the plan.
    pub chain: Vec<(Box<dyn Adapter>, Options)>,
    pub limits: RateLimits,
    pub confinement: Confinement,
    pub observer: Arc<dyn Observer>,
    pub cancel: CancellationToken,
    pub store: Store,
}

pub struct TrialContext<'a> {
    pub run: &'a RunContext,
    pub instance: &'a Instance,
    pub trial: u32,
    pub worker: usize,
}

/// What the stages have given so far.
#[derive(Default)]
pub struct Given {
    pub task: Option<Task>,
    pub ready: Option<Ready>,
    pub baseline: Option<Baseline>,
    pub solved: Option<Solving>,
    pub extracted: Option<Extracted>,
    pub scored: Option<Scored>,
}

impl RunContext {
    pub fn around(&self) -> Around<'_> {
        Around {
            host: &self.host,
            cancel: &self.cancel,
        }
    }
}

impl TrialContext<'_> {
    pub fn id(&self) -> TrialId {
        TrialId {
            instance: self.instance.id.clone(),
            trial: self.trial,
        }
    }

    pub fn dir(&self) -> TrialDir {
        self.run.experiment.trial(&self.instance.id, self.trial)
    }
}

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
    workspace::clear(cx, &given);
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
