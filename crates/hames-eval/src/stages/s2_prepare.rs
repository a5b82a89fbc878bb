//! S2: the base tree and its environment, made once and shared; what is missing is told before anything is built.
//!
//! Where they are made is the back-end's business.

use crate::{
    environment::{Around, Environment, Prepared},
    instance::Instance,
    stage::StageError,
};

/// # Errors
/// As the back-end has them; each names the instance, or what is missing, and a remedy.
pub async fn run(
    environment: &dyn Environment,
    instance: &Instance,
    around: &Around<'_>,
) -> Result<Prepared, StageError> {
    environment.check(instance, around)?;
    environment.prepare(instance, around).await
}
