//! Whole trials: real git, real processes, the built-in benchmark, agents that are shell scripts.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use hames_eval::{
    adapter::{Adapter, Options},
    adapters,
    confinement::Confinement,
    datasets,
    environment::Environment,
    environments::local::{Local, LocalOptions},
    event::{Event, Observer},
    experiment::Experiment,
    host::Host,
    instance::Instance,
    mini,
    plan::{AgentChoice, Filter, RunPlan},
    rate_limit::RateLimits,
    record::{FailureClass, InstanceResult},
    runner::{self, Ran},
    stage::{Stage, StageState},
    store::Store,
    trial::RunContext,
};
use tokio_util::sync::CancellationToken;

/// A folder for a run of the benchmark's first task.
pub struct World {
    pub folder: tempfile::TempDir,
    pub plan: RunPlan,
    seen: Arc<Seen>,
}

#[derive(Default)]
pub struct Seen(Mutex<Vec<Event>>);

impl Observer for Seen {
    fn see(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

pub const TASK: &str = "mini__intervals-1";

impl World {
    pub fn new(agent: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tasks = folder.path().join("tasks-of-it");
        mini::lay_out(&tasks).unwrap();
        let plan = RunPlan {
            id: "run".to_owned(),
            tasks,
            filter: Filter {
                ids: vec![TASK.to_owned()],
                ..Filter::default()
            },
            model_name: "tested".to_owned(),
            wall_limit: 60.0,
            retries: 0,
            ..RunPlan::default()
        };
        let mut world = Self {
            folder,
            plan,
            seen: Arc::default(),
        };
        world.plan.agents = vec![world.agent(agent)];
        world
    }

    /// `gold`, or a script that is run in the tree; `$GOLD` in it is the gold patch's file.
    pub fn agent(&self, script: &str) -> AgentChoice {
        if script == "gold" {
            return AgentChoice {
                adapter: "replay".to_owned(),
                ..AgentChoice::default()
            };
        }
        let number = fs::read_dir(self.folder.path()).unwrap().count();
        let file = self.folder.path().join(format!("agent-{number}.sh"));
        let gold = self.folder.path().join(format!("gold-{number}.patch"));
        fs::copy(
            self.plan.tasks.join("tasks").join(TASK).join("gold.patch"),
            &gold,
        )
        .unwrap();
        fs::write(&file, script.replace("$GOLD", &gold.display().to_string())).unwrap();
        let options = Options {
            command: format!("sh {}", file.display()),
            ..Options::default()
        };
        AgentChoice {
            adapter: "command".to_owned(),
            options,
        }
    }

    pub fn instances(&self) -> Vec<Instance> {
        datasets::load(&self.plan.tasks, &self.plan.filter)
            .unwrap()
            .instances
    }

    pub fn host(&self) -> Host {
        Host {
            variables: std::env::vars().collect(),
            cache: self.folder.path().join("cache"),
            hames: PathBuf::from("/nowhere/hames"),
            version: "0".to_owned(),
        }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("experiments")
    }

    pub fn dir(&self) -> PathBuf {
        self.root().join("run").join(TASK)
    }

    pub async fn go(&self) -> Ran {
        self.go_in(&self.root(), Confinement::none()).await
    }

    async fn go_in(&self, root: &Path, confinement: Confinement) -> Ran {
        let local = Local::new(LocalOptions::default());
        self.go_with(root, confinement, Box::new(local)).await
    }

    pub async fn go_with(
        &self,
        root: &Path,
        confinement: Confinement,
        environment: Box<dyn Environment>,
    ) -> Ran {
        let chain = self.plan.agents.iter().map(|agent| {
            let adapter: Box<dyn Adapter> = adapters::find(&agent.adapter).unwrap();
            (adapter, agent.options.clone())
        });
        let cx = RunContext {
            plan: self.plan.clone(),
            experiment: Experiment::new(root, "run"),
            host: self.host(),
            environment,
            chain: chain.collect(),
            limits: RateLimits::default(),
            confinement,
            observer: self.seen.clone(),
            cancel: CancellationToken::new(),
            store: Store::open(root).unwrap(),
        };
        runner::run(&cx, &self.instances()).await
    }

    pub async fn result(&self) -> InstanceResult {
        let mut ran = self.go().await;
        assert_eq!(ran.results.len(), 1);
        ran.results.remove(0)
    }

    /// The stages that were run, not skipped, since the last call.
    pub fn run_stages(&self) -> Vec<Stage> {
        let seen = std::mem::take(&mut *self.seen.0.lock().unwrap());
        let begun = seen.into_iter().filter_map(|event| match event {
            Event::StageStarted { stage, .. } => Some(stage),
            _ => None,
        });
        begun.collect()
    }
}

pub fn has_python() -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path
        .split(':')
        .any(|folder| Path::new(folder).join("python3").is_file());
    if !found {
        println!("skipped: there is no python3 here");
    }
    found
}

/// It is the agent's own doing, and a rerun would find the same.
#[tokio::test]
async fn whoever_removes_all_that_is_its_own_has_made_an_empty_patch() {
    if !has_python() {
        return;
    }
    let world = World::new("rm -rf \"$(dirname \"$PWD\")\"");
    let result = world.result().await;
    let class = result.failure.map(|failure| failure.class);
    assert_eq!(class, Some(FailureClass::EmptyPatch));
    assert_eq!(result.patch.filtered, [". (the whole tree is gone)"]);
}

fn states(result: &InstanceResult) -> Vec<(&'static str, StageState)> {
    result
        .stages
        .iter()
        .map(|(stage, state)| (stage.name(), *state))
        .collect()
}

#[tokio::test]
async fn req_w18_gold_resolves_and_everything_that_the_record_promises_is_there() {
    if !has_python() {
        return;
    }
    let mut world = World::new("gold");
    world.plan.baseline = true;
    let result = world.result().await;
    assert_eq!(result.failure, None);
    assert!(result.resolved);
    let done = |name: &'static str| (name, StageState::Done);
    let all = Stage::ALL.map(|stage| done(stage.name()));
    assert_eq!(states(&result), all);
    let baseline = result.baseline.clone().unwrap();
    assert!(baseline.valid);
    assert!(!result.fail_to_pass.pass.is_empty() && result.fail_to_pass.fail.is_empty());
    let instance = &world.instances()[0];
    assert_eq!(result.fail_to_pass.pass, instance.answers.fail_to_pass);
    assert_eq!(result.environment.backend, "local");
    assert!(result.environment.interpreter.is_some());
    assert_eq!(result.leaks.found, Vec::<String>::new());
    let attempt = &result.adapter_attempts[0];
    assert_eq!(
        (
            attempt.adapter.as_str(),
            attempt.outcome.as_str(),
            attempt.subprocess
        ),
        ("replay", "resolved", false)
    );
    for name in [
        "result.json",
        "manifest.json",
        "task.json",
        "s4_worker.log",
        "trajectory.json",
        "model.patch",
        "prediction.jsonl",
        "report.json",
        "test_output.txt",
    ] {
        assert!(world.dir().join(name).is_file(), "{name}");
    }
    let official = world
        .root()
        .join("run/logs/run_evaluation/run/tested")
        .join(TASK);
    for name in [
        "run_instance.log",
        "patch.diff",
        "eval.sh",
        "test_output.txt",
        "report.json",
    ] {
        assert!(official.join(name).is_file(), "{name}");
    }
    let written: InstanceResult =
        serde_json::from_slice(&fs::read(world.dir().join("result.json")).unwrap()).unwrap();
    assert_eq!(written, result);
}

#[tokio::test]
async fn req_w11_what_is_done_is_not_done_again() {
    if !has_python() {
        return;
    }
    let world = World::new("gold");
    let first = world.result().await;
    world.run_stages();
    assert_eq!(world.result().await, first);
    assert_eq!(world.run_stages(), []);
    // An output that is gone takes its stage, and what follows, with it.
    fs::remove_file(world.dir().join("report.json")).unwrap();
    fs::remove_file(world.dir().join("result.json")).unwrap();
    let again = world.result().await;
    assert_eq!(world.run_stages(), [Stage::Score, Stage::Record]);
    assert_eq!(
        (again.resolved, again.fail_to_pass),
        (first.resolved, first.fail_to_pass)
    );
}

#[tokio::test]
async fn req_w11_a_manifest_that_cannot_be_read_is_kept_and_the_trial_runs_again() {
    if !has_python() {
        return;
    }
    let world = World::new("gold");
    let first = world.result().await;
    fs::write(world.dir().join("manifest.json"), "{ torn").unwrap();
    world.run_stages();
    let again = world.result().await;
    assert_eq!(world.run_stages().first(), Some(&Stage::Build));
    assert_eq!(again.resolved, first.resolved);
    assert_eq!(
        fs::read_to_string(world.dir().join("manifest.json.corrupt-1")).unwrap(),
        "{ torn"
    );
}

#[tokio::test]
async fn req_w11_a_run_that_was_moved_has_lost_nothing() {
    if !has_python() {
        return;
    }
    let world = World::new("gold");
    let [one, two] = ["one", "two"].map(|name| world.folder.path().join(name));
    let first = world.go_in(&one, Confinement::none()).await.results;
    fs::rename(&one, &two).unwrap();
    world.run_stages();
    let again = world.go_in(&two, Confinement::none()).await.results;
    assert_eq!((again, world.run_stages()), (first, Vec::new()));
}

#[tokio::test]
async fn req_w11_a_result_that_cannot_be_read_is_written_again() {
    if !has_python() {
        return;
    }
    let world = World::new("gold");
    let first = world.result().await;
    let path = world.dir().join("result.json");
    let written = || InstanceResult::parse(&fs::read_to_string(&path).unwrap()).unwrap();
    fs::write(&path, "{ torn").unwrap();
    world.run_stages();
    let again = world.result().await;
    assert_eq!(world.run_stages(), [Stage::Record]);
    assert_eq!((again.resolved, written()), (first.resolved, again));
    // What a regrade has written since is what holds.
    let mut graded = written();
    graded.report_source = "v4".to_owned();
    fs::write(&path, serde_json::to_string(&graded).unwrap()).unwrap();
    assert_eq!(world.result().await, graded);
    assert_eq!(world.run_stages(), []);
}

#[tokio::test]
async fn req_w07_an_agent_that_makes_the_fix_and_hangs_is_killed_rescued_and_resolved() {
    if !has_python() {
        return;
    }
    let mut world = World::new("git apply $GOLD\n(setsid sleep 300 &)\nsleep 300\n");
    world.plan.wall_limit = 1.5;
    let result = world.result().await;
    assert!(result.resolved, "{:?}", result.failure);
    let attempt = &result.adapter_attempts[0];
    let told = (
        attempt.killed,
        attempt.rescued,
        attempt.returncode,
        attempt.outcome.as_str(),
        attempt.subprocess,
    );
    assert_eq!(told, (true, true, Some(-15), "resolved", true));
    assert_eq!(result.stages[&Stage::Solve], StageState::Done);
    assert!(attempt.wall_time_seconds >= 1.5);
    let sum: f64 = result.stage_timings.values().sum();
    assert!(
        result.stage_timings[&Stage::Solve] >= attempt.wall_time_seconds
            && sum >= attempt.wall_time_seconds
    );
}

#[tokio::test]
async fn req_w08_an_agent_that_only_hangs_has_nothing_to_rescue() {
    if !has_python() {
        return;
    }
    let mut world = World::new("sleep 300\n");
    world.plan.wall_limit = 0.5;
    let result = world.result().await;
    let attempt = &result.adapter_attempts[0];
    assert_eq!(
        (result.resolved, attempt.killed, attempt.rescued),
        (false, true, false)
    );
    assert_eq!(attempt.outcome, "empty_patch");
    assert_eq!(
        result.failure.map(|failure| failure.class),
        Some(FailureClass::EmptyPatch)
    );
    assert_eq!(
        fs::read_to_string(world.dir().join("model.patch")).unwrap(),
        ""
    );
}

#[tokio::test]
async fn req_q10_an_empty_patch_is_not_run_and_says_so() {
    if !has_python() {
        return;
    }
    let world = World::new("true\n");
    let result = world.result().await;
    assert_eq!(
        result.failure.map(|failure| failure.class),
        Some(FailureClass::EmptyPatch)
    );
    assert_eq!(result.report_source, "no tests were run");
    assert_eq!(result.adapter_attempts[0].outcome, "empty_patch");
    assert!(!world.dir().join("test_output.txt").exists());
}

#[tokio::test]
async fn req_a05_a_second_adapter_takes_over_where_the_first_could_not_work() {
    if !has_python() {
        return;
    }
    let mut world = World::new("echo broken >&2; echo dropping > half; exit 3\n");
    let second = world.agent("test ! -e half && git apply $GOLD\n");
    // What the first one left is noise to nobody: it counts as work unless it failed without any.
    world.plan.agents = vec![world.agent("echo broken >&2; exit 3\n"), second];
    let result = world.result().await;
    let told: Vec<_> = result
        .adapter_attempts
        .iter()
        .map(|attempt| (attempt.outcome.as_str(), attempt.returncode))
        .collect();
    assert_eq!(told, [("failed", Some(3)), ("resolved", Some(0))]);
    assert!(result.resolved);
}

#[tokio::test]
async fn a_grade_never_decides_who_works_next() {
    if !has_python() {
        return;
    }
    let mut world = World::new("echo wrong >> intervals.py\n");
    let second = world.agent("git apply $GOLD\n");
    world.plan.agents.push(second);
    let result = world.result().await;
    assert_eq!((result.resolved, result.adapter_attempts.len()), (false, 1));
    assert_eq!(
        result.failure.map(|failure| failure.class),
        Some(FailureClass::Unresolved)
    );
}

#[tokio::test]
async fn req_w12_an_agent_finds_no_answer_in_anything_that_is_its_own() {
    if !has_python() {
        return;
    }
    let script = "{ env; find . -type f -print0 | xargs -0 cat; find \"$HOME\" \"$TMPDIR\" -type f -print0 | xargs -0 -r cat; \
                  git cat-file --batch-all-objects --batch; git log --all -p; git reflog; git tag; git remote -v; } 2>&1\n";
    let world = World::new(script);
    let _ = world.result().await;
    let seen =
        String::from_utf8_lossy(&fs::read(world.dir().join("agent.stdout")).unwrap()).into_owned();
    // What it is told is its own as well.
    let seen = seen + &fs::read_to_string(world.dir().join("task.json")).unwrap();
    assert!(seen.contains("def merge"), "the agent has seen the tree");
    let answers = &world.instances()[0].answers;
    let added = |patch: &str| -> Vec<String> {
        let lines = patch
            .lines()
            .filter(|line| line.starts_with('+') && !line.starts_with("+++"));
        lines
            .map(|line| line.trim_start_matches('+').trim().to_owned())
            .filter(|line| line.len() > 20)
            .collect()
    };
    let base = fs::read_to_string(
        world
            .plan
            .tasks
            .join("tasks")
            .join(TASK)
            .join("repo/intervals.py"),
    )
    .unwrap();
    for line in added(&answers.gold_patch)
        .into_iter()
        .chain(added(&answers.test_patch))
    {
        assert!(!seen.contains(&line) || base.contains(&line), "{line}");
    }
    for test in &answers.fail_to_pass {
        assert!(!seen.contains(test.as_str()), "{test}");
    }
}

#[tokio::test]
async fn req_w12_an_agent_sees_no_other_run_and_no_other_tree() {
    if !has_python() {
        return;
    }
    let mut world = World::new("gold");
    let (root, work) = (world.root(), world.host().cache.join("work"));
    let host = world.host();
    let cancel = CancellationToken::new();
    let around = hames_eval::environment::Around {
        host: &host,
        cancel: &cancel,
    };
    let confinement = Confinement::probe(&around).await.unwrap();
    if !confinement.is_possible() {
        println!("skipped: this system has no private mounts for us");
        return;
    }
    for file in [
        root.join("gold/run.json"),
        root.join("gold/model.patch"),
        root.join("results.jsonl"),
        work.join("gold/tree/model.patch"),
    ] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "answer").unwrap();
    }
    let look = format!(
        "cat {root}/*/* {root}/results* {work}/*/*/* 2>/dev/null; git apply $GOLD; python3 --version >/dev/null\n",
        root = root.display(),
        work = work.display()
    );
    // A folder with nothing but runs in it goes as a whole; from any other, the runs.
    for (id, other) in [("alone", None), ("beside", Some("notes.txt"))] {
        if let Some(other) = other {
            fs::write(root.join(other), "").unwrap();
        }
        id.clone_into(&mut world.plan.model_name);
        world.plan.agents = vec![world.agent(&look)];
        let ran = world.go_in(&root, confinement.clone()).await;
        assert!(ran.results[0].resolved, "{:?}", ran.results[0].failure);
        let printed = fs::read_to_string(world.dir().join("agent.stdout")).unwrap();
        assert_eq!(printed, "", "{id}");
    }
}

#[tokio::test]
async fn a_key_reaches_no_agent_that_does_not_ask_for_it() {
    if !has_python() {
        return;
    }
    let world = World::new("env\n");
    let mut host = world.host();
    host.variables
        .insert("OPENAI_API_KEY".to_owned(), "sk-secret".to_owned());
    host.variables
        .insert("SOME_TOKEN".to_owned(), "hidden".to_owned());
    let cx = RunContext {
        plan: world.plan.clone(),
        experiment: Experiment::new(&world.root(), "run"),
        host,
        environment: Box::new(Local::new(LocalOptions::default())),
        chain: vec![(
            adapters::find("command").unwrap(),
            world.plan.agents[0].options.clone(),
        )],
        limits: RateLimits::default(),
        confinement: Confinement::none(),
        observer: world.seen.clone(),
        cancel: CancellationToken::new(),
        store: Store::open(&world.root()).unwrap(),
    };
    runner::run(&cx, &world.instances()).await;
    let seen = fs::read_to_string(world.dir().join("agent.stdout")).unwrap();
    let variables: BTreeMap<&str, &str> = seen
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    assert!(!variables.contains_key("SOME_TOKEN"), "{seen}");
    assert_ne!(
        variables.get("HOME").copied(),
        std::env::var("HOME").ok().as_deref()
    );
}

#[tokio::test]
async fn req_w15_two_runs_of_one_trial_do_not_meet() {
    if !has_python() {
        return;
    }
    let world = World::new("sleep 0.5; git apply $GOLD\n");
    let (first, second) = tokio::join!(world.go(), world.go());
    let mut told: Vec<_> = [first, second]
        .into_iter()
        .map(|ran| {
            (
                ran.results[0].resolved,
                ran.results[0]
                    .failure
                    .as_ref()
                    .map(|failure| failure.message.contains("in use by process")),
            )
        })
        .collect();
    told.sort();
    assert_eq!(told, [(false, Some(true)), (true, None)]);
}

#[tokio::test]
async fn runs_of_one_name_in_two_folders_do_not_meet_in_the_cache() {
    if !has_python() {
        return;
    }
    let world = World::new("sleep 0.5; git apply $GOLD; sleep 0.5\n");
    let [one, two] = ["one", "two"].map(|name| world.folder.path().join(name));
    let (first, second) = tokio::join!(
        world.go_in(&one, Confinement::none()),
        world.go_in(&two, Confinement::none())
    );
    let failures = [first, second].map(|ran| ran.results[0].failure.clone());
    assert_eq!(failures, [None, None]);
}

#[tokio::test]
async fn trials_of_one_instance_lie_side_by_side() {
    if !has_python() {
        return;
    }
    let mut world = World::new("gold");
    world.plan.attempts = 2;
    world.plan.workers = 2;
    let ran = world.go().await;
    let told: Vec<_> = ran
        .results
        .iter()
        .map(|result| (result.trial, result.resolved))
        .collect();
    assert_eq!(told, [(1, true), (2, true)]);
    let second = world.root().join("run").join(format!("{TASK}~2"));
    assert!(second.join("result.json").is_file());
    assert!(
        world
            .root()
            .join("run/logs/run_evaluation/run~2/tested")
            .join(TASK)
            .join("report.json")
            .is_file()
    );
}

#[tokio::test]
async fn req_w11_what_a_kill_leaves_half_written_is_gone_after_the_rerun() {
    if !has_python() {
        return;
    }
    let world = World::new("gold");
    let first = world.result().await;
    let half = world.dir().join(".unfinished-abc");
    fs::write(&half, "{").unwrap();
    assert_eq!(world.result().await, first);
    assert!(!half.exists());
}

#[tokio::test]
async fn req_w02_an_instance_that_its_base_resolves_already_counts_for_nobody() {
    if !has_python() {
        return;
    }
    let mut world = World::new("gold");
    world.plan.baseline = true;
    let lists = world.plan.tasks.join("tasks").join(TASK).join("tests.json");
    let mut tests: serde_json::Value = serde_json::from_slice(&fs::read(&lists).unwrap()).unwrap();
    let passing = tests["PASS_TO_PASS"][0].clone();
    tests["FAIL_TO_PASS"]
        .as_array_mut()
        .unwrap()
        .push(passing.clone());
    fs::write(&lists, tests.to_string()).unwrap();
    let result = world.result().await;
    let failure = result.failure.unwrap();
    assert_eq!(
        (failure.class, failure.stage),
        (FailureClass::InvalidInstance, Stage::Baseline)
    );
    assert!(!failure.class.counts() && !result.resolved);
    let baseline = result.baseline.unwrap();
    assert!(!baseline.valid);
    assert_eq!(baseline.fail_to_pass_that_pass, [passing.as_str().unwrap()]);
    assert!(!result.stages.contains_key(&Stage::Solve));
    // Nobody goes on with it: nothing of it is left to lie about.
    let work = fs::read_dir(world.host().cache.join("work")).unwrap();
    assert_eq!(work.count(), 0);
}

/// A Harbor task: its tests come after the agent has ended, and give a reward.
#[tokio::test]
async fn a_harbor_task_is_solved_by_its_script_and_judged_by_its_reward() {
    if !has_python() {
        return;
    }
    let mut world = World::new("gold");
    let task = world.folder.path().join("harbor/greet");
    let file = |name: &str, text: &str| {
        let path = task.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file(
        "task.toml",
        "schema_version = \"1.0\"\n[verifier]\ntimeout_sec = 60.0\n",
    );
    file("instruction.md", "Write hello into greeting.txt.\n");
    file("environment/README.md", "empty\n");
    file(
        "solution/solve.sh",
        "#!/bin/bash\necho hello > greeting.txt\n",
    );
    let tests = "#!/bin/bash\nmkdir -p /logs/verifier\n\
                 if [ \"$(cat greeting.txt)\" = hello ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n";
    file("tests/test.sh", tests);
    world.plan.tasks = task;
    world.plan.filter = Filter::default();
    let gold = world.result().await;
    assert!(gold.resolved, "{:?}", gold.failure);
    assert_eq!(gold.patch.files, ["greeting.txt"]);
    world.plan.agents = vec![AgentChoice {
        adapter: "command".to_owned(),
        options: Options {
            command: "echo hi > greeting.txt".to_owned(),
            ..Options::default()
        },
    }];
    let wrong = world.result().await;
    let failure = wrong.failure.clone().unwrap();
    assert_eq!(
        (wrong.report_source.as_str(), wrong.resolved, failure.class),
        ("reward", false, FailureClass::Unresolved)
    );
    assert_eq!(
        failure.message,
        "the task's tests gave a reward of 0, not 1"
    );
    // Its tests are asked about an untouched tree as well.
    "true".clone_into(&mut world.plan.agents[0].options.command);
    let nothing = world.result().await;
    assert_eq!(nothing.failure, wrong.failure);
    assert_eq!((nothing.patch.bytes, nothing.resolved), (0, false));
    // No log holds a reward: what was given stays.
    world.plan.agents = vec![world.agent("gold")];
    let gold = world.result().await;
    let experiment = Experiment::new(&world.root(), "run");
    let version = hames_eval::grading::Version::V4;
    let regraded = hames_eval::regrade::run(&experiment, &world.plan, &world.instances(), version);
    assert_eq!((regraded.unwrap().without_log, gold.resolved), (1, true));
    assert_eq!(world.result().await, gold);
}
