//! One run of the tests: a clean base, the patch laid on it, the eval script, and nothing of it left running.
//!
//! What the output means is the grader's business.

mod patching;
mod script;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hames_tools::{EndCause, Mark, Program, ProgramEnd, run_program};

use super::{check_out, network::Network};
use crate::{
    environment::{Around, Candidate, Prepared, TestOutput},
    environments::{reward, test_log::TestLog},
    experiment::write_atomically,
    instance::{Instance, TestRun},
    removal::remove_tree,
    repository::Depth,
    stage::StageError,
};

/// From being asked to end to being killed.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub network: &'a Network,
    pub thorough: bool,
}

/// The folders of one run, below the caller's.
#[derive(Debug)]
struct Scratch {
    tree: PathBuf,
    home: PathBuf,
    temp: PathBuf,
    tests: PathBuf,
    logs: PathBuf,
    patch: PathBuf,
    script: PathBuf,
    mark: PathBuf,
}

pub(super) async fn run(
    instance: &Instance,
    prepared: &Prepared,
    candidate: Candidate<'_>,
    around: Surroundings<'_>,
    cx: &Around<'_>,
) -> Result<TestOutput, StageError> {
    let scratch = Scratch::fresh(candidate.scratch).await?;
    let output = run_in(&scratch, instance, prepared, candidate, around, cx).await;
    // An agent may be next: the answers that were laid out here go first.
    scratch.clear()?;
    output
}

async fn run_in(
    scratch: &Scratch,
    instance: &Instance,
    prepared: &Prepared,
    candidate: Candidate<'_>,
    around: Surroundings<'_>,
    cx: &Around<'_>,
) -> Result<TestOutput, StageError> {
    let tree = &scratch.tree;
    let checkout = check_out(instance, prepared, tree, Depth::Shallow, cx).await?;
    let applied = patching::lay(&candidate, scratch, &prepared.base, cx).await?;
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
    scratch.lay(instance)?;
    let text = script::settled(instance, &candidate, scratch, &prepared.base);
    fs::write(&scratch.script, text).map_err(|error| at(&scratch.script, &error))?;
    let env = variables(checkout.env, scratch, around.network, cx);
    let began = tokio::time::Instant::now();
    let (end, log) = listen(scratch, &env, candidate.time_limit, around, cx).await?;
    output.seconds = began.elapsed().as_secs_f64();
    output.log = log;
    output.exit = end.returncode;
    output.survivors = end.survivors;
    match end.cause {
        EndCause::ByItself => {}
        EndCause::Cancelled => return Err(StageError::Interrupted),
        EndCause::TimedOut => {
            output.timed_out = true;
            let limit = candidate.time_limit.as_secs();
            // The official harness says it in these words.
            output.log += &format!("\n\nTimeout error: {limit} seconds exceeded.");
        }
    }
    if let TestRun::Reward { .. } = instance.tests.run {
        output.reward = reward::read(&scratch.logs.join("verifier"));
    }
    Ok(output)
}

async fn listen(
    scratch: &Scratch,
    env: &[(String, String)],
    limit: Duration,
    around: Surroundings<'_>,
    cx: &Around<'_>,
) -> Result<(ProgramEnd, String), StageError> {
    let bash = cx.host.find("bash").unwrap_or_else(|| "bash".into());
    let (bash, script) = (bash.to_string_lossy(), scratch.script.to_string_lossy());
    let words = around.network.around(&[&bash, &script]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (program, args) = words.split_first().unwrap_or((&"bash", &[]));
    let mark = Mark::fresh();
    let written = write_atomically(&scratch.mark, mark.as_str().as_bytes());
    written.map_err(|error| at(&scratch.mark, &error))?;
    let program = Program {
        program: Path::new(program),
        args,
        cwd: &scratch.tree,
        env,
        stdin: None,
        merged: true,
        timeout: limit,
        grace: GRACE,
        mark: &mark,
        thorough: around.thorough,
        cancel: cx.cancel.clone(),
    };
    let mut log = TestLog::default();
    let end = run_program(program, &mut |_, piece| log.add(piece)).await;
    let end = end.map_err(|error| StageError::io("start the tests", &error))?;
    Ok((end, log.text()))
}

/// No keys, and no home but its own.
fn variables(
    own: Vec<(String, String)>,
    scratch: &Scratch,
    network: &Network,
    cx: &Around<'_>,
) -> Vec<(String, String)> {
    let mut env = cx.host.plain_env();
    let folder = |path: &Path| path.to_string_lossy().into_owned();
    let mut last = own;
    last.push(("HOME".to_owned(), folder(&scratch.home)));
    last.push(("TMPDIR".to_owned(), folder(&scratch.temp)));
    if !network.reaches() {
        // An installer that asks all the same is told at once.
        last.push(("PIP_NO_INDEX".to_owned(), "1".to_owned()));
    }
    env.retain(|(name, _)| !last.iter().any(|(own, _)| own == name));
    env.extend(last);
    env
}

impl Scratch {
    /// Empty: what an earlier run left there, processes too, is gone.
    async fn fresh(folder: &Path) -> Result<Self, StageError> {
        // Some tests compare their paths with resolved ones.
        fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        let folder = fs::canonicalize(folder).map_err(|error| at(folder, &error))?;
        let scratch = Self {
            tree: folder.join("testbed"),
            home: folder.join("home"),
            temp: folder.join("tmp"),
            tests: folder.join("tests"),
            logs: folder.join("logs"),
            patch: folder.join("patch.diff"),
            script: folder.join("eval.sh"),
            mark: folder.join("tests.mark"),
        };
        if let Some(mark) = fs::read_to_string(&scratch.mark)
            .ok()
            .and_then(|text| Mark::parse(&text))
        {
            mark.end(GRACE).await;
        }
        scratch.clear()?;
        for new in [&scratch.home, &scratch.temp] {
            fs::create_dir_all(new).map_err(|error| at(new, &error))?;
        }
        Ok(scratch)
    }

    fn clear(&self) -> Result<(), StageError> {
        let folders = [
            &self.tree,
            &super::beside(&self.tree),
            &self.home,
            &self.temp,
            &self.tests,
            &self.logs,
        ];
        for old in folders.into_iter().filter(|old| old.exists()) {
            remove_tree(old).map_err(|error| at(old, &error))?;
        }
        for old in [&self.patch, &self.script, &self.mark] {
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    /// What tests need and no agent has seen.
    fn lay(&self, instance: &Instance) -> Result<(), StageError> {
        if let Some(assets) = &instance.answers.test_assets {
            script::copy(assets, &self.tree).map_err(|error| at(assets, &error))?;
        }
        if let TestRun::Reward { tests } = &instance.tests.run {
            script::copy(tests, &self.tests).map_err(|error| at(tests, &error))?;
            script::settle_all(&self.tests, self).map_err(|error| at(&self.tests, &error))?;
            let verifier = self.logs.join("verifier");
            fs::create_dir_all(&verifier).map_err(|error| at(&verifier, &error))?;
        }
        Ok(())
    }
}

fn at(path: &Path, error: &std::io::Error) -> StageError {
    StageError::io(format_args!("use {}", path.display()), error)
}
