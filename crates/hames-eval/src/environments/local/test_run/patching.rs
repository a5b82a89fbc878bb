//! The commands of an apply chain, run in a tree of this machine.
//!
//! Their order, and what their failing means, is not known here.

use std::{fs, path::Path, time::Duration};

use super::Scratch;
use crate::{
    environment::{Around, Candidate, Work},
    environments::apply::{Applied, Bench, apply},
    repository::{git, git_text},
    stage::StageError,
    tool::{Answer, Tool},
};

struct Tree<'a> {
    tree: &'a Path,
    patch: &'a Path,
    base: &'a str,
    cx: &'a Around<'a>,
}

pub(super) async fn lay(
    candidate: &Candidate<'_>,
    scratch: &Scratch,
    base: &str,
    cx: &Around<'_>,
) -> Result<Applied, StageError> {
    let (tree, patch) = (&scratch.tree, &scratch.patch);
    fs::write(patch, candidate.patch).map_err(|error| super::at(patch, &error))?;
    let bench = Tree {
        tree,
        patch,
        base,
        cx,
    };
    apply(candidate, &bench).await
}

impl Bench for Tree<'_> {
    fn attempt<'a>(&'a self, argv: &'a [&'static str]) -> Work<'a, Answer> {
        Box::pin(self.run(argv))
    }

    fn reset(&self) -> Work<'_, ()> {
        Box::pin(async {
            let reset = ["reset", "--quiet", "--hard", self.base];
            git_text(&reset, self.tree, self.cx).await?;
            git_text(&["clean", "-fdq"], self.tree, self.cx)
                .await
                .map(drop)
        })
    }
}

impl Tree<'_> {
    async fn run(&self, argv: &[&'static str]) -> Result<Answer, StageError> {
        let patch = self.patch.to_string_lossy();
        let (&program, args) = argv.split_first().unwrap_or((&"git", &[]));
        let args = [args, &[&*patch]].concat();
        if program == "git" {
            return git(&args, self.tree, self.cx).await;
        }
        let found = self.cx.host.find(program);
        let found = found.ok_or_else(|| StageError::Missing {
            what: program.to_owned(),
            hint: format!("install it, for example with `apt-get install {program}`"),
        })?;
        let env = self.cx.host.plain_env();
        let tool = Tool {
            program: &found,
            args: &args,
            cwd: self.tree,
            env: &env,
            stdin: None,
            limit: Duration::from_secs(600),
        };
        tool.run(self.cx).await
    }
}
