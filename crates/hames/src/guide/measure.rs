//! `guide --measure DIR`: the four shapes on the same scripted tasks, and what each took.
//!
//! Tasks are run for real, each in a folder of its own; only the model is scripted, so that the
//! figures are those of the harness: calls, and tokens of what was sent and said.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use hames_agent::ledger::Ledger;
use hames_journal::file::{list, read_records};
use hames_types::{Entry, Origin, Outcome, UserMessage};
use serde::Deserialize;

use crate::{
    args::RunArgs,
    environment::Environment,
    exit::usage,
    explain::page::{self, Table},
    session_id::SessionId,
    wiring::{Wired, prepare},
};

const SHAPES: [&str; 4] = ["react", "plan_execute", "reflection", "multi_agent"];

/// A row of `index.json`; `NAME.json` beside it is the scenario.
#[derive(Deserialize)]
struct Task {
    name: String,
    prompt: String,
    files: BTreeMap<String, String>,
    /// Succeeds once the task is done.
    check: String,
}

/// What runs came to, by shape, by shape and role, or by shape and task.
#[derive(Debug, Default, Clone, Copy)]
struct Took {
    tasks: u32,
    solved: u32,
    calls: u64,
    tokens_in: u64,
    tokens_out: u64,
}

impl Took {
    fn tokens(self) -> u64 {
        self.tokens_in + self.tokens_out
    }

    fn a_call(self) -> u64 {
        self.tokens().checked_div(self.calls).unwrap_or_default()
    }

    fn a_task(self) -> u64 {
        self.tokens()
            .checked_div(self.tasks.into())
            .unwrap_or_default()
    }

    fn add(&mut self, more: Self) {
        self.tasks += more.tasks;
        self.solved += more.solved;
        self.calls += more.calls;
        self.tokens_in += more.tokens_in;
        self.tokens_out += more.tokens_out;
    }
}

/// The exit code: 0 if every shape solved every task.
pub(super) fn run(folder: &Path) -> Result<u8> {
    let index = folder.join("index.json");
    let text = fs::read_to_string(&index).with_context(|| format!("{}", index.display()))?;
    let tasks: Vec<Task> = serde_json::from_str(&text)
        .map_err(|error| usage(format!("{}: {error}", index.display())))?;
    let root = std::env::temp_dir().join(format!("hames-measure-{}", SessionId::new()));
    let measured = measure_all(folder, &tasks, &root);
    let _ = fs::remove_dir_all(&root);
    let measured = measured?;
    page::print(&measured.text())?;
    Ok(if measured.all_solved() { 0 } else { 5 })
}

#[derive(Default)]
struct Measured {
    by_shape: BTreeMap<&'static str, Took>,
    by_role: BTreeMap<(&'static str, String), Took>,
    by_task: BTreeMap<(String, &'static str), Took>,
}

fn measure_all(folder: &Path, tasks: &[Task], root: &Path) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut measured = Measured::default();
    for task in tasks {
        let script = folder.join(format!("{}.json", task.name));
        for shape in SHAPES {
            let place = root.join(format!("{}-{shape}", task.name));
            let run = run_one(task, &script, shape, &place);
            let (roles, solved) = runtime
                .block_on(run)
                .with_context(|| format!("{} as {shape}", task.name))?;
            measured.take(task, shape, roles, solved);
        }
    }
    runtime.shutdown_background();
    Ok(measured)
}

impl Measured {
    fn take(
        &mut self,
        task: &Task,
        shape: &'static str,
        roles: BTreeMap<String, Took>,
        solved: bool,
    ) {
        let mut all = Took {
            tasks: 1,
            solved: u32::from(solved),
            ..Took::default()
        };
        for (role, took) in roles {
            all.add(took);
            self.by_role.entry((shape, role)).or_default().add(took);
        }
        self.by_shape.entry(shape).or_default().add(all);
        self.by_task
            .entry((task.name.clone(), shape))
            .or_default()
            .add(all);
    }

    fn all_solved(&self) -> bool {
        self.by_shape.values().all(|took| took.solved == took.tasks)
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}\nCalls / tokens by task.\n\n{}\nBy role.\n\n{}\n",
            self.shapes().render(),
            self.tasks().render(),
            self.roles().render()
        );
        text += &self.claim("a call (a round)", Took::a_call);
        text += &self.claim("a task", Took::a_task);
        text += "Tokens are estimated from the bytes of what was sent and said, system prompt and tools \
                 included.\n";
        text
    }

    fn shapes(&self) -> Table {
        let mut table = Table::new([
            "SHAPE",
            "SOLVED",
            "CALLS",
            "TOKENS IN",
            "TOKENS OUT",
            "TOKENS A CALL",
            "TOKENS A TASK",
        ]);
        for shape in SHAPES {
            let took = self.by_shape.get(shape).copied().unwrap_or_default();
            let solved = format!("{} of {}", took.solved, took.tasks);
            let counts = [
                took.calls,
                took.tokens_in,
                took.tokens_out,
                took.a_call(),
                took.a_task(),
            ];
            let [calls, sent, said, a_call, a_task] = counts.map(|count| count.to_string());
            table.row([shape.to_owned(), solved, calls, sent, said, a_call, a_task]);
        }
        table
    }

    fn tasks(&self) -> Table {
        let mut table = Table::new(["TASK", "REACT", "PLAN_EXECUTE", "REFLECTION", "MULTI_AGENT"]);
        let mut names: Vec<_> = self.by_task.keys().map(|(task, _)| task).collect();
        names.dedup();
        for name in names {
            let cell = |shape| {
                let took = self.by_task.get(&(name.clone(), shape));
                let took = took.copied().unwrap_or_default();
                let failed = match took.solved == took.tasks {
                    true => "",
                    false => " (not solved)",
                };
                format!("{} / {}{failed}", took.calls, took.tokens())
            };
            let [react, plan, reflection, team] = SHAPES.map(cell);
            table.row([name.clone(), react, plan, reflection, team]);
        }
        table
    }

    fn roles(&self) -> Table {
        let mut table = Table::new(["SHAPE", "ROLE", "CALLS", "TOKENS"]);
        for ((shape, role), took) in &self.by_role {
            let counts = [took.calls, took.tokens()].map(|count| count.to_string());
            let [calls, tokens] = counts;
            table.row([(*shape).to_owned(), role.clone(), calls, tokens]);
        }
        table
    }

    /// Whether ReAct takes the fewest, as document B has it.
    fn claim(&self, of: &str, measure: fn(Took) -> u64) -> String {
        let of_shape = |shape: &str| measure(self.by_shape.get(shape).copied().unwrap_or_default());
        let least = SHAPES
            .into_iter()
            .min_by_key(|shape| of_shape(shape))
            .unwrap_or("react");
        let mut text = format!("\"ReAct has the fewest tokens {of}\": ");
        let _ = match of_shape("react") <= of_shape(least) {
            true => writeln!(text, "confirmed here ({}).", of_shape("react")),
            false => writeln!(
                text,
                "refuted here: {least} has {}, react {}.",
                of_shape(least),
                of_shape("react")
            ),
        };
        text
    }
}

/// What each role took, and whether the check succeeds.
async fn run_one(
    task: &Task,
    script: &Path,
    shape: &str,
    place: &Path,
) -> Result<(BTreeMap<String, Took>, bool)> {
    let workspace = place.join("work");
    fs::create_dir_all(&workspace)?;
    for (name, text) in &task.files {
        let file = workspace.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&workspace))?;
        fs::write(file, text)?;
    }
    let environment = surroundings(place, &workspace);
    let model = format!("script:{}", script.display());
    let line = [
        "hames",
        "-p",
        "--model",
        &model,
        "--shape",
        shape,
        "--permission-mode",
        "full-auto",
        "--durability",
        "os",
    ];
    let args = RunArgs::typed(line)?;
    let parts = prepare(&args, &environment, None).await?;
    let Wired {
        mut session,
        folder,
        ..
    } = parts.open(&environment, None)?;
    let outcome = session
        .submit(UserMessage::text(Origin::Human, &task.prompt))
        .await;
    drop(session);
    let roles = roles(&folder)?;
    Ok((
        roles,
        outcome == Outcome::Completed && check(&task.check, &workspace)?,
    ))
}

/// Nothing of the user's: no settings, no hooks, no instructions.
fn surroundings(place: &Path, workspace: &Path) -> Environment {
    let path = std::env::var("PATH").unwrap_or_default();
    let at = |below: &str| place.join(below).to_string_lossy().into_owned();
    let variables = [
        ("PATH", path),
        ("HOME", at("home")),
        ("XDG_STATE_HOME", at("state")),
        ("XDG_CONFIG_HOME", at("config")),
    ];
    Environment {
        variables: variables
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        current_dir: workspace.to_owned(),
        ..Environment::default()
    }
}

fn roles(folder: &Path) -> Result<BTreeMap<String, Took>> {
    let mut labels = BTreeMap::new();
    let mut ledgers: Vec<(String, Ledger)> = Vec::new();
    for journal in list(folder)? {
        if is_run_log(&journal) {
            continue;
        }
        let records: Vec<_> = read_records(&journal, 0)?.collect::<Result<_, _>>()?;
        for record in &records {
            if let Entry::ChildOpened { journal, label } = &record.entry {
                labels.insert(journal.0.to_string(), label.clone());
            }
        }
        let id = journal
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        ledgers.push((id, Ledger::of(records)));
    }
    let mut roles: BTreeMap<String, Took> = BTreeMap::new();
    for (id, ledger) in ledgers {
        let role = labels.get(&id).map_or("agent", String::as_str);
        let usage = ledger.usage();
        roles.entry(role.to_owned()).or_default().add(Took {
            calls: ledger.turns.len() as u64,
            tokens_in: usage.input + usage.cache_read + usage.cache_write,
            tokens_out: usage.output,
            ..Took::default()
        });
    }
    Ok(roles)
}

fn is_run_log(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".run.jsonl")
}

fn check(command: &str, workspace: &Path) -> Result<bool> {
    let mut sh = Command::new("sh");
    sh.args(["-c", command]).current_dir(workspace);
    sh.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(sh.status().context("sh")?.success())
}
