//! An agent's trial on test ground: a tiny base, a checkout of it, and agents that are shell scripts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use hames_eval::{
    adapter::{Adapter, CommandLine, Left, Options, Place, Plan, Reading},
    confinement::Confinement,
    environment::{Checkout, Work},
    experiment::TrialDir,
    host::Host,
    instance::Task,
    patch::{self, Against},
    rate_limit::RateLimits,
    stage::StageError,
    stages::s4_solve::{self, SolveContext, Solved},
};

use crate::ground::Ground;

/// What the base holds, before anybody works in it.
const BASE: [(&str, &[u8]); 3] = [
    ("code.py", b"def double(n):\n    return n + n + 1\n"),
    ("docs/read me.md", b"hello\n"),
    (".gitignore", b"*.log\nbuild/\n"),
];

/// An agent that is a script in the tree.
pub struct Script {
    pub name: &'static str,
    pub script: String,
    pub passes: &'static [&'static str],
    /// Told by `read`, from what was printed.
    pub reads: fn(&Left<'_>) -> Reading,
    pub missing: bool,
    pub files: Vec<(PathBuf, String)>,
    pub args: Vec<String>,
    pub grace: Duration,
    pub starts: AtomicUsize,
}

impl Script {
    pub fn new(script: &str) -> Self {
        Self {
            name: "script",
            script: script.to_owned(),
            passes: &[],
            reads: |_| Reading::default(),
            missing: false,
            files: Vec::new(),
            args: Vec::new(),
            grace: Duration::from_millis(300),
            starts: AtomicUsize::new(0),
        }
    }
}

impl Adapter for Script {
    fn name(&self) -> &'static str {
        self.name
    }

    fn passes(&self) -> &'static [&'static str] {
        self.passes
    }

    fn check(&self, _: &Host, _: &Options) -> Result<(), StageError> {
        match self.missing {
            true => Err(StageError::Missing {
                what: "the program script".to_owned(),
                hint: "write it".to_owned(),
            }),
            false => Ok(()),
        }
    }

    fn plan(&self, _: &Task, _: &Place, _: &Host, _: &Options) -> Result<Plan, StageError> {
        self.starts.fetch_add(1, SeqCst);
        let mut line = CommandLine::new("/bin/sh");
        line.args = vec!["-c".to_owned(), self.script.clone(), "sh".to_owned()];
        line.args.extend(self.args.iter().cloned());
        line.files.clone_from(&self.files);
        line.grace = self.grace;
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        (self.reads)(left)
    }
}

/// A base in a mirror, and what a trial has of it.
pub struct World {
    pub ground: Ground,
    pub place: Place,
    pub checkout: Checkout,
    pub mirror: PathBuf,
    pub trial: TrialDir,
    pub limits: RateLimits,
    pub confinement: Confinement,
    pub hide: Vec<PathBuf>,
    pub wall: Duration,
    pub retries: u32,
    /// Told to stop as soon as the agent has printed.
    pub stops_at_output: bool,
}

impl World {
    pub async fn new() -> Self {
        let files: Vec<(&str, &[u8])> = BASE.to_vec();
        Self::of(&files).await
    }

    pub async fn of(base: &[(&str, &[u8])]) -> Self {
        let ground = Ground::new();
        let source = ground.folder("source");
        ground.git(&source, &["init", "--quiet"]).await;
        for (name, bytes) in base {
            let path = source.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        Self::of_tree(ground, &source).await
    }

    /// The tree is a repository without a commit.
    pub async fn of_tree(ground: Ground, source: &Path) -> Self {
        let head = hames_eval::repository::commit_all(source, "base", &ground.around())
            .await
            .unwrap();
        let mirror = ground.path("mirror");
        let [from, to] = [source, &mirror].map(|path| path.to_str().unwrap());
        let clone = ["clone", "--quiet", "--bare", from, to];
        ground.git(source, &clone).await;
        // One file is copied faster than many.
        ground
            .git(&mirror, &["repack", "-a", "-d", "--quiet"])
            .await;
        let work = ground.folder("work");
        let place = Place {
            tree: work.join("tree"),
            home: work.join("home"),
            temp: work.join("tmp"),
            env: vec![("FROM_PLACE".to_owned(), "place".to_owned())],
        };
        let checkout = Checkout {
            tree: place.tree.clone(),
            head,
            env: place.env.clone(),
        };
        let world = Self {
            trial: TrialDir(ground.folder("trial")),
            ground,
            place,
            checkout,
            mirror,
            limits: RateLimits::default(),
            confinement: Confinement::none(),
            hide: Vec::new(),
            wall: Duration::from_secs(60),
            retries: 0,
            stops_at_output: false,
        };
        world.lay_out().await;
        world
    }

    pub async fn lay_out(&self) {
        for folder in [&self.place.home, &self.place.temp] {
            let _ = fs::remove_dir_all(folder);
            fs::create_dir_all(folder).unwrap();
        }
        self.lay_out_in(&self.place.tree).await;
    }

    /// A clean checkout: cloned once, and copied each time.
    pub async fn lay_out_in(&self, tree: &Path) {
        let pristine = self.ground.path("pristine");
        if !pristine.exists() {
            let [from, to] = [&self.mirror, &pristine].map(|path| path.to_str().unwrap());
            let clone = [
                "clone",
                "--quiet",
                "--no-hardlinks",
                "--template=",
                from,
                to,
            ];
            self.ground.git(&self.mirror, &clone).await;
        }
        let _ = fs::remove_dir_all(tree);
        let mut copy = Command::new("cp");
        copy.arg("-a").args([&pristine, tree]);
        assert!(copy.status().unwrap().success());
    }

    pub fn task(&self) -> Task {
        Task {
            instance_id: "owner__demo-1".to_owned(),
            repo: "owner/demo".to_owned(),
            version: "1.0".to_owned(),
            problem_statement: "double is wrong".to_owned(),
            prompt: "Please mend double.".to_owned(),
            gold_patch: None,
        }
    }

    pub async fn extract(&self) -> Result<patch::Extracted, StageError> {
        self.extract_in("scratch").await
    }

    pub async fn extract_in(&self, scratch: &str) -> Result<patch::Extracted, StageError> {
        let objects = [self.mirror.clone(), self.place.tree.clone()];
        let against = Against {
            tree: &self.place.tree,
            base: &self.checkout.head,
            objects: &objects,
            scratch: &self.ground.path(scratch),
        };
        patch::extract(&against, &self.ground.around()).await
    }

    /// S4 with these agents, one taking over from the other.
    pub async fn solve(&self, agents: &[&dyn Adapter]) -> Result<Solved, StageError> {
        let options = Options::default();
        let chain: Vec<_> = agents.iter().map(|agent| (*agent, &options)).collect();
        self.solve_chain(&chain).await
    }

    pub async fn solve_chain(
        &self,
        chain: &[(&dyn Adapter, &Options)],
    ) -> Result<Solved, StageError> {
        let has_work = || -> Work<'_, bool> {
            Box::pin(async {
                let extracted = self.extract_in("s4").await?;
                Ok(!extracted.patch.is_empty())
            })
        };
        let renew = || -> Work<'_, ()> {
            Box::pin(async {
                self.lay_out().await;
                Ok(())
            })
        };
        let on_output = || {
            if self.stops_at_output {
                self.ground.cancel.cancel();
            }
        };
        s4_solve::run(&SolveContext {
            task: &self.task(),
            chain,
            checkout: &self.checkout,
            place: &self.place,
            trial: &self.trial,
            host: &self.ground.host,
            wall_limit: self.wall,
            hide: &self.hide,
            confinement: &self.confinement,
            retries: self.retries,
            limits: &self.limits,
            cancel: &self.ground.cancel,
            on_output: &on_output,
            has_work: &has_work,
            renew: &renew,
        })
        .await
    }

    pub fn printed(&self) -> String {
        fs::read_to_string(self.trial.agent_stdout()).unwrap()
    }

    pub fn log(&self) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.trial.worker_log()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Processes that were told where this world is, or that work in it.
    pub fn alive(&self) -> usize {
        let place = self.ground.path("").display().to_string();
        let place = place.trim_end_matches('/').as_bytes().to_vec();
        let holds = |bytes: &[u8]| bytes.windows(place.len()).any(|part| part == place);
        let own = std::process::id().to_string();
        let is_in = |entry: &fs::DirEntry| {
            if entry.file_name().to_string_lossy() == own {
                return false;
            }
            let path = entry.path();
            let read = |name: &str| fs::read(path.join(name)).unwrap_or_default();
            let cwd = fs::read_link(path.join("cwd")).unwrap_or_default();
            let works = cwd.as_os_str().as_encoded_bytes().starts_with(&place);
            // The dead have no command line.
            !read("cmdline").is_empty() && (works || holds(&read("environ")))
        };
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter(is_in).count()
    }
}
