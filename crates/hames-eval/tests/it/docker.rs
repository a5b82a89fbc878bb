//! The docker back-end against a stand-in for its command line: what is asked of it, word by word.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hames_eval::{
    environment::{ApplyStep, Candidate, Environment, Prepared, TestOutput},
    environments::docker::{Docker, DockerOptions},
    instance::{Instance, Source, TestRun},
    lock::Lock,
    stage::StageError,
};

use crate::ground::{Ground, files_below, instance};

const STUB: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/test_data/environments/docker/docker"
);
const HUB: &str = "swebench/sweb.eval.x86_64.owner_1776_demo-1:latest";
const LOCAL: &str = "sweb.eval.x86_64.owner__demo-1:latest";

const GOLD: &str = "--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-echo broken\n+echo mended\n";

/// A host whose docker is the stand-in, with one image.
struct Stage {
    ground: Ground,
    state: PathBuf,
    docker: Docker,
}

impl Stage {
    async fn new() -> Self {
        let mut ground = Ground::new();
        let state = ground.folder("state");
        fs::copy(STUB, state.join("docker")).unwrap();
        ground.make_executable(&state.join("docker"));
        let path = ground.host.variables.get_mut("PATH").unwrap();
        *path = format!("{}:{path}", state.display());
        fs::write(state.join("name"), format!("{HUB}\n")).unwrap();
        fs::write(state.join("hub"), format!("{HUB}\n")).unwrap();
        let image = ground.folder("state/image");
        fs::write(image.join("a.sh"), "echo broken\n").unwrap();
        fs::write(image.join(".gitignore"), "built.so\n").unwrap();
        ground.git(&image, &["init", "-q", "-b", "trunk"]).await;
        ground.git(&image, &["add", "-A"]).await;
        ground.git(&image, &["commit", "-qm", "base"]).await;
        fs::write(image.join("built.so"), "").unwrap();
        ground
            .git(&image, &["commit", "-q", "--allow-empty", "-m", "THE-FIX"])
            .await;
        ground.git(&image, &["tag", "later"]).await;
        ground
            .git(&image, &["reset", "-q", "--hard", "HEAD~1"])
            .await;
        let docker = Docker::new(DockerOptions {
            run: "r1".to_owned(),
            network: false,
        });
        Self {
            ground,
            state,
            docker,
        }
    }

    async fn prepare(&self, instance: &Instance) -> Result<Prepared, StageError> {
        self.docker.prepare(instance, &self.ground.around()).await
    }

    /// What docker was asked since the last time, with what differs between runs made plain.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.state.join("calls")).unwrap_or_default();
        let _ = fs::remove_file(self.state.join("calls"));
        let root = self.ground.path("").to_string_lossy().into_owned();
        let plain = |line: &str| {
            let line = line.trim_end_matches('~').replace(&root, "ROOT/");
            let words = line.split('|').map(|word| {
                let label = word.strip_prefix("--label=hames.lock=ROOT/cache/containers/");
                let image = word.split_once("cache/images/").map(|(_, rest)| rest);
                match (label, image) {
                    (Some(_), _) => "--label=hames.lock=LOCK".to_owned(),
                    (_, Some(_)) => "FOLDER/tree".to_owned(),
                    _ if word.starts_with("source ") => "QUESTION".to_owned(),
                    _ => word.to_owned(),
                }
            });
            words.collect::<Vec<_>>().join(" ")
        };
        calls
            .lines()
            .filter(|line| !line.is_empty())
            .map(plain)
            .collect()
    }

    async fn run_tests(
        &self,
        instance: &Instance,
        prepared: &Prepared,
        trying: (&str, &str, Duration),
    ) -> Result<TestOutput, StageError> {
        let (patch, eval_script, time_limit) = trying;
        let step = |argv: &[&'static str], resets| ApplyStep {
            argv: argv.to_vec(),
            resets,
        };
        let scratch = self.ground.folder("scratch");
        let candidate = Candidate {
            patch,
            eval_script,
            apply: &[
                step(&["git", "apply", "--index", "--3way", "--bad"], true),
                step(&["git", "apply", "--verbose"], true),
            ],
            time_limit,
            scratch: &scratch,
        };
        let output = self
            .docker
            .run_tests(instance, prepared, candidate, &self.ground.around())
            .await;
        assert_eq!(files_below(&scratch), []);
        output
    }
}

fn demo() -> Instance {
    let source = Source::Git {
        url: None,
        commit: String::new(),
    };
    let mut instance = instance("owner__demo-1", source);
    instance.recipe.env = [("A".to_owned(), "b c".to_owned())].into();
    instance
}

const LONG: Duration = Duration::from_secs(60);
const PS: &str =
    "ps --all --no-trunc --filter label=hames.lock --format {{.ID}} {{.Label \"hames.lock\"}}";

#[tokio::test]
async fn an_image_is_looked_for_by_its_official_names_and_its_tree_is_copied_out_once() {
    let stage = Stage::new().await;
    fs::write(stage.state.join("name"), "none\n").unwrap();
    let prepared = stage.prepare(&demo()).await.unwrap();
    let create = format!(
        "create --init --label=hames.run=r1 --label=hames.lock=LOCK --label=hames.instance=owner__demo-1 \
         --network=none --entrypoint=tail {HUB} -f /dev/null"
    );
    let inspect = |name: &str| format!("image inspect --format {{{{.Id}}}} {name}");
    assert_eq!(
        stage.calls(),
        [
            PS,
            &inspect(LOCAL),
            &inspect(HUB),
            &format!("pull --quiet {HUB}"),
            &inspect(HUB),
            &create,
            "start c0",
            "exec c0 bash -c QUESTION",
            "cp --quiet c0:/testbed FOLDER/tree",
            "rm --force --volumes c0",
        ]
    );
    assert_eq!(prepared.record.image, Some(format!("{HUB} (sha256:1234)")));
    assert_eq!(
        (prepared.record.backend.as_str(), prepared.record.network),
        ("docker", Some(false))
    );

    assert_eq!(stage.prepare(&demo()).await.unwrap(), prepared);
    assert_eq!(stage.calls(), [inspect(LOCAL), inspect(HUB)]);

    // The agent's tree ends at the image's HEAD: what came after is in the image alone.
    let tree = stage.ground.path("tree");
    let checkout = stage
        .docker
        .checkout(&demo(), &prepared, &tree, &stage.ground.around())
        .await
        .unwrap();
    assert_eq!(checkout.head, prepared.base);
    assert_eq!(
        stage
            .ground
            .git(&tree, &["log", "--all", "--format=%s"])
            .await,
        "base"
    );
    assert_eq!(
        stage
            .ground
            .git(&tree, &["for-each-ref", "--format=%(refname)"])
            .await,
        "refs/heads/main"
    );
    assert!(tree.join("a.sh").exists() && !tree.join("built.so").exists());
    assert_eq!(stage.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn tests_run_in_a_fresh_container_that_is_removed_with_all_in_it() {
    let stage = Stage::new().await;
    let prepared = stage.prepare(&demo()).await.unwrap();
    stage.calls();
    let script = "cd {testbed}\nsh a.sh\ngit rev-parse {base}\nls built.so\nexit 3\n";
    let output = stage
        .run_tests(&demo(), &prepared, (GOLD, script, LONG))
        .await
        .unwrap();
    assert_eq!(output.applied_by, Some(1));
    assert!(
        output.apply_log.contains("Applied patch a.sh cleanly"),
        "{}",
        output.apply_log
    );
    assert_eq!(output.log, format!("mended\n{}\nbuilt.so\n", prepared.base));
    assert_eq!(
        (output.exit, output.timed_out, output.survivors),
        (Some(3), false, 1)
    );
    assert_eq!(
        stage.calls(),
        [
            &format!(
                "create --init --label=hames.run=r1 --label=hames.lock=LOCK \
                 --label=hames.instance=owner__demo-1 --network=none --env=A=b c --entrypoint=tail {HUB} -f /dev/null"
            ),
            "start c1",
            "cp --quiet ROOT/scratch/patch.diff c1:/tmp/patch.diff",
            "exec --workdir /testbed c1 git apply --index --3way --bad /tmp/patch.diff",
            "exec --workdir /testbed c1 git reset --quiet --hard",
            "exec --workdir /testbed c1 git clean -fdq",
            "exec --workdir /testbed c1 git apply --verbose /tmp/patch.diff",
            "cp --quiet ROOT/scratch/eval.sh c1:/eval.sh",
            "exec --workdir /testbed c1 bash /eval.sh",
            "top c1 -eo pid,comm",
            "rm --force --volumes c1",
        ]
    );
    let refused = stage
        .run_tests(&demo(), &prepared, ("no patch", "echo ran", LONG))
        .await
        .unwrap();
    assert_eq!((refused.applied_by, refused.log.as_str()), (None, ""));
    let calls = stage.calls();
    assert_eq!(calls.last().unwrap(), "rm --force --volumes c2");
    assert!(!calls.iter().any(|call| call.contains("eval.sh")));
}

#[tokio::test]
async fn at_its_limit_a_container_is_removed_and_the_log_says_why() {
    let stage = Stage::new().await;
    let prepared = stage.prepare(&demo()).await.unwrap();
    let slow = "echo begun; while :; do sleep 1; done";
    let output = stage
        .run_tests(&demo(), &prepared, ("", slow, Duration::from_secs(1)))
        .await
        .unwrap();
    assert!(output.timed_out);
    assert_eq!(output.log, "begun\n\n\nTimeout error: 1 seconds exceeded.");
    assert_eq!(stage.calls().last().unwrap(), "rm --force --volumes c1");
}

#[tokio::test]
async fn a_task_s_own_tests_are_laid_in_the_container_and_their_reward_is_read() {
    let stage = Stage::new().await;
    let mut instance = demo();
    instance.source = Source::Image {
        workdir: PathBuf::from("/testbed"),
    };
    let tests = stage.ground.folder("task/tests");
    fs::write(
        tests.join("test.sh"),
        "cp /testbed/reward /logs/verifier/reward.txt\n",
    )
    .unwrap();
    instance.tests.run = TestRun::Reward { tests };
    let prepared = stage.prepare(&instance).await.unwrap();
    stage.calls();
    let script = "echo 0.5 > /logs/verifier/reward.txt; cat {tests}/test.sh | wc -l";
    let output = stage
        .run_tests(&instance, &prepared, ("", script, LONG))
        .await
        .unwrap();
    assert_eq!((output.log.trim(), output.reward), ("1", Some(0.5)));
    let calls = stage.calls();
    assert!(
        calls.contains(&"cp --quiet ROOT/task/tests c1:/tests".to_owned()),
        "{calls:?}"
    );
    assert!(
        calls.contains(&"exec c1 mkdir -p /logs/verifier".to_owned()),
        "{calls:?}"
    );
}

#[tokio::test]
async fn fault_n02_containers_of_dead_runs_are_removed_and_those_of_live_ones_are_not() {
    let stage = Stage::new().await;
    let folder = stage.ground.folder("cache/containers");
    let live = Lock::take(&folder.join("live.lock"), "").unwrap();
    fs::write(folder.join("dead.lock"), "1").unwrap();
    let elsewhere = stage.ground.folder("elsewhere").join("dead.lock");
    fs::write(&elsewhere, "1").unwrap();
    let list = [
        ("a1", &folder.join("dead.lock")),
        ("a2", &folder.join("live.lock")),
        ("a3", &folder.join("dead.lock")),
        ("a4", &elsewhere),
    ];
    let list: String = list
        .iter()
        .map(|(id, lock)| format!("{id}\t{}\n", lock.display()))
        .collect();
    fs::write(stage.state.join("containers"), list).unwrap();
    stage.prepare(&demo()).await.unwrap();
    let calls = stage.calls();
    let removed: Vec<&str> = calls
        .iter()
        .filter_map(|call| call.strip_prefix("rm --force --volumes "))
        .collect();
    assert_eq!(removed, ["a1", "a3", "c0"]);
    assert!(live.path().exists() && !folder.join("dead.lock").exists() && elsewhere.exists());
}

#[tokio::test]
async fn what_docker_cannot_do_is_told_with_a_remedy() {
    let stage = Stage::new().await;
    let mut unknown = demo();
    unknown.recipe.image = "nobody/nothing:1".to_owned();
    assert_eq!(
        stage.prepare(&unknown).await.unwrap_err().to_string(),
        "owner__demo-1: the image nobody/nothing:1 (Error response from daemon: manifest for \
         nobody/nothing:1 not found: manifest unknown) is missing: build it, or correct the task's `image`"
    );
    let prepared = stage.prepare(&demo()).await.unwrap();
    let gone = "echo 'Error response from daemon: container c1 is not running' >&2; exit 1";
    let refused = stage
        .run_tests(&demo(), &prepared, ("", gone, LONG))
        .await
        .unwrap_err();
    let expected =
        "owner__demo-1: docker exec: Error response from daemon: container c1 is not running";
    assert_eq!(refused, StageError::Infrastructure(expected.to_owned()));

    for (says, kind) in [
        (
            "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
            true,
        ),
        ("write /x: no space left on device", false),
    ] {
        fs::write(stage.state.join("says"), says).unwrap();
        let refused = stage.prepare(&unknown).await.unwrap_err();
        assert_eq!(
            matches!(&refused, StageError::Missing { .. }),
            kind,
            "{refused}"
        );
        assert_eq!(
            matches!(&refused, StageError::Infrastructure(_)),
            !kind,
            "{refused}"
        );
        assert!(refused.to_string().contains(says), "{refused}");
    }
    let mut bare = Ground::new();
    bare.host
        .variables
        .insert("PATH".to_owned(), "/nowhere".to_owned());
    let refused = Docker::default()
        .check(&demo(), &bare.around())
        .unwrap_err();
    let expected =
        "docker is missing: install it and start its daemon, or run with --environment local";
    assert_eq!(refused.to_string(), expected);
    assert!(!Path::new(&stage.state).join("c1").exists());
}
