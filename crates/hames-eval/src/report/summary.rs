//! The figures of one run, before any face is given to them.
//!
//! A trial whose failure is not the agent's is no part of a score; it is listed apart, always.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use serde_json::json;

use super::{Run, Trial};
use crate::{
    record::{FailureClass, InstanceResult, NOT_GRADED},
    stage::Stage,
    statistics::{Estimate, PassAt, Tally, pass_at, quantile, wilson},
    trajectory::Usage,
};

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Summary {
    /// Mean over instances of the share of their trials that resolved, Wilson's interval over the
    /// instances.
    pub resolved: Option<Estimate>,
    /// In the denominator.
    pub instances: usize,
    /// Resolved by at least one trial.
    pub solved_instances: usize,
    pub trials: usize,
    pub counted: usize,
    pub resolved_trials: usize,
    pub pass_at: Vec<PassAt>,
    /// Of all trials, those left out included. None if no trial says.
    pub cost: Option<f64>,
    pub cost_known: usize,
    pub cost_per_solved: Option<f64>,
    pub usage: Usage,
    pub turns: u64,
    pub seconds: f64,
    pub median_seconds: Option<f64>,
    pub slowest_seconds: Option<f64>,
    pub stages: BTreeMap<Stage, StageTime>,
    pub failures: BTreeMap<FailureClass, usize>,
    pub repositories: BTreeMap<String, Repository>,
    pub left_out: Vec<LeftOut>,
    pub unfinished: Vec<String>,
    /// Trial, and what was found where the agent could read.
    pub leaks: Vec<(String, String)>,
    /// Trial, and the step that looked for answers.
    pub peeking: Vec<(String, String)>,
    /// Back-end, interpreter, system, image or not; and how many trials ran in it.
    #[serde(serialize_with = "listed")]
    pub environments: BTreeMap<[String; 3], usize>,
    pub killed: usize,
    pub rescued: usize,
    pub warnings: Vec<String>,
}

/// As JSON has no such keys.
fn listed<S: Serializer>(
    environments: &BTreeMap<[String; 3], usize>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let entry = |([back_end, interpreter, system], trials): (&[String; 3], &usize)| json!({"back_end": back_end, "interpreter": interpreter, "system": system, "trials": trials});
    to.collect_seq(environments.iter().map(entry))
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StageTime {
    pub trials: usize,
    pub total: f64,
    pub median: f64,
    pub longest: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Repository {
    pub instances: usize,
    pub trials: u32,
    pub resolved: u32,
    pub share: Option<Estimate>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub trial: String,
    /// The failure's class, or what the calibration says.
    pub class: String,
    pub stage: String,
    pub message: String,
}

/// What a trial is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Resolved,
    Unresolved,
    LeftOut,
    Unfinished,
}

impl Outcome {
    pub fn of(run: &Run, trial: &Trial) -> Self {
        match &trial.result {
            None => Self::Unfinished,
            Some(result) if !result.counts() || !run.is_valid(&trial.instance) => Self::LeftOut,
            Some(result) if result.resolved => Self::Resolved,
            Some(_) => Self::Unresolved,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Unresolved => "unresolved",
            Self::LeftOut => "left out",
            Self::Unfinished => "unfinished",
        }
    }

    pub fn counts(self) -> bool {
        match self {
            Self::Resolved | Self::Unresolved => true,
            Self::LeftOut | Self::Unfinished => false,
        }
    }
}

/// Of each instance, the trials that count.
pub fn tallies(run: &Run) -> BTreeMap<&str, Tally> {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for trial in &run.trials {
        let outcome = Outcome::of(run, trial);
        if outcome.counts() {
            let tally = tallies.entry(&trial.instance).or_default();
            tally.trials += 1;
            tally.resolved += u32::from(outcome == Outcome::Resolved);
        }
    }
    tallies
}

impl Summary {
    pub fn of(run: &Run, seed: u64) -> Self {
        let mut summary = Self {
            trials: run.trials.len(),
            ..Self::default()
        };
        for trial in &run.trials {
            summary.add(run, trial);
        }
        summary.score(&tallies(run), seed);
        summary.repositories = repositories(run);
        summary.time(run);
        summary.warn(run);
        summary
    }

    fn add(&mut self, run: &Run, trial: &Trial) {
        let name = trial.name();
        let outcome = Outcome::of(run, trial);
        let Some(result) = &trial.result else {
            self.unfinished.push(name);
            return;
        };
        match outcome {
            Outcome::Resolved => self.resolved_trials += 1,
            Outcome::LeftOut => self.left_out.push(left_out(run, &name, result)),
            Outcome::Unresolved | Outcome::Unfinished => {}
        }
        self.counted += usize::from(outcome.counts());
        if let Some(failure) = &result.failure {
            *self.failures.entry(failure.class).or_default() += 1;
        }
        if let Some(cost) = result.cost_usd {
            *self.cost.get_or_insert(0.0) += cost;
            self.cost_known += 1;
        }
        self.usage += result.usage;
        self.turns += u64::from(result.turns);
        let named = |text: &String| (name.clone(), text.clone());
        self.leaks.extend(result.leaks.found.iter().map(named));
        self.peeking.extend(result.leaks.peeking.iter().map(named));
        for attempt in &result.adapter_attempts {
            self.killed += usize::from(attempt.killed);
            self.rescued += usize::from(attempt.rescued);
        }
        let environment = &result.environment;
        if !environment.backend.is_empty() {
            let or_none = |text: &Option<String>| text.clone().unwrap_or_default();
            let key = [
                environment.backend.clone(),
                or_none(&environment.interpreter),
                environment.os.clone(),
            ];
            *self.environments.entry(key).or_default() += 1;
        }
    }

    fn score(&mut self, tallies: &BTreeMap<&str, Tally>, seed: u64) {
        let held: Vec<Tally> = tallies.values().copied().collect();
        let shares: Vec<f64> = held.iter().filter_map(|tally| tally.share()).collect();
        self.instances = shares.len();
        self.solved_instances = held.iter().filter(|tally| tally.resolved > 0).count();
        self.resolved = mean_share(&shares);
        let most = held.iter().map(|tally| tally.trials).max().unwrap_or(0);
        let ks = (1..=most).filter(|k| *k <= 10 || k.is_power_of_two());
        self.pass_at = ks.filter_map(|k| pass_at(&held, k, seed)).collect();
        self.cost_per_solved = match (self.cost, self.resolved_trials) {
            (Some(cost), solved @ 1..) => Some(cost / as_f64(solved)),
            (Some(_), 0) | (None, _) => None,
        };
    }

    fn time(&mut self, run: &Run) {
        let results = run.trials.iter().filter_map(|trial| trial.result.as_ref());
        let walls: Vec<f64> = results.map(InstanceResult::seconds).collect();
        self.seconds = walls.iter().sum();
        self.median_seconds = quantile(&walls, 0.5);
        self.slowest_seconds = quantile(&walls, 1.0);
        for stage in Stage::ALL {
            let of = |trial: &Trial| trial.stages().get(&stage).and_then(|(_, seconds)| *seconds);
            let times: Vec<f64> = run.trials.iter().filter_map(of).collect();
            if let (Some(median), Some(longest)) = (quantile(&times, 0.5), quantile(&times, 1.0)) {
                let time = StageTime {
                    trials: times.len(),
                    total: times.iter().sum(),
                    median,
                    longest,
                };
                self.stages.insert(stage, time);
            }
        }
    }

    fn warn(&mut self, run: &Run) {
        let backends: BTreeSet<&String> = self.environments.keys().map(|[one, _, _]| one).collect();
        if backends.len() > 1 {
            let names: Vec<&str> = backends.iter().map(|name| name.as_str()).collect();
            self.warnings.push(format!(
                "back-ends are mixed in one score ({}): their results are not comparable",
                names.join(", ")
            ));
        }
        let graders = graders(run);
        if graders.len() > 1 {
            let names: Vec<&str> = graders.iter().copied().collect();
            self.warnings.push(format!(
                "verdicts by different rules are mixed in one score: {}",
                names.join(", ")
            ));
        }
        let planned = run.planned.unwrap_or(0).max(self.trials);
        let without = planned + self.unfinished.len() - self.trials;
        if without > 0 {
            self.warnings.push(format!(
                "{without} of {planned} trials have no result yet: this is a part of a score"
            ));
        }
        let unpredicted = run.plan.as_ref().map_or(0, |plan| plan.unpredicted.len());
        if unpredicted > 0 {
            self.warnings.push(format!(
                "{unpredicted} of {} tasks have no prediction and are no part of this score",
                self.instances + unpredicted
            ));
        }
        let unvalidated = unvalidated(run);
        if unvalidated > 0 {
            self.warnings.push(format!(
                "{unvalidated} of {} instances were not validated on this machine: `hames eval calibrate` tells which of them can be resolved here",
                self.instances
            ));
        }
        if !self.leaks.is_empty() {
            let found = super::figures::plural(self.leaks.len(), "answer");
            self.warnings.push(format!(
                "{found} lay where the agent could read: these scores show nothing"
            ));
        }
        if !self.peeking.is_empty() {
            let steps = super::figures::plural(self.peeking.len(), "step");
            self.warnings.push(format!(
                "{steps} of agents looked for answers: see the list below"
            ));
        }
        self.warnings.extend(run.notes.iter().cloned());
    }
}

/// Whose rules the trials that count were judged by.
pub fn graders(run: &Run) -> BTreeSet<&str> {
    let counted = run
        .trials
        .iter()
        .filter(|trial| Outcome::of(run, trial).counts());
    let results = counted.filter_map(|trial| trial.result.as_ref());
    let sources = results.map(|result| result.report_source.as_str());
    let judged = |source: &&str| !source.is_empty() && *source != NOT_GRADED;
    sources.filter(judged).collect()
}

/// Instances in the denominator that neither a calibration nor S3 has found valid.
fn unvalidated(run: &Run) -> usize {
    let calibrated = |id: &str| {
        let held = run.calibration.as_ref();
        held.is_some_and(|calibration| calibration.instances.contains_key(id))
    };
    let open = |trial: &&Trial| {
        let result = trial.result.as_ref();
        let baseline = result.and_then(|result| result.baseline.as_ref());
        let valid = baseline.is_some_and(|baseline| baseline.valid);
        Outcome::of(run, trial).counts() && !valid && !calibrated(&trial.instance)
    };
    let open = run.trials.iter().filter(open);
    open.map(|trial| &trial.instance)
        .collect::<BTreeSet<_>>()
        .len()
}

fn left_out(run: &Run, name: &str, result: &InstanceResult) -> LeftOut {
    let calibrated = || {
        let found = run.calibration.as_ref()?.instances.get(&result.instance_id);
        Some(match found {
            Some(found) => found.why_not.clone().unwrap_or_default(),
            None => "it was not calibrated".to_owned(),
        })
    };
    let failure = result
        .failure
        .as_ref()
        .filter(|failure| !failure.class.counts());
    LeftOut {
        trial: name.to_owned(),
        class: match failure {
            Some(failure) => failure.class.name().to_owned(),
            None => "not valid on this machine".to_owned(),
        },
        stage: failure.map_or(String::new(), |failure| failure.stage.name().to_owned()),
        message: match failure {
            Some(failure) => failure.message.clone(),
            None => calibrated().unwrap_or_default(),
        },
    }
}

fn repositories(run: &Run) -> BTreeMap<String, Repository> {
    let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut found: BTreeMap<String, Repository> = BTreeMap::new();
    let names: BTreeMap<&str, String> = run
        .trials
        .iter()
        .filter_map(|trial| Some((trial.instance.as_str(), trial.result.as_ref()?.repository())))
        .collect();
    for (instance, tally) in tallies(run) {
        let name = names.get(instance).cloned().unwrap_or_default();
        let repository = found.entry(name.clone()).or_default();
        repository.instances += 1;
        repository.trials += tally.trials;
        repository.resolved += tally.resolved;
        shares.entry(name).or_default().extend(tally.share());
    }
    for (name, repository) in &mut found {
        repository.share = shares.get(name).and_then(|shares| mean_share(shares));
    }
    found
}

fn mean_share(shares: &[f64]) -> Option<Estimate> {
    let sum: f64 = shares.iter().sum();
    wilson(sum / as_f64(shares.len().max(1)), shares.len())
}

#[expect(clippy::cast_precision_loss, reason = "no run has 2^53 trials")]
fn as_f64(of: usize) -> f64 {
    of as f64
}
