//! One attempt of one agent: checked, planned, run, read, and entered.
//!
//! Whether another follows is not decided here, nor how a process is run and ended.

use std::path::PathBuf;

use hames_tools::{EndCause, Mark, ProgramEnd};
use serde_json::json;
use tokio::time::Instant;

use super::{
    SolveContext,
    invoke::{Invoked, invoke},
    journal::AttemptJournal,
    output,
};
use crate::{
    adapter::{Adapter, CommandLine, Left, Options, Plan, Reading},
    rate_limit::{Permit, is_overload, retry_after},
    record::AdapterAttempt,
    stage::StageError,
    trajectory::Usage,
    worker_log::WorkerLog,
};

pub(super) struct Attempt {
    pub record: AdapterAttempt,
    pub reading: Reading,
    /// The tree is other than the base, or a diff was printed.
    pub has_work: bool,
    pub interrupted: bool,
    pub hidden: Vec<PathBuf>,
    /// Why it was not even started.
    pub refused: Option<StageError>,
}

/// An agent at work, from its plan to its end.
struct Ran {
    subprocess: bool,
    seconds: f64,
    invoked: Invoked,
    reading: Reading,
    has_work: bool,
}

pub(super) async fn attempt(
    cx: &SolveContext<'_>,
    adapter: &dyn Adapter,
    options: &Options,
    journal: &mut AttemptJournal,
    log: &mut WorkerLog,
) -> Result<Attempt, StageError> {
    let options = &for_instance(options, &cx.task.instance_id);
    log.say(
        "validate",
        json!({"adapter": adapter.name(), "model": options.model}),
    );
    let plan = match plan(cx, adapter, options, log) {
        Ok(plan) => plan,
        Err(refused) => return refuse(adapter, options, refused, journal, log),
    };
    let ran = match plan {
        Plan::Patch(patch) => in_process(cx, adapter, options, patch, journal, log)?,
        Plan::Subprocess(line) => {
            let Some(permit) = permit(cx, adapter, options).await else {
                return Ok(not_started(adapter, options, StageError::Interrupted));
            };
            let ran = subprocess(cx, adapter, options, line, journal, log).await?;
            tell(&permit, &ran);
            ran
        }
    };
    let record = ran.record(adapter, options);
    journal.ended(&record)?;
    let notes = &ran.reading.notes;
    log.say("artifacts", json!({"attempt": record, "notes": notes}));
    Ok(Attempt {
        record,
        interrupted: ran.is_interrupted(),
        has_work: ran.has_work,
        hidden: ran.invoked.hidden,
        reading: ran.reading,
        refused: None,
    })
}

fn plan(
    cx: &SolveContext<'_>,
    adapter: &dyn Adapter,
    options: &Options,
    log: &mut WorkerLog,
) -> Result<Plan, StageError> {
    adapter.check(cx.host, options)?;
    let place = cx.place;
    log.say(
        "workspace",
        json!({"tree": place.tree, "home": place.home, "temp": place.temp, "head": cx.checkout.head}),
    );
    let characters = cx.task.prompt.chars().count();
    log.say("prompt", json!({"characters": characters}));
    adapter.plan(cx.task, place, cx.host, options)
}

/// The first of a run is checked before anything is built; a later one can still be missing.
fn refuse(
    adapter: &dyn Adapter,
    options: &Options,
    refused: StageError,
    journal: &mut AttemptJournal,
    log: &mut WorkerLog,
) -> Result<Attempt, StageError> {
    if refused == StageError::Interrupted {
        return Ok(not_started(adapter, options, refused));
    }
    let attempt = not_started(adapter, options, refused);
    journal.ended(&attempt.record)?;
    log.say("artifacts", json!({"attempt": attempt.record}));
    Ok(attempt)
}

fn not_started(adapter: &dyn Adapter, options: &Options, refused: StageError) -> Attempt {
    let interrupted = refused == StageError::Interrupted;
    let outcome = if interrupted { "interrupted" } else { "failed" };
    Attempt {
        record: AdapterAttempt {
            adapter: adapter.name().to_owned(),
            outcome: outcome.to_owned(),
            model: chosen(options),
            error: Some(refused.to_string()),
            ..AdapterAttempt::default()
        },
        reading: Reading::default(),
        has_work: false,
        interrupted,
        hidden: Vec::new(),
        refused: Some(refused),
    }
}

/// Leave to ask a model service; none where the run was told to stop first.
async fn permit(cx: &SolveContext<'_>, adapter: &dyn Adapter, options: &Options) -> Option<Permit> {
    let service = service(adapter, options);
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => None,
        permit = cx.limits.permit(&service) => Some(permit),
    }
}

/// What the attempt says of the service that it asked.
fn tell(permit: &Permit, ran: &Ran) {
    match &ran.reading.infrastructure {
        Some(said) if is_overload(said) => permit.refused(retry_after(said)),
        // No key, no network: it was not even asked.
        Some(_) => {}
        None => permit.succeeded(),
    }
}

/// A patch that was made elsewhere goes on as it is, word for word: no tree is touched.
fn in_process(
    cx: &SolveContext<'_>,
    adapter: &dyn Adapter,
    options: &Options,
    patch: String,
    journal: &mut AttemptJournal,
    log: &mut WorkerLog,
) -> Result<Ran, StageError> {
    journal.began(adapter.name(), false, &Mark::fresh())?;
    let began = Instant::now();
    output::clear(cx.trial)?;
    let mut reading = read(cx, adapter, options, Some(0), false, log)?;
    let has_work = !patch.trim().is_empty();
    reading.diff = reading.diff.or(has_work.then_some(patch));
    Ok(Ran {
        subprocess: false,
        // An attempt that was made has taken some time.
        seconds: began.elapsed().as_secs_f64().max(f64::MIN_POSITIVE),
        invoked: Invoked::default(),
        reading,
        has_work,
    })
}

async fn subprocess(
    cx: &SolveContext<'_>,
    adapter: &dyn Adapter,
    options: &Options,
    line: CommandLine,
    journal: &mut AttemptJournal,
    log: &mut WorkerLog,
) -> Result<Ran, StageError> {
    let mark = Mark::fresh();
    journal.began(adapter.name(), true, &mark)?;
    let began = Instant::now();
    let invoked = invoke(cx, adapter, line, &mark, log).await?;
    let seconds = began.elapsed().as_secs_f64();
    let end = invoked.end;
    let killed = end.is_some_and(|end| end.cause != EndCause::ByItself);
    let mut reading = read(
        cx,
        adapter,
        options,
        end.and_then(|end| end.returncode),
        killed,
        log,
    )?;
    reading.notes.extend(invoked.notes.iter().cloned());
    let printed = |diff: &String| !diff.trim().is_empty();
    let has_work = match end.map(|end| end.cause) {
        // Nobody asks for the work of a run that was told to stop, and no git would run for it.
        None | Some(EndCause::Cancelled) => false,
        Some(EndCause::ByItself | EndCause::TimedOut) => {
            reading.diff.as_ref().is_some_and(printed) || (cx.has_work)().await?
        }
    };
    Ok(Ran {
        subprocess: true,
        seconds,
        invoked,
        reading,
        has_work,
    })
}

fn read(
    cx: &SolveContext<'_>,
    adapter: &dyn Adapter,
    options: &Options,
    returncode: Option<i32>,
    killed: bool,
    log: &mut WorkerLog,
) -> Result<Reading, StageError> {
    let (stdout, stderr) = (
        output::read(&cx.trial.agent_stdout())?,
        output::read(&cx.trial.agent_stderr())?,
    );
    log.say(
        "parse_output",
        json!({"stdout": stdout.bytes, "stderr": stderr.bytes}),
    );
    let mut reading = adapter.read(&Left {
        stdout: &stdout.text,
        stderr: &stderr.text,
        returncode,
        killed,
        place: cx.place,
        options,
    });
    reading
        .notes
        .extend(stdout.note.into_iter().chain(stderr.note));
    Ok(reading)
}

impl Ran {
    fn end(&self) -> Option<ProgramEnd> {
        self.invoked.end
    }

    fn is_killed(&self) -> bool {
        self.end()
            .is_some_and(|end| end.cause != EndCause::ByItself)
    }

    fn is_interrupted(&self) -> bool {
        self.end()
            .is_some_and(|end| end.cause == EndCause::Cancelled)
    }

    fn is_crashed(&self) -> bool {
        let returncode = self.end().and_then(|end| end.returncode);
        self.subprocess && !self.is_killed() && returncode != Some(0)
    }

    fn record(&self, adapter: &dyn Adapter, options: &Options) -> AdapterAttempt {
        let trajectory = &self.reading.trajectory;
        let end = self.end();
        AdapterAttempt {
            adapter: adapter.name().to_owned(),
            subprocess: self.subprocess,
            wall_time_seconds: self.seconds,
            returncode: end.and_then(|end| end.returncode),
            killed: self.is_killed(),
            rescued: (self.is_killed() || self.is_crashed()) && self.has_work,
            outcome: self.outcome().to_owned(),
            model: trajectory.model.clone().or_else(|| chosen(options)),
            error: self.error(),
            usage: Some(trajectory.usage).filter(|usage| *usage != Usage::default()),
            cost_usd: trajectory.cost_usd,
            survivors_killed: end.map_or(0, |end| end.survivors),
            hidden: self
                .subprocess
                .then_some(!self.invoked.hidden.is_empty() && self.invoked.open.is_empty()),
        }
    }

    /// Before S6 has said what the work is worth.
    fn outcome(&self) -> &'static str {
        let reading = &self.reading;
        let has_failed = self.is_crashed() || reading.failure.is_some();
        // What cannot even be started is the machine's trouble.
        let is_nobodys = reading.infrastructure.is_some() || self.invoked.error.is_some();
        match self.has_work {
            _ if self.is_interrupted() => "interrupted",
            true => "pending",
            false if is_nobodys => "infrastructure",
            // What a killed agent says of its end is that it was killed.
            false if self.is_killed() => "empty_patch",
            false if has_failed => "failed",
            false => "pending",
        }
    }

    fn error(&self) -> Option<String> {
        let reading = &self.reading;
        let said = [
            &self.invoked.error,
            &reading.infrastructure,
            &reading.failure,
        ];
        let said = said.into_iter().flatten().next().cloned();
        let code = self.end().and_then(|end| end.returncode);
        said.or_else(|| match (self.end().map(|end| end.cause), code) {
            (Some(EndCause::TimedOut), _) => Some("ended at its wall limit".to_owned()),
            (Some(EndCause::Cancelled), _) => Some("ended because the run was told to".to_owned()),
            (Some(EndCause::ByItself), Some(0)) | (None, _) => None,
            (Some(EndCause::ByItself), Some(code)) => Some(format!("ended with {code}")),
            (Some(EndCause::ByItself), None) => Some("ended, nobody knows how".to_owned()),
        })
    }
}

fn chosen(options: &Options) -> Option<String> {
    Some(options.model.clone()).filter(|model| !model.is_empty())
}

/// A model can be one per task: a scenario file for each, for instance.
fn for_instance(options: &Options, instance: &str) -> Options {
    Options {
        model: options.model.replace("{instance_id}", instance),
        ..options.clone()
    }
}

/// Whom it asks: those who ask the same one share its limit.
fn service(adapter: &dyn Adapter, options: &Options) -> String {
    let vendor = options.model.split_once('/').map(|(vendor, _)| vendor);
    let named = options.base_url.as_deref().or(vendor);
    named.unwrap_or_else(|| adapter.name()).to_owned()
}
