//! `eval selftest`: the built-in benchmark, offline. Gold resolves every task, an empty and a wrong
//! patch none, and the loop itself, played by a scripted model, resolves them as well.
//!
//! It is an ordinary run each time; nothing here is judged by other means.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};
use hames_eval::{
    event::Unwatched,
    experiment::{Experiment, write_atomically},
    host::Host,
    instance::Instance,
    mini,
    plan::{AgentChoice, Filter, RunPlan},
    prediction::{self, Prediction},
    record::InstanceResult,
    scripted::{Dialect, scenario_for},
};

use super::{
    args::{Place, SelftestArgs},
    found, running,
};
use crate::{
    environment::Environment,
    explain::page::{self, Table},
};

/// A way of going through the benchmark, and what it has to come to.
struct Pass {
    name: &'static str,
    agent: AgentChoice,
    resolves: bool,
}

/// The exit code: 0 only if every task came to what it has to.
pub(super) fn run(args: &SelftestArgs, environment: &Environment) -> Result<u8> {
    let temporary = tempfile::Builder::new()
        .prefix("hames-selftest-")
        .tempdir()?;
    let dir = match &args.dir {
        Some(dir) => environment.current_dir.join(dir),
        None => temporary.path().to_owned(),
    };
    let place = Place {
        dir: dir.join("experiments"),
        cache: Some(dir.join("cache")),
    };
    let host = found::host(&place, environment)?;
    let tasks = dir.join("tasks");
    mini::lay_out(&tasks)?;
    let filter = Filter {
        ids: args.ids.clone(),
        ..Filter::default()
    };
    let plan = RunPlan {
        tasks,
        filter,
        workers: args.workers,
        ..RunPlan::default()
    };
    let instances = found::load(&plan)?.instances;
    let passes = passes(args, &dir, &instances)?;
    let mut results: Vec<BTreeMap<String, InstanceResult>> = Vec::new();
    for pass in &passes {
        results.push(go(pass, &plan, &place, &host, &instances)?);
    }
    let (text, wrong) = told(&passes, &instances, &results);
    page::print(&text)?;
    if args.dir.is_some() {
        page::print(&format!(
            "The runs are in {}.\n",
            dir.join("experiments").display()
        ))?;
    }
    Ok(u8::from(wrong > 0))
}

fn passes(args: &SelftestArgs, dir: &Path, instances: &[Instance]) -> Result<Vec<Pass>> {
    let wrong = |instance: &Instance| {
        mini::wrong_patch(&instance.id)
            .unwrap_or_default()
            .to_owned()
    };
    let mut passes = vec![
        Pass {
            name: "gold",
            agent: chosen("replay", String::new(), String::new()),
            resolves: true,
        },
        Pass {
            name: "empty",
            agent: predicted(dir, "empty", instances, |_| String::new())?,
            resolves: false,
        },
        Pass {
            name: "wrong",
            agent: predicted(dir, "wrong", instances, wrong)?,
            resolves: false,
        },
    ];
    if !args.no_agent {
        passes.push(Pass {
            name: "hames",
            agent: scripted(dir, instances)?,
            resolves: true,
        });
    }
    Ok(passes)
}

fn chosen(adapter: &str, model: String, command: String) -> AgentChoice {
    let mut agent = AgentChoice {
        adapter: adapter.to_owned(),
        ..AgentChoice::default()
    };
    agent.options.model = model;
    agent.options.command = command;
    agent
}

/// Patches that nobody has to be run for.
fn predicted(
    dir: &Path,
    name: &str,
    instances: &[Instance],
    patch: impl Fn(&Instance) -> String,
) -> Result<AgentChoice> {
    let made = instances.iter().map(|instance| Prediction {
        instance_id: instance.id.clone(),
        model_name_or_path: name.to_owned(),
        model_patch: Some(patch(instance)),
    });
    let path = dir.join(format!("{name}.jsonl"));
    let text = prediction::to_jsonl(&made.collect::<Vec<_>>());
    write_atomically(&path, text.as_bytes()).with_context(|| path.display().to_string())?;
    Ok(chosen(
        "predictions",
        String::new(),
        path.display().to_string(),
    ))
}

/// The loop itself, with a model that plays each task's gold patch as tool calls.
fn scripted(dir: &Path, instances: &[Instance]) -> Result<AgentChoice> {
    let folder = dir.join("scenarios");
    for instance in instances {
        let path = folder.join(format!("{}.json", instance.id));
        let text = scenario_for(instance, Dialect::Hames);
        write_atomically(&path, text.as_bytes()).with_context(|| path.display().to_string())?;
    }
    Ok(chosen(
        "hames",
        format!("script:{}/{{instance_id}}.json", folder.display()),
        String::new(),
    ))
}

fn go(
    pass: &Pass,
    plan: &RunPlan,
    place: &Place,
    host: &Host,
    instances: &[Instance],
) -> Result<BTreeMap<String, InstanceResult>> {
    let plan = RunPlan {
        id: format!("selftest-{}", pass.name),
        agents: vec![pass.agent.clone()],
        model_name: pass.name.to_owned(),
        baseline: pass.name == "gold",
        ..plan.clone()
    };
    let experiment = Experiment::new(&place.dir, &plan.id);
    found::keep_plan(&experiment, &plan)?;
    let mut cx = running::context(plan, experiment, host, std::sync::Arc::new(Unwatched))?;
    let ran = running::on_runtime(&mut cx, instances, None)?;
    running::write_reports(&cx, &ran)?;
    Ok(ran
        .results
        .into_iter()
        .map(|result| (result.instance_id.clone(), result))
        .collect())
}

/// The table, and how many cells are not what they have to be.
fn told(
    passes: &[Pass],
    instances: &[Instance],
    results: &[BTreeMap<String, InstanceResult>],
) -> (String, usize) {
    let head = ["TASK", "GOLD", "EMPTY", "WRONG", "HAMES"];
    let mut table = Table::new(head);
    let mut wrong = Vec::new();
    for instance in instances {
        let mut cells = [const { String::new() }; 5];
        cells[0].clone_from(&instance.id);
        for (at, (pass, results)) in passes.iter().zip(results).enumerate() {
            let result = results.get(&instance.id);
            let resolved = result.is_some_and(|result| result.resolved);
            let judged = result.is_some_and(|result| {
                result
                    .failure
                    .as_ref()
                    .is_none_or(|failure| failure.class.counts())
            });
            let why = result
                .and_then(|result| result.failure.as_ref())
                .map(|failure| failure.message.clone());
            let is_right = resolved == pass.resolves && judged;
            let word = match (resolved, judged) {
                (true, _) => "resolved",
                (false, true) => "unresolved",
                (false, false) => "not judged",
            };
            let mark = if is_right { "" } else { " (!)" };
            if let Some(cell) = cells.get_mut(at + 1) {
                *cell = format!("{word}{mark}");
            }
            if !is_right {
                wrong.push(format!(
                    "{} with {}: {word}: {}\n",
                    instance.id,
                    pass.name,
                    why.unwrap_or_default()
                ));
            }
        }
        table.row(cells);
    }
    let count = passes.len() * instances.len();
    let text = format!(
        "{}{}{} of {count} as they have to be: gold and hames resolved, empty and wrong patches not.\n",
        table.render(),
        wrong.concat(),
        count - wrong.len(),
    );
    (text, wrong.len())
}
