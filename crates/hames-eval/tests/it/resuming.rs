//! What a rerun makes of a run that did not go well: the machine's failures, an emptied cache, a full disk.
//!
//! An agent's work is done once: each agent here counts how often it was asked.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use hames_eval::{
    confinement::Confinement,
    environment::{Around, Candidate, Checkout, Environment, Prepared, TestOutput, Work},
    environments::local::{Local, LocalOptions},
    experiment::TrialDir,
    instance::Instance,
    manifest,
    record::{FailureClass, InstanceResult},
    runner::Ran,
    stage::{Stage, StageError, StageState},
};

use crate::pipeline::{TASK, World, has_python};

/// This machine, on which something is wrong for the first few times.
struct Ill {
    local: Local,
    preparing: Arc<AtomicUsize>,
    testing: Arc<AtomicUsize>,
    error: StageError,
}

fn takes_one(left: &AtomicUsize) -> bool {
    let less = |left: usize| left.checked_sub(1);
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
        .is_ok()
}

impl Environment for Ill {
    fn name(&self) -> &'static str {
        "local"
    }

    fn check(&self, instance: &Instance, cx: &Around<'_>) -> Result<(), StageError> {
        self.local.check(instance, cx)
    }

    fn prepare<'a>(&'a self, instance: &'a Instance, cx: &'a Around<'a>) -> Work<'a, Prepared> {
        match takes_one(&self.preparing) {
            true => Box::pin(async { Err(self.error.clone()) }),
            false => Environment::prepare(&self.local, instance, cx),
        }
    }

    fn checkout<'a>(
        &'a self,
        instance: &'a Instance,
        prepared: &'a Prepared,
        tree: &'a std::path::Path,
        cx: &'a Around<'a>,
    ) -> Work<'a, Checkout> {
        Environment::checkout(&self.local, instance, prepared, tree, cx)
    }

    fn run_tests<'a>(
        &'a self,
        instance: &'a Instance,
        prepared: &'a Prepared,
        candidate: Candidate<'a>,
        cx: &'a Around<'a>,
    ) -> Work<'a, TestOutput> {
        match takes_one(&self.testing) {
            true => Box::pin(async { Err(self.error.clone()) }),
            false => self.local.run_tests(instance, prepared, candidate, cx),
        }
    }
}

/// Runs it with so many failures in S2 and S6.
async fn ill(world: &World, [preparing, testing]: [usize; 2], error: StageError) -> InstanceResult {
    let [preparing, testing] = [preparing, testing].map(|times| Arc::new(AtomicUsize::new(times)));
    let ill = Ill {
        local: Local::new(LocalOptions::default()),
        preparing,
        testing: testing.clone(),
        error,
    };
    let root = world.root();
    let ran = world.go_with(&root, Confinement::none(), Box::new(ill));
    let result = one(ran.await);
    assert_eq!(
        testing.load(Ordering::SeqCst),
        0,
        "it was tried as often as it could be"
    );
    result
}

fn one(mut ran: Ran) -> InstanceResult {
    assert_eq!(ran.results.len(), 1);
    ran.results.remove(0)
}

fn unwell() -> StageError {
    StageError::Infrastructure("the machine is unwell".to_owned())
}

/// The class, the stage and the words of why it came to nothing.
fn told(result: &InstanceResult) -> Option<(FailureClass, Stage, &str)> {
    let failure = result.failure.as_ref()?;
    Some((failure.class, failure.stage, failure.message.as_str()))
}

/// One that solves the task, and counts how often.
fn counting() -> World {
    let mut world = World::new("gold");
    let script = format!("echo >> {}; git apply $GOLD\n", count(&world).display());
    world.plan.agents = vec![world.agent(&script)];
    world
}

fn count(world: &World) -> std::path::PathBuf {
    world.folder.path().join("how-often")
}

fn asked(world: &World) -> usize {
    fs::read_to_string(count(world)).map_or(0, |lines| lines.lines().count())
}

fn force(world: &World, stage: Stage) {
    manifest::forget_from(&TrialDir(world.dir()), stage).unwrap();
}

#[tokio::test]
async fn req_w10_tests_that_could_not_be_run_are_tried_again_and_no_agent_is_blamed() {
    if !has_python() {
        return;
    }
    let mut world = counting();
    world.plan.retries = 2;
    let result = ill(&world, [0, 3], unwell()).await;
    let expected = (
        FailureClass::Infrastructure,
        Stage::Score,
        "the machine is unwell",
    );
    assert_eq!(told(&result), Some(expected));
    assert!(!expected.0.counts() && !result.resolved);
    assert_eq!(result.stages[&Stage::Score], StageState::Failed);
    // The next run of the same name goes on where this one stopped.
    world.run_stages();
    let result = ill(&world, [0, 2], unwell()).await;
    assert_eq!((told(&result), result.resolved), (None, true));
    assert_eq!(world.run_stages(), [Stage::Score, Stage::Record]);
    assert_eq!(asked(&world), 1);
}

#[tokio::test]
async fn req_w10_a_base_that_could_not_be_made_is_made_by_the_next_run() {
    if !has_python() {
        return;
    }
    let world = counting();
    let result = ill(&world, [1, 0], unwell()).await;
    let expected = (
        FailureClass::Infrastructure,
        Stage::Prepare,
        "the machine is unwell",
    );
    assert_eq!((told(&result), asked(&world)), (Some(expected), 0));
    world.run_stages();
    assert!(world.result().await.resolved);
    assert_eq!(world.run_stages().first(), Some(&Stage::Prepare));
}

#[tokio::test]
async fn req_w11_an_interrupted_stage_is_no_failure_and_the_rerun_goes_on_with_it() {
    if !has_python() {
        return;
    }
    let mut world = counting();
    world.plan.retries = 2;
    let result = ill(&world, [0, 1], StageError::Interrupted).await;
    let expected = (FailureClass::Interrupted, Stage::Score, "interrupted");
    assert_eq!(told(&result), Some(expected));
    world.run_stages();
    assert!(world.result().await.resolved);
    assert_eq!(world.run_stages(), [Stage::Score, Stage::Record]);
    assert_eq!(asked(&world), 1);
}

#[tokio::test]
async fn req_w11_an_emptied_cache_is_filled_again_and_costs_no_agent_its_work() {
    if !has_python() {
        return;
    }
    let world = counting();
    assert!(world.result().await.resolved);
    for (stage, again) in [(Stage::Score, 1), (Stage::Solve, 2)] {
        fs::remove_dir_all(world.host().cache).unwrap();
        force(&world, stage);
        world.run_stages();
        let result = world.result().await;
        assert_eq!((told(&result), result.resolved), (None, true), "{stage}");
        assert_eq!(world.run_stages().first(), Some(&stage));
        assert_eq!(asked(&world), again);
    }
}

#[tokio::test]
async fn req_w11_a_forced_stage_takes_those_after_it_along_and_none_before() {
    if !has_python() {
        return;
    }
    let mut world = counting();
    // The agent's tree is what S5 reads.
    world.plan.keep = true;
    let first = world.result().await;
    force(&world, Stage::Patch);
    world.run_stages();
    let again = world.result().await;
    assert_eq!(
        world.run_stages(),
        [Stage::Patch, Stage::Score, Stage::Record]
    );
    assert_eq!((again.patch, again.resolved), (first.patch, true));
    assert_eq!(asked(&world), 1);
}

#[tokio::test]
async fn req_w11_other_rules_grade_the_same_work_and_other_limits_begin_anew() {
    if !has_python() {
        return;
    }
    let mut world = counting();
    assert!(world.result().await.resolved);
    world.run_stages();
    world.plan.test_limit = 900.0;
    assert!(world.result().await.resolved);
    assert_eq!(world.run_stages(), [Stage::Score, Stage::Record]);
    // What costs nobody anything changes nothing.
    world.plan.retries = 7;
    world.plan.workers = 3;
    assert!(world.result().await.resolved);
    assert_eq!(world.run_stages(), []);
    world.plan.wall_limit = 59.0;
    assert!(world.result().await.resolved);
    assert_eq!(world.run_stages().first(), Some(&Stage::Build));
    assert_eq!(asked(&world), 2);
}

#[tokio::test]
async fn req_w15_a_trial_that_cannot_be_written_down_is_told_and_the_others_go_on() {
    if !has_python() {
        return;
    }
    let mut world = counting();
    // As where the disk is full: nothing can be kept of this one.
    let stages = world.dir().join("stages");
    fs::create_dir_all(world.dir()).unwrap();
    fs::write(&stages, "").unwrap();
    let tasks = world.plan.tasks.join("tasks");
    let ids = fs::read_dir(&tasks)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let other = ids.filter(|id| id != TASK).min().unwrap();
    world.plan.filter.ids.push(other.clone());
    let results = world.go().await.results;
    let ids: Vec<&str> = results
        .iter()
        .map(|result| result.instance_id.as_str())
        .collect();
    let at = ids.iter().position(|id| *id == TASK).unwrap();
    assert!(ids.contains(&other.as_str()));
    let (class, stage, message) = told(&results[at]).unwrap();
    assert_eq!((class, stage), (FailureClass::Infrastructure, Stage::Build));
    assert!(
        message.contains(&world.dir().display().to_string()),
        "{message}"
    );
    assert!(results[1 - at].stages.contains_key(&Stage::Score));
    // Once there is room, it is done.
    fs::remove_file(&stages).unwrap();
    let results = world.go().await.results;
    assert!(results[at].resolved, "{:?}", results[at].failure);
}
