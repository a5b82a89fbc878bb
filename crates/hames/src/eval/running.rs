//! `eval run` and `eval resume`: a plan, its tasks, and the pipeline over them.
//!
//! How one trial goes is the pipeline's business.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Result;
use hames_eval::{
    adapter::{Adapter, Options},
    adapters, clock,
    confinement::Confinement,
    datasets::Loaded,
    environments::{
        docker::{Docker, DockerOptions},
        local::{Local, LocalOptions},
    },
    event::Observer,
    experiment::{Experiment, TrialDir, file_name},
    host::Host,
    instance::Instance,
    manifest,
    plan::{AgentChoice, RunPlan},
    prediction,
    rate_limit::RateLimits,
    runner::{self, Ran},
    stage::Stage,
    stage_table,
    store::Store,
    trial::RunContext,
};
use tokio_util::sync::CancellationToken;

use super::{
    args::{ResumeArgs, RunArgs},
    found, reporting,
    watching::Watch,
};
use crate::{
    environment::Environment,
    exit::{self, usage},
    signals::Signals,
};

pub(super) fn run(args: &RunArgs, environment: &Environment) -> Result<u8> {
    let host = found::host(&args.place, environment)?;
    let plan = plan(args, &host, environment)?;
    let loaded = found::load(&plan)?;
    let experiment = Experiment::new(&found::root(&args.place, environment), &plan.id);
    if args.dry_run {
        return dry_run(&plan, &loaded.instances, &host);
    }
    // What cannot be begun leaves nothing behind.
    chain(&plan, &host)?;
    if args.force.as_deref() != Some(Stage::Build.name()) {
        found::check_same(&experiment, &plan)?;
    }
    if let Some(stage) = &args.force {
        forget(stage, &plan, &experiment, &loaded.instances)?;
    }
    found::keep_plan(&experiment, &plan)?;
    let watch = Watch::new(environment, &experiment);
    carry_out(plan, experiment, &host, &loaded, watch)
}

pub(super) fn resume(args: &ResumeArgs, environment: &Environment) -> Result<u8> {
    let host = found::host(&args.which.place, environment)?;
    let root = found::root(&args.which.place, environment);
    let experiment = found::experiment(args.which.run.as_deref(), &root)?;
    let mut plan = found::plan(&experiment)?;
    plan.workers = args.workers.unwrap_or(plan.workers);
    let loaded = found::load(&plan)?;
    let watch = Watch::new(environment, &experiment);
    carry_out(plan, experiment, &host, &loaded, watch)
}

pub(super) fn carry_out(
    plan: RunPlan,
    experiment: Experiment,
    host: &Host,
    loaded: &Loaded,
    watch: Watch,
) -> Result<u8> {
    let refused = loaded.refused.iter().map(|(_, why)| why);
    loaded
        .notes
        .iter()
        .chain(refused)
        .for_each(|note| watch.say(note));
    let watch = Arc::new(watch);
    let mut cx = context(plan, experiment.clone(), host, watch.clone())?;
    let ran = on_runtime(&mut cx, &loaded.instances, Some(&watch))?;
    watch.finish();
    write_reports(&cx, &ran)?;
    reporting::print(&experiment)?;
    if ran.interrupted {
        watch.say(&format!(
            "interrupted; `hames eval resume {}` goes on",
            experiment.id
        ));
    }
    Ok(code(&ran, loaded.refused.len()))
}

pub(super) fn context(
    plan: RunPlan,
    experiment: Experiment,
    host: &Host,
    observer: Arc<dyn Observer>,
) -> Result<RunContext> {
    let environment = back_end(&plan);
    let chain = chain(&plan, host)?;
    let store = Store::open(experiment.dir.parent().unwrap_or(&experiment.dir))?;
    Ok(RunContext {
        plan,
        experiment,
        host: host.clone(),
        environment,
        chain,
        limits: RateLimits::default(),
        confinement: Confinement::none(),
        observer,
        cancel: CancellationToken::new(),
        store,
    })
}

/// The plan's agents, each with what it needs in its place.
fn chain(plan: &RunPlan, host: &Host) -> Result<Vec<(Box<dyn Adapter>, Options)>> {
    let mut chain = Vec::new();
    for agent in &plan.agents {
        let tries = adapters::chain(std::slice::from_ref(&agent.adapter), &agent.options);
        for (adapter, options) in tries.map_err(|error| usage(error.to_string()))? {
            adapter
                .check(host, &options)
                .map_err(|error| usage(error.to_string()))?;
            chain.push((adapter, options));
        }
    }
    Ok(chain)
}

fn back_end(plan: &RunPlan) -> Box<dyn hames_eval::environment::Environment> {
    match plan.environment.as_str() {
        "docker" => Box::new(Docker::new(DockerOptions {
            run: plan.id.clone(),
            network: false,
        })),
        _ => Box::new(Local::new(LocalOptions {
            network: false,
            thorough: true,
        })),
    }
}

/// Runs it to its end, or to the first signal; the second does not ask.
pub(super) fn on_runtime(
    cx: &mut RunContext,
    instances: &[Instance],
    watch: Option<&Arc<Watch>>,
) -> Result<Ran> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        if cx.plan.confine {
            cx.confinement = Confinement::probe(&cx.around()).await?;
        }
        let ticking = watch.cloned().map(|watch| tokio::spawn(tick(watch)));
        let cancel = cx.cancel.clone();
        let listening = tokio::spawn(async move {
            let Ok(mut signals) = Signals::listen() else {
                return;
            };
            signals.next().await;
            cancel.cancel();
            signals.next().await;
            std::process::exit(exit::INTERRUPTED.into());
        });
        let ran = runner::run(cx, instances).await;
        listening.abort();
        if let Some(ticking) = ticking {
            ticking.abort();
        }
        Ok(ran)
    })
}

/// Those who say nothing for long are told of, too.
async fn tick(watch: Arc<Watch>) {
    let mut every = tokio::time::interval(Duration::from_secs(1));
    loop {
        every.tick().await;
        watch.tick();
    }
}

/// A run says 0 when every trial was judged; what was found is in the report, not in the code.
pub(super) fn code(ran: &Ran, refused: usize) -> u8 {
    if ran.interrupted {
        return exit::INTERRUPTED;
    }
    let unjudged = ran.results.iter().filter(|result| {
        result
            .failure
            .as_ref()
            .is_some_and(|failure| !failure.class.counts())
    });
    match unjudged.count() + refused {
        0 => 0,
        _ => exit::FAILED,
    }
}

pub(super) fn write_reports(cx: &RunContext, ran: &Ran) -> Result<()> {
    hames_eval::summary::write(&cx.experiment, &cx.plan, &ran.results)?;
    Ok(())
}

fn plan(args: &RunArgs, host: &Host, environment: &Environment) -> Result<RunPlan> {
    let agents = agents(args, environment)?;
    let first = agents
        .first()
        .ok_or_else(|| usage("name an agent with --adapter"))?;
    let named = match first.options.model.as_str() {
        "" => first.adapter.clone(),
        model => format!("{}/{model}", first.adapter),
    };
    let model_name = args.model_name.clone().unwrap_or(named);
    let id = args.run_id.clone().unwrap_or_else(|| {
        let time = clock::now()
            .replace([':', '-'], "")
            .replace('T', "-")
            .replace('Z', "");
        format!("{}-{time}", file_name(&model_name).replace(' ', "_"))
    });
    if id.is_empty() || id.contains(['/', '~']) || id.starts_with('.') {
        return Err(usage(format!(
            "{id:?}: a run's name is the name of a folder, without / and ~"
        )));
    }
    let predicted = agents.iter().find(|agent| agent.adapter == "predictions");
    let predictions = predicted
        .map(|agent| prediction::digest(Path::new(&agent.options.command)))
        .transpose()
        .map_err(|error| usage(error.to_string()))?;
    Ok(RunPlan {
        id,
        tasks: found::tasks(&args.tasks.tasks, host, environment)?,
        filter: found::filter(&args.tasks),
        agents,
        model_name,
        attempts: args.attempts,
        workers: args.workers,
        environment: args.grading.environment.clone(),
        grader: args.grading.grader.parse().map_err(usage)?,
        baseline: args.baseline,
        telling: hames_eval::stages::s1_build::Telling { hints: args.hints },
        wall_limit: args.wall_limit.as_secs_f64(),
        test_limit: args.grading.test_limit.as_secs_f64(),
        retries: args.retries,
        confine: !args.no_confine,
        keep: args.keep,
        seed: args.seed,
        predictions,
        unpredicted: Vec::new(),
        calibration: args
            .calibration
            .as_ref()
            .map(|file| environment.current_dir.join(file)),
    })
}

/// A model each, or one for all; one agent with several is for `oneshot`, which tries them in turn.
fn agents(args: &RunArgs, environment: &Environment) -> Result<Vec<AgentChoice>> {
    let names: Vec<&str> = args.adapter.iter().flat_map(|named| split(named)).collect();
    let models: Vec<String> = args
        .model
        .iter()
        .map(|model| absolute(model, environment))
        .collect();
    let models = match names.as_slice() {
        [_one] if models.len() > 1 => vec![models.join(",")],
        _ => models,
    };
    if models.len() > 1 && models.len() != names.len() {
        return Err(usage(format!(
            "{} adapters and {} models: give one model, or one each",
            names.len(),
            models.len()
        )));
    }
    let chosen = names.iter().enumerate().map(|(at, name)| {
        let model = models
            .get(at)
            .or(models.first())
            .cloned()
            .unwrap_or_default();
        let (adapter, command) = match name.strip_prefix("command:") {
            Some(command) => ("command", command.to_owned()),
            None => (*name, args.command.clone().unwrap_or_default()),
        };
        let options = Options {
            model,
            base_url: args.base_url.clone(),
            shape: args.shape.clone(),
            max_turns: args.max_turns,
            max_cost: args.max_cost,
            temperature: None,
            seed: None,
            extra_args: args.agent_args.clone(),
            command,
        };
        AgentChoice {
            adapter: adapter.to_owned(),
            options,
        }
    });
    Ok(chosen.collect())
}

/// Names with commas between them; a command may have commas of its own.
fn split(named: &str) -> Vec<&str> {
    match named.starts_with("command:") {
        true => vec![named],
        false => named
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .collect(),
    }
}

/// Agents run elsewhere: a scenario's file is found from here.
fn absolute(model: &str, environment: &Environment) -> String {
    match model.strip_prefix("script:") {
        Some(file) => format!("script:{}", environment.current_dir.join(file).display()),
        None => model.to_owned(),
    }
}

/// `--force`: what is done from a stage on is done no more.
fn forget(
    stage: &str,
    plan: &RunPlan,
    experiment: &Experiment,
    instances: &[Instance],
) -> Result<()> {
    let named =
        |known: &&Stage| known.name() == stage || known.name().split('_').next() == Some(stage);
    let stage = Stage::ALL.iter().find(named).ok_or_else(|| {
        let names = Stage::ALL.map(Stage::name).join(", ");
        usage(format!("{stage} is no stage: the stages are {names}"))
    })?;
    for instance in instances {
        for trial in 1..=plan.attempts {
            let dir: TrialDir = experiment.trial(&instance.id, trial);
            manifest::forget_from(&dir, *stage)?;
        }
    }
    Ok(())
}

fn dry_run(plan: &RunPlan, instances: &[Instance], host: &Host) -> Result<u8> {
    let text = hames_eval::dry_run::text(plan, instances, host, &stage_table::TABLE)
        .map_err(|error| usage(error.to_string()))?;
    crate::explain::page::print(&text)?;
    Ok(0)
}
