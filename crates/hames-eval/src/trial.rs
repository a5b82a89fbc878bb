//! One trial of one instance, and the run that it belongs to: what every stage may ask for.
//!
//! It runs nothing; in which order things happen is `pipeline.rs`.

use std::{path::PathBuf, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{
    adapter::{Adapter, Options},
    confinement::Confinement,
    digest,
    environment::{Around, Environment},
    event::{Event, Observer, TrialId},
    experiment::{Experiment, TrialDir, file_name},
    host::Host,
    instance::Instance,
    plan::RunPlan,
    rate_limit::RateLimits,
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

impl RunContext {
    pub fn around(&self) -> Around<'_> {
        Around {
            host: &self.host,
            cancel: &self.cancel,
        }
    }

    /// The cache is shared: a run of the same name may be in another folder of experiments.
    pub(crate) fn work_dir(&self) -> PathBuf {
        let dir = &self.experiment.dir;
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        let mark = digest::short(&[&dir.to_string_lossy()]);
        let name = format!("{}-{mark}", self.plan.id);
        self.host.cache.join("work").join(name)
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

    /// All of a trial's own folders; gone when it is over.
    pub fn work_dir(&self) -> PathBuf {
        let run = self.run.work_dir();
        run.join(file_name(&self.id().to_string()))
    }

    pub fn tell(&self, event: &Event) {
        self.run.observer.see(event);
    }

    pub fn note(&self, text: &str) {
        self.tell(&Event::Note {
            trial: Some(self.id()),
            text: text.to_owned(),
        });
    }
}
