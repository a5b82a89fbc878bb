//! A patch on a tree, by the commands of a chain in their order.
//!
//! Which commands those are is the grader's business.

use std::{fs, path::Path, time::Duration};

use super::Scratch;
use crate::{
    environment::{ApplyStep, Around, Candidate},
    repository::{git, git_text},
    stage::StageError,
    tool::{Answer, Tool},
};

pub(super) struct Applied {
    pub by: Option<usize>,
    pub log: String,
}

pub(super) async fn apply(
    candidate: &Candidate<'_>,
    scratch: &Scratch,
    base: &str,
    cx: &Around<'_>,
) -> Result<Applied, StageError> {
    let mut log = String::new();
    if candidate.patch.is_empty() {
        return Ok(Applied { by: Some(0), log });
    }
    fs::write(&scratch.patch, candidate.patch)
        .map_err(|error| super::at(&scratch.patch, &error))?;
    for (index, step) in candidate.apply.iter().enumerate() {
        let answer = attempt(step, &scratch.patch, &scratch.tree, cx).await?;
        for said in [&answer.out, &answer.err] {
            log += &String::from_utf8_lossy(said);
        }
        if answer.is_fine() {
            return Ok(Applied {
                by: Some(index),
                log,
            });
        }
        if step.resets {
            let tree = &scratch.tree;
            git_text(&["reset", "--quiet", "--hard", base], tree, cx).await?;
            git_text(&["clean", "-fdq"], tree, cx).await?;
        }
    }
    Ok(Applied { by: None, log })
}

async fn attempt(
    step: &ApplyStep,
    patch: &Path,
    tree: &Path,
    cx: &Around<'_>,
) -> Result<Answer, StageError> {
    let patch = patch.to_string_lossy();
    let (&program, args) = step.argv.split_first().unwrap_or((&"git", &[]));
    let args = [args, &[&*patch]].concat();
    if program == "git" {
        return git(&args, tree, cx).await;
    }
    let found = cx.host.find(program).ok_or_else(|| StageError::Missing {
        what: program.to_owned(),
        hint: format!("install it, for example with `apt-get install {program}`"),
    })?;
    let env = cx.host.plain_env();
    let tool = Tool {
        program: &found,
        args: &args,
        cwd: tree,
        env: &env,
        stdin: None,
        limit: Duration::from_secs(600),
    };
    tool.run(cx).await
}
