//! Tasks read from whatever they come in: rows, task folders, or a folder of any of them.
//!
//! One bad task is refused by name, and the others go on; what was asked for and is not there, or is
//! there twice, is an error.

mod filter;
mod harbor;
mod local_block;
#[cfg(feature = "parquet")]
mod parquet;
mod places;
mod rows;
mod swe_bench;
mod task_folder;
mod test_list;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    instance::{Instance, Recipe},
    plan::Filter,
    stage::StageError,
};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    pub instances: Vec<Instance>,
    /// Tasks that cannot be used: name, and what is wrong with them.
    pub refused: Vec<(String, String)>,
    /// Things to know that are nobody's mistake.
    pub notes: Vec<String>,
}

/// A task, or its name and why it cannot be used.
type Read = Result<Instance, (String, String)>;

/// What was read, each with the file or folder that it is from.
#[derive(Default)]
struct Found {
    tasks: Vec<(Read, PathBuf)>,
    notes: Vec<String>,
}

/// A file of rows, a task folder, or a folder of them (one level of folders deep).
pub fn load(path: &Path, filter: &Filter) -> Result<Loaded, StageError> {
    let bad = |why: &str| StageError::BadInput(format!("{}: {why}", path.display()));
    if !path.exists() {
        return Err(bad(
            "there is no such file or folder: name rows (JSON, JSONL), a task folder, or `mini`",
        ));
    }
    // A run that is gone on with may be called from elsewhere.
    let absolute = std::path::absolute(path)
        .map_err(|error| StageError::io(format!("find {}", path.display()), &error))?;
    let found = places::read(&absolute)?;
    if found.tasks.is_empty() {
        let notes: String = found.notes.iter().map(|note| format!("; {note}")).collect();
        return Err(bad(&format!(
            "no tasks in it: rows are JSON or JSONL, a task folder has a task.yaml or a task.toml{notes}"
        )));
    }
    let (loaded, places) = sorted(found);
    let mut loaded = filter::apply(filter, loaded)?;
    prefer_recipes(&mut loaded);
    twice(&loaded.instances, &places)?;
    Ok(filter::limited(filter, loaded))
}

/// Each id with the places that it was found in.
type Places = BTreeMap<String, Vec<PathBuf>>;

fn sorted(found: Found) -> (Loaded, Places) {
    let mut loaded = Loaded {
        notes: found.notes,
        ..Loaded::default()
    };
    let mut places = Places::new();
    for (read, place) in found.tasks {
        match read.and_then(named) {
            Ok(instance) => {
                places.entry(instance.id.clone()).or_default().push(place);
                loaded.instances.push(instance);
            }
            Err((id, why)) => loaded.refused.push((id.clone(), format!("{id}: {why}"))),
        }
    }
    (loaded, places)
}

/// An id becomes the name of folders: one that is no such name would write, and remove, elsewhere.
fn named(instance: Instance) -> Read {
    match is_folder_name(&instance.id) {
        true => Ok(instance),
        false => Err((
            clean(&instance.id),
            "its instance_id is no name for a folder: it may hold no `/`, `\\`, `~` or control \
             character, begin with no dot, and have 200 bytes at most"
                .to_owned(),
        )),
    }
}

/// `~` stands before the number of a further trial.
fn is_folder_name(id: &str) -> bool {
    let is_fine = |letter: char| !letter.is_control() && !"/\\~".contains(letter);
    !id.is_empty() && id.len() <= 200 && !id.starts_with('.') && id.chars().all(is_fine)
}

fn clean(id: &str) -> String {
    id.escape_debug().collect()
}

/// A row that says how it is run here stands for the same row without.
fn prefer_recipes(loaded: &mut Loaded) {
    let mut with: BTreeMap<String, usize> = BTreeMap::new();
    for instance in loaded.instances.iter().filter(|one| is_runnable(one)) {
        *with.entry(instance.id.clone()).or_default() += 1;
    }
    let before = loaded.instances.len();
    loaded
        .instances
        .retain(|one| is_runnable(one) || with.get(&one.id) != Some(&1));
    let dropped = before - loaded.instances.len();
    if dropped > 0 {
        let rows = if dropped == 1 { "row is" } else { "rows are" };
        let note = format!("{dropped} {rows} left out: the same tasks are there with a recipe");
        loaded.notes.push(note);
    }
}

fn is_runnable(instance: &Instance) -> bool {
    instance.recipe != Recipe::default()
}

/// Two tasks of one name would write into one folder, and only one of them would be scored.
fn twice(instances: &[Instance], places: &Places) -> Result<(), StageError> {
    let mut ids: Vec<&str> = instances
        .iter()
        .map(|instance| instance.id.as_str())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let count = |id: &str| instances.iter().filter(|one| one.id == id).count();
    let twice = ids.into_iter().filter(|id| count(id) > 1).filter_map(|id| {
        let places = places.get(id)?;
        let shown: Vec<String> = places
            .iter()
            .map(|place| place.display().to_string())
            .collect();
        Some(format!("{id} ({})", shown.join(", ")))
    });
    let twice: Vec<String> = twice.collect();
    if twice.is_empty() {
        return Ok(());
    }
    Err(StageError::BadInput(format!(
        "these tasks are there more than once: {}; name one of their files, or remove the others",
        twice.join("; ")
    )))
}
