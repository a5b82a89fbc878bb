//! One run of the tests in a container of its own, which is removed with all that still runs in it.
//!
//! What the output means is the grader's business.

use std::{fs, path::Path, time::Duration};

use hames_tools::{EndCause, Mark, Program, ProgramEnd, run_program};

use super::{
    cli::{Docker, is_daemon},
    container::Container,
    image, workdir,
};
use crate::{
    environment::{Candidate, Prepared, TestOutput, Work},
    environments::{
        apply::{Applied, Bench, apply},
        reward,
        test_log::TestLog,
    },
    instance::{Instance, TestRun},
    stage::StageError,
    tool::Answer,
};

/// Where the official harness puts them.
const PATCH: &str = "/tmp/patch.diff";
const SCRIPT: &str = "/eval.sh";
/// Before the client is killed; the container is removed in any case.
const GRACE: Duration = Duration::from_secs(5);

struct Run<'a> {
    instance: &'a Instance,
    candidate: Candidate<'a>,
    workdir: &'a str,
    container: &'a str,
    docker: &'a Docker<'a>,
}

pub(super) async fn run(
    instance: &Instance,
    prepared: &Prepared,
    candidate: Candidate<'_>,
    network: bool,
    docker: &Docker<'_>,
) -> Result<TestOutput, StageError> {
    let image = prepared.record.image.as_deref().unwrap_or_default();
    let image = image.split_once(' ').map_or(image, |(name, _)| name);
    let workdir = workdir(instance);
    let mut settings = image::network(network);
    for (name, value) in &instance.recipe.env {
        settings.push(format!("--env={name}={value}"));
    }
    let container = Container::start(docker, &instance.id, image, &settings).await?;
    let run = Run {
        instance,
        candidate,
        workdir: &workdir.to_string_lossy(),
        container: &container.id,
        docker,
    };
    let output = run.output().await;
    container.remove().await;
    output
}

impl Bench for Run<'_> {
    fn attempt<'a>(&'a self, argv: &'a [&'static str]) -> Work<'a, Answer> {
        Box::pin(async move {
            let exec = ["exec", "--workdir", self.workdir, self.container];
            self.docker.ask(&[&exec, argv, &[PATCH]].concat()).await
        })
    }

    fn reset(&self) -> Work<'_, ()> {
        Box::pin(async {
            for step in [&["reset", "--quiet", "--hard"][..], &["clean", "-fdq"]] {
                let exec = ["exec", "--workdir", self.workdir, self.container, "git"];
                self.docker.text(&[&exec, step].concat()).await?;
            }
            Ok(())
        })
    }
}

impl Run<'_> {
    async fn output(&self) -> Result<TestOutput, StageError> {
        let applied = self.apply().await?;
        let mut output = TestOutput {
            applied_by: applied.by,
            apply_log: applied.log,
            log: String::new(),
            exit: None,
            timed_out: false,
            seconds: 0.0,
            survivors: 0,
            reward: None,
        };
        if output.applied_by.is_none() {
            return Ok(output);
        }
        self.lay().await?;
        let began = tokio::time::Instant::now();
        let (end, log) = self.listen().await?;
        output.seconds = began.elapsed().as_secs_f64();
        output.log = log;
        output.exit = end.returncode;
        match end.cause {
            EndCause::ByItself => output.survivors = self.survivors().await,
            EndCause::Cancelled => return Err(StageError::Interrupted),
            EndCause::TimedOut => {
                output.timed_out = true;
                let limit = self.candidate.time_limit.as_secs();
                // The official harness says it in these words.
                output.log += &format!("\n\nTimeout error: {limit} seconds exceeded.");
            }
        }
        if end.returncode != Some(0) {
            self.blame(&output.log)?;
        }
        if let TestRun::Reward { .. } = self.instance.tests.run {
            output.reward = self.reward().await?;
        }
        Ok(output)
    }

    async fn apply(&self) -> Result<Applied, StageError> {
        if !self.candidate.patch.is_empty() {
            self.put("patch.diff", self.candidate.patch, PATCH).await?;
        }
        apply(&self.candidate, self).await
    }

    /// What tests need and no agent has seen.
    async fn lay(&self) -> Result<(), StageError> {
        if let Some(assets) = &self.instance.answers.test_assets {
            self.copy(&format!("{}/.", assets.display()), self.workdir)
                .await?;
        }
        if let TestRun::Reward { tests } = &self.instance.tests.run {
            self.copy(&tests.to_string_lossy(), "/tests").await?;
            let folder = ["exec", self.container, "mkdir", "-p", "/logs/verifier"];
            self.docker.text(&folder).await?;
        }
        // Nothing is committed there: HEAD is the base.
        let text = self
            .candidate
            .eval_script
            .replace("{testbed}", self.workdir);
        let text = text.replace("{base}", "HEAD").replace("{tests}", "/tests");
        self.put("eval.sh", &text, SCRIPT).await
    }

    async fn put(&self, name: &str, text: &str, at: &str) -> Result<(), StageError> {
        let file = self.candidate.scratch.join(name);
        let written = fs::create_dir_all(self.candidate.scratch);
        written
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| StageError::io(format_args!("write {}", file.display()), &error))?;
        let copied = self.copy(&file.to_string_lossy(), at).await;
        // An agent may be next: answers do not lie about.
        let _ = fs::remove_file(&file);
        copied
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StageError> {
        let to = format!("{}:{to}", self.container);
        self.docker
            .text(&["cp", "--quiet", from, &to])
            .await
            .map(drop)
    }

    async fn listen(&self) -> Result<(ProgramEnd, String), StageError> {
        let mark = Mark::fresh();
        let program = Program {
            program: &self.docker.program,
            args: &[
                "exec",
                "--workdir",
                self.workdir,
                self.container,
                "bash",
                SCRIPT,
            ],
            cwd: Path::new("/"),
            env: &self.docker.env,
            stdin: None,
            merged: true,
            timeout: self.candidate.time_limit,
            grace: GRACE,
            mark: &mark,
            thorough: false,
            cancel: self.docker.cx.cancel.clone(),
        };
        let mut log = TestLog::default();
        let end = run_program(program, &mut |_, piece| log.add(piece)).await;
        let end = end.map_err(|error| StageError::io("start docker", &error))?;
        Ok((end, log.text()))
    }

    /// Who is left but the one that waits, and the one who tidies up after it.
    async fn survivors(&self) -> usize {
        let list = ["top", self.container, "-eo", "pid,comm"];
        let list = self.docker.text(&list).await.unwrap_or_default();
        let own = ["docker-init", "tini", "tail"];
        let is_other = |line: &&str| {
            line.split_whitespace()
                .nth(1)
                .is_some_and(|name| !own.contains(&name))
        };
        list.lines().skip(1).filter(is_other).count()
    }

    /// A daemon that went away is no failing test.
    fn blame(&self, log: &str) -> Result<(), StageError> {
        if let Some(error) = is_daemon(log) {
            return Err(error);
        }
        let of_daemon = log.lines().rev().take(3).find(|line| {
            line.starts_with("Error response from daemon")
                || line.starts_with("OCI runtime exec failed")
        });
        match of_daemon {
            Some(line) => {
                let what = format!("{}: docker exec: {line}", self.instance.id);
                Err(StageError::Infrastructure(what))
            }
            None => Ok(()),
        }
    }

    async fn reward(&self) -> Result<Option<f64>, StageError> {
        let at = |error| StageError::io("read the reward", &error);
        let folder = tempfile::tempdir_in(self.candidate.scratch).map_err(at)?;
        let from = format!("{}:/logs/verifier/.", self.container);
        let to = folder.path().to_string_lossy();
        self.docker.text(&["cp", "--quiet", &from, &to]).await?;
        Ok(reward::read(folder.path()))
    }
}
