//! Patches that were made elsewhere, taken from a file of predictions: no agent is run.
//!
//! Which forms such a file can have is `prediction.rs`'s.

use std::path::Path;

use crate::{
    adapter::{About, Adapter, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    prediction,
    stage::StageError,
};

/// The file's path is the options' `command`.
pub struct Predictions;

impl Adapter for Predictions {
    fn name(&self) -> &'static str {
        "predictions"
    }

    fn about(&self) -> About {
        About {
            install: "part of hames",
            reads: "nothing: the patch is the file's",
            stops: "no process",
            takes: &[],
        }
    }

    fn check(&self, _host: &Host, options: &Options) -> Result<(), StageError> {
        if options.command.is_empty() {
            return Err(StageError::BadInput(
                "predictions: say which file, as `hames eval grade FILE TASKS`".to_owned(),
            ));
        }
        prediction::read(Path::new(&options.command)).map(drop)
    }

    fn plan(
        &self,
        task: &Task,
        _place: &Place,
        _host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let made = prediction::read(Path::new(&options.command))?;
        let own = made
            .into_iter()
            .find(|prediction| prediction.instance_id == task.instance_id);
        // Nothing for a task is an empty patch, as the official grader has it.
        Ok(Plan::Patch(
            own.and_then(|own| own.model_patch).unwrap_or_default(),
        ))
    }

    fn read(&self, _left: &Left<'_>) -> Reading {
        Reading::default()
    }
}
