//! S4: an agent works on the task, under a wall limit, and nothing of it is alive afterwards. The only
//! stage in which a model is called.
//!
//! What the agent is, is its adapter's; what its work is worth is not asked here.

mod attempt;
mod invoke;
mod journal;
mod output;

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::{
    attempt::{Attempt, attempt},
    journal::AttemptJournal,
};
use crate::{
    adapter::{Adapter, Options, Place, Reading},
    confinement::Confinement,
    environment::{Checkout, Work},
    experiment::TrialDir,
    host::Host,
    instance::Task,
    rate_limit::RateLimits,
    record::AdapterAttempt,
    stage::StageError,
    worker_log::WorkerLog,
};

pub struct SolveContext<'a> {
    pub task: &'a Task,
    /// The first, then those that take over.
    pub chain: &'a [(&'a dyn Adapter, &'a Options)],
    pub checkout: &'a Checkout,
    pub place: &'a Place,
    pub trial: &'a TrialDir,
    pub host: &'a Host,
    /// Of each attempt.
    pub wall_limit: Duration,
    /// Folders and files that hold answers.
    pub hide: &'a [PathBuf],
    pub confinement: &'a Confinement,
    /// How often what is nobody's fault is tried again.
    pub retries: u32,
    pub limits: &'a RateLimits,
    pub cancel: &'a CancellationToken,
    /// Called as the agent prints.
    pub on_output: &'a (dyn Fn() + Sync),
    /// Whether the tree is other than the base.
    pub has_work: &'a (dyn Fn() -> Work<'a, bool> + Sync),
    /// Makes tree, home and temp as they were.
    pub renew: &'a (dyn Fn() -> Work<'a, ()> + Sync),
}

/// What became of it; a killed agent is no error.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Solved {
    /// All that were made, in order, those of a run that was killed as well.
    pub attempts: Vec<AdapterAttempt>,
    /// The one whose work goes on to S5.
    pub taken: Option<usize>,
    /// Of the one taken, else of the last.
    pub reading: Reading,
    pub interrupted: bool,
    /// What was covered up for the agent.
    pub hidden: Vec<PathBuf>,
}

/// # Errors
/// No adapter of the chain could be started (the first one's reason is told), the machine does not
/// let us, or something of an agent could not be ended.
pub async fn run(cx: &SolveContext<'_>) -> Result<Solved, StageError> {
    let mut log = WorkerLog::open(&cx.trial.worker_log())?;
    let mut journal = AttemptJournal::open(&cx.trial.attempts())?;
    let mut solved = Solved {
        attempts: journal.take_up(&mut log).await?,
        ..Solved::default()
    };
    try_chain(cx, &mut solved, &mut journal, &mut log).await?;
    if !solved.interrupted {
        journal.settle()?;
    }
    Ok(solved)
}

async fn try_chain(
    cx: &SolveContext<'_>,
    solved: &mut Solved,
    journal: &mut AttemptJournal,
    log: &mut WorkerLog,
) -> Result<(), StageError> {
    let mut refused = None;
    // Whoever was here before has left something, or wrote until just now.
    let mut is_fresh = journal.is_new();
    for (adapter, options) in cx.chain {
        for tries in 0..=cx.retries {
            if !is_fresh {
                (cx.renew)().await?;
            }
            let made = attempt(cx, *adapter, options, journal, log).await?;
            is_fresh = made.refused.is_some();
            refused = refused.or_else(|| made.refused.clone());
            match solved.take(made) {
                GoesOn::Done => return Ok(()),
                GoesOn::Next => break,
                GoesOn::Again if tries == cx.retries => break,
                GoesOn::Again => {
                    log.say("retry", json!({"try": tries + 2, "of": cx.retries + 1}));
                    if !cx.waits(cx.limits.pause_before_retry(tries)).await {
                        solved.interrupted = true;
                        return Ok(());
                    }
                }
            }
        }
    }
    match refused.filter(|_| solved.nobody_started()) {
        Some(refused) => Err(refused),
        None => Ok(()),
    }
}

enum GoesOn {
    Done,
    /// The same once more: it was nobody's fault.
    Again,
    /// The next of the chain.
    Next,
}

impl SolveContext<'_> {
    /// False where the run was told to stop meanwhile.
    async fn waits(&self, pause: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => false,
            () = tokio::time::sleep(pause) => true,
        }
    }
}

impl Solved {
    /// Enters an attempt. Whether the chain goes on never depends on what its work is worth.
    fn take(&mut self, made: Attempt) -> GoesOn {
        let outcome = made.record.outcome.clone();
        self.attempts.push(made.record);
        self.reading = made.reading;
        self.interrupted = made.interrupted;
        self.hidden = made.hidden;
        if made.interrupted {
            return GoesOn::Done;
        }
        if made.has_work || outcome == "pending" {
            self.taken = Some(self.attempts.len() - 1);
            return GoesOn::Done;
        }
        match outcome.as_str() {
            "infrastructure" => GoesOn::Again,
            _ => GoesOn::Next,
        }
    }

    fn nobody_started(&self) -> bool {
        let started = |attempt: &AdapterAttempt| attempt.wall_time_seconds > 0.0;
        !self.attempts.iter().any(started)
    }
}
