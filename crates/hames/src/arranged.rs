//! Which shape a run has: the one that is named, the guide's choice, and what must hold at the end.
//!
//! It builds shapes and runs none.

use std::sync::Arc;

use anyhow::Result;
use hames_agent::shapes::{
    Fitting, Judge, MultiAgent, PlanExecute, React, Reflection, Shape, choose,
};

use crate::{
    args::RunArgs, check::CheckCommand, environment::Environment, exit::usage, guide::kept,
    schema::Schema,
};

/// What a critic, a reviewer or a check may send back, at most.
const ROUNDS: u32 = 3;

/// `check` and `schema` wrap whatever shape is chosen, in this order.
pub fn arranged(
    args: &RunArgs,
    check: Option<CheckCommand>,
    schema: Option<Arc<Schema>>,
    environment: &Environment,
) -> Result<Arc<dyn Shape>> {
    let name = args.model.shape.as_deref().unwrap_or("react");
    let critic = critic(args);
    let checked = check.is_some();
    let mut shape: Arc<dyn Shape> = match name {
        "plan_execute" => Arc::new(PlanExecute::default()),
        "multi_agent" => Arc::new(MultiAgent {
            executor: Arc::new(React),
            rounds: ROUNDS,
        }),
        "auto" => chosen(environment, &critic)?,
        "reflection" if !checked => reflection(Arc::new(React), critic),
        _ => Arc::new(React),
    };
    if let Some(check) = check {
        shape = reflection(shape, Judge::Check(Arc::new(check)));
    }
    if let Some(schema) = schema {
        let fits = Arc::new(move |answer: &str| schema.fits(answer).map(drop));
        shape = Arc::new(Fitting { inner: shape, fits });
    }
    Ok(shape)
}

fn reflection(inner: Arc<dyn Shape>, judge: Judge) -> Arc<dyn Shape> {
    Arc::new(Reflection {
        inner,
        rounds: ROUNDS,
        judge,
    })
}

fn critic(args: &RunArgs) -> Judge {
    match args.model.criteria.clone() {
        Some(criteria) => Judge::Critic { criteria },
        None => Judge::default(),
    }
}

fn chosen(environment: &Environment, critic: &Judge) -> Result<Arc<dyn Shape>> {
    let answers = kept::saved(environment)?;
    let answers = answers.ok_or_else(|| {
        usage("--shape auto uses the answers of `hames guide`, which have not been given yet")
    })?;
    Ok(choose(answers).build(ROUNDS, critic))
}
