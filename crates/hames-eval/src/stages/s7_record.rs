//! S7: everything that is said of a trial, written whole, and entered into the results store.
//!
//! It decides nothing: what was found is put down as it was found.

use std::path::PathBuf;

use crate::{
    clock,
    experiment::write_atomically,
    given::{Given, Passed},
    instance::TestRun,
    record::{AdapterAttempt, Failure, FailureClass, InstanceResult, NOT_GRADED, REWARD},
    stage::{Stage, StageError, StageState},
    stages::s4_solve::Solved,
    test_lists::TestLists,
    trajectory::Usage,
    trial::TrialContext,
};

pub fn run(
    cx: &TrialContext<'_>,
    given: &Given,
    passed: Passed,
) -> Result<(InstanceResult, Vec<PathBuf>), StageError> {
    let result = assemble(cx, given, passed);
    let path = cx.dir().result();
    let text = serde_json::to_vec_pretty(&result)
        .map_err(|error| StageError::Infrastructure(error.to_string()))?;
    write_atomically(&path, &text).map_err(|error| StageError::io(path.display(), &error))?;
    cx.run.store.append(&result)?;
    Ok((result, vec![path]))
}

fn assemble(cx: &TrialContext<'_>, given: &Given, passed: Passed) -> InstanceResult {
    let plan = &cx.run.plan;
    let verdict = given
        .scored
        .as_ref()
        .and_then(|scored| scored.verdict.as_ref());
    let failure = passed.failure.or_else(|| failure_of(given));
    let resolved = verdict.is_some_and(|verdict| verdict.resolved) && failure.is_none();
    let mut result = InstanceResult {
        instance_id: cx.instance.id.clone(),
        run_id: plan.id.clone(),
        trial: cx.trial,
        model: plan.model_name.clone(),
        adapter: plan
            .agents
            .first()
            .map(|agent| agent.adapter.clone())
            .unwrap_or_default(),
        dataset: cx.instance.dataset.clone(),
        split: cx.instance.split.clone(),
        resolved,
        report_source: match verdict {
            None => NOT_GRADED.to_owned(),
            Some(_) => match cx.instance.tests.run {
                TestRun::Reward { .. } => REWARD.to_owned(),
                TestRun::Script { .. } | TestRun::Command { .. } | TestRun::Official => {
                    plan.grader.to_string()
                }
            },
        },
        baseline: given.baseline.clone(),
        baseline_resolved: given.baseline.as_ref().map(|_| false),
        harness_version: cx.run.host.version.clone(),
        seed: Some(plan.seed),
        stages: passed.stages,
        stage_timings: passed.seconds,
        failure,
        generated_at: clock::now(),
        ..InstanceResult::default()
    };
    result.stages.insert(Stage::Record, StageState::Done);
    add_environment(&mut result, given);
    add_tests(&mut result, given);
    add_agent(&mut result, given);
    result
}

fn add_environment(result: &mut InstanceResult, given: &Given) {
    if let Some(ready) = &given.ready {
        result.environment = ready.prepared.record.clone();
        result.image = ready.prepared.record.image.clone();
        result.leaks = ready.leaks.clone();
    }
}

fn add_tests(result: &mut InstanceResult, given: &Given) {
    let verdict = given
        .scored
        .as_ref()
        .and_then(|scored| scored.verdict.as_ref());
    let Some(verdict) = verdict else { return };
    result.suspicion = verdict.suspicion.clone();
    result.fail_to_pass = verdict.fail_to_pass.clone();
    result.pass_to_pass = verdict.pass_to_pass.clone();
    let count =
        |lists: [&TestLists; 2], of: fn(&TestLists) -> usize| lists.map(of).iter().sum::<usize>();
    let lists = [&verdict.fail_to_pass, &verdict.pass_to_pass];
    let (passing, failing) = (
        count(lists, |list| list.pass.len()),
        count(lists, |list| list.fail.len()),
    );
    if passing + failing > 0 {
        #[expect(clippy::cast_precision_loss, reason = "no suite has 2^52 tests")]
        let share = passing as f64 / (passing + failing) as f64;
        result.resolved_pct = Some(100.0 * share);
    }
}

fn add_agent(result: &mut InstanceResult, given: &Given) {
    if let Some(extracted) = &given.extracted {
        result.patch = extracted.facts.clone();
    }
    let Some(solving) = &given.solved else { return };
    let solved = &solving.solved;
    let trajectory = &solved.reading.trajectory;
    result.turns = u32::try_from(solving.agent_turns()).unwrap_or(u32::MAX);
    result.agent_version = trajectory.agent_version.clone();
    result.leaks.peeking = solving.peeking.clone();
    result.adapter_attempts = attempts(solved, result);
    let mut usage = Usage::default();
    let mut costs = Vec::new();
    for attempt in &result.adapter_attempts {
        usage += attempt.usage.unwrap_or_default();
        costs.extend(attempt.cost_usd);
    }
    result.usage = usage;
    result.cost_usd = (!costs.is_empty()).then(|| costs.iter().sum());
}

/// The attempt whose work was graded bears the verdict; the others keep what they ended with.
fn attempts(solved: &Solved, result: &InstanceResult) -> Vec<AdapterAttempt> {
    let mut attempts = solved.attempts.clone();
    let taken = solved.taken.and_then(|taken| attempts.get_mut(taken));
    if let Some(taken) = taken {
        let outcome = match &result.failure {
            None if result.resolved => "resolved",
            None => "unresolved",
            Some(failure) => match failure.class {
                FailureClass::Unresolved
                | FailureClass::PatchDoesNotApply
                | FailureClass::TestsTimedOut => "unresolved",
                FailureClass::EmptyPatch => "empty_patch",
                FailureClass::AgentFailed | FailureClass::BadInput | FailureClass::Missing => {
                    "failed"
                }
                FailureClass::Infrastructure | FailureClass::InvalidInstance => "infrastructure",
                FailureClass::Interrupted => "interrupted",
            },
        };
        outcome.clone_into(&mut taken.outcome);
    }
    attempts
}

/// What S6 found, unless the agent itself says why there is nothing to find.
fn failure_of(given: &Given) -> Option<Failure> {
    let (class, message) = given.scored.as_ref()?.failure.clone()?;
    let stage = Stage::Score;
    if class != FailureClass::EmptyPatch {
        return Some(Failure {
            class,
            stage,
            message,
        });
    }
    let solved = &given.solved.as_ref()?.solved;
    let last = solved.attempts.last();
    let said = last.and_then(|attempt| attempt.error.clone());
    let (class, stage, message) = match (last.map(|attempt| attempt.outcome.as_str()), said) {
        (Some("infrastructure"), said) => (
            FailureClass::Infrastructure,
            Stage::Solve,
            said.unwrap_or(message),
        ),
        (Some("failed"), said) => (
            FailureClass::AgentFailed,
            Stage::Solve,
            said.unwrap_or(message),
        ),
        (_, _) => (class, stage, message),
    };
    Some(Failure {
        class,
        stage,
        message,
    })
}
