//! A patch on a tree, by the commands of a chain in their order.
//!
//! Which commands those are is the grader's business, and where they run the back-end's.

use crate::{
    environment::{Candidate, Work},
    stage::StageError,
    tool::Answer,
};

/// A tree that patches are laid on, wherever it is.
pub(super) trait Bench: Sync {
    /// Runs one command with the patch as its last word.
    fn attempt<'a>(&'a self, argv: &'a [&'static str]) -> Work<'a, Answer>;

    /// Puts the tree back to the base.
    fn reset(&self) -> Work<'_, ()>;
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Applied {
    /// None: no command did it.
    pub by: Option<usize>,
    pub log: String,
}

pub(super) async fn apply(
    candidate: &Candidate<'_>,
    bench: &dyn Bench,
) -> Result<Applied, StageError> {
    let mut log = String::new();
    if candidate.patch.is_empty() {
        return Ok(Applied { by: Some(0), log });
    }
    for (index, step) in candidate.apply.iter().enumerate() {
        let answer = bench.attempt(&step.argv).await?;
        for said in [&answer.out, &answer.err] {
            log += &String::from_utf8_lossy(said);
        }
        if answer.is_fine() {
            let by = Some(index);
            return Ok(Applied { by, log });
        }
        if step.resets {
            bench.reset().await?;
        }
    }
    Ok(Applied { by: None, log })
}
