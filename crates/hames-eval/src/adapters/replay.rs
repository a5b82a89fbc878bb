//! `replay`: the gold patch, as if an agent had found it: the pipeline's self-test.
//!
//! It is never a score.

use crate::{
    adapter::{About, Adapter, CommandLine, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
};

pub struct Replay;

impl Adapter for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["gold", "oracle"]
    }

    fn plays_gold(&self) -> bool {
        true
    }

    fn about(&self) -> About {
        About {
            install: "part of hames",
            reads: "nothing: the patch is the task's own",
            stops: "no process, but for a gold script",
            takes: &[],
        }
    }

    fn check(&self, _: &Host, _: &Options) -> Result<(), StageError> {
        Ok(())
    }

    fn plan(&self, task: &Task, _: &Place, _: &Host, _: &Options) -> Result<Plan, StageError> {
        let gold = task.gold_patch.clone().ok_or_else(|| {
            let id = &task.instance_id;
            StageError::BadInput(format!("{id}: there is no gold patch to replay"))
        })?;
        match gold.starts_with("#!") {
            // A Harbor task's solution: a script that is run where an agent would be.
            true => Ok(Plan::Subprocess(CommandLine {
                args: vec!["-s".to_owned()],
                stdin: Some(gold),
                ..CommandLine::new("/bin/bash")
            })),
            false => Ok(Plan::Patch(gold)),
        }
    }

    fn read(&self, _: &Left<'_>) -> Reading {
        Reading::default()
    }
}
