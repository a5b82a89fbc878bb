//! Which of the tasks that were read are wanted.
//!
//! A name that fits nothing is an error: a typing mistake must not shrink a run.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use super::Loaded;
use crate::{instance::Instance, plan::Filter, stage::StageError};

pub(super) fn apply(filter: &Filter, mut loaded: Loaded) -> Result<Loaded, StageError> {
    let wanted = wanted(filter)?;
    let known: Vec<&str> = loaded
        .instances
        .iter()
        .map(|instance| instance.id.as_str())
        .chain(loaded.refused.iter().map(|(id, _)| id.as_str()))
        .collect();
    for (name, matcher) in &wanted {
        if !known.iter().any(|id| matcher.is_match(id)) {
            return Err(StageError::BadInput(format!(
                "no task is called {name}{}",
                near(name, &known)
            )));
        }
    }
    let fits =
        |id: &str| wanted.is_empty() || wanted.iter().any(|(_, matcher)| matcher.is_match(id));
    loaded.refused.retain(|(id, _)| fits(id));
    loaded.instances.retain(|instance| fits(&instance.id));
    by_field(&mut loaded, &filter.repos, "repository", |one| &one.repo)?;
    by_field(&mut loaded, filter.split.as_slice(), "split", |one| {
        &one.split
    })?;
    Ok(loaded)
}

/// Tasks that cannot be used are none of the number.
pub(super) fn limited(filter: &Filter, mut loaded: Loaded) -> Loaded {
    if let Some(limit) = filter.limit {
        loaded.instances.truncate(limit);
    }
    loaded
}

/// What is asked for must be there, among the tasks that the other wishes leave.
fn by_field(
    loaded: &mut Loaded,
    wanted: &[String],
    what: &str,
    field: impl Fn(&Instance) -> &String,
) -> Result<(), StageError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<&String> = loaded.instances.iter().map(&field).collect();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) {
        let named: Vec<&str> = known
            .iter()
            .map(|name| name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        let known = match named.is_empty() {
            true => format!("no task says which {what} it belongs to"),
            false => format!("there is {}", named.join(", ")),
        };
        return Err(StageError::BadInput(format!(
            "no task is of the {what} {unknown}: {known}"
        )));
    }
    loaded
        .instances
        .retain(|instance| wanted.contains(field(instance)));
    Ok(())
}

fn wanted(filter: &Filter) -> Result<Vec<(&String, GlobMatcher)>, StageError> {
    let compiled = filter.ids.iter().map(|name| {
        let glob = Glob::new(name)
            .map_err(|error| StageError::BadInput(format!("{name}: {}", error.kind())))?;
        Ok((name, glob.compile_matcher()))
    });
    compiled.collect()
}

/// Up to three names that share the most with what was asked for.
fn near(name: &str, known: &[&str]) -> String {
    let shared = |id: &str| {
        id.chars()
            .zip(name.chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let holds = |id: &str| {
        id.contains(name)
            || name
                .split(['-', '_'])
                .next_back()
                .is_some_and(|last| last.len() > 2 && id.ends_with(last))
    };
    let mut close: Vec<&str> = known
        .iter()
        .copied()
        .filter(|id| holds(id) || shared(id) * 2 > name.chars().count())
        .collect();
    close.sort_by_key(|id| (!holds(id), std::cmp::Reverse(shared(id))));
    close.truncate(3);
    match close.is_empty() {
        true => format!(
            ": there are {} others; `hames eval list` names them",
            known.len()
        ),
        false => format!(": did you mean {}?", close.join(", ")),
    }
}
