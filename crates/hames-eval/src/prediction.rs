//! Predictions, in the forms that graders take and agents write.
//!
//! A file that is not wholly understood is refused: a lost prediction would be a lost score.

use std::{collections::BTreeSet, fs, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{digest, instance::Instance, stage::StageError};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prediction {
    pub instance_id: String,
    pub model_name_or_path: String,
    /// None or empty: nothing is run, and it counts as an empty patch.
    pub model_patch: Option<String>,
}

/// JSONL, a JSON list, or a map from id to prediction (as mini-swe-agent writes); the patch may be
/// called `patch` or `prediction`, too.
pub fn read(path: &Path) -> Result<Vec<Prediction>, StageError> {
    let text = fs::read_to_string(path)
        .map_err(|error| StageError::BadInput(format!("{}: {error}", path.display())))?;
    parse(&text).map_err(|why| StageError::BadInput(format!("{}: {why}", path.display())))
}

/// Of a file's content, to tell it from another under the same path.
pub fn digest(path: &Path) -> Result<String, StageError> {
    let bytes = fs::read(path)
        .map_err(|error| StageError::BadInput(format!("{}: {error}", path.display())))?;
    Ok(digest::of(&bytes))
}

/// The error says which entry, and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Prediction>, String> {
    let made = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(list)) => numbered(list.into_iter().map(Ok))?,
        Ok(Value::Object(one)) if one.contains_key("instance_id") => {
            vec![prediction(Value::Object(one), None)?]
        }
        Ok(Value::Object(map)) => {
            let entries = map.into_iter().map(|(id, value)| {
                prediction(value, Some(&id)).map_err(|why| format!("{id}: {why}"))
            });
            entries.collect::<Result<Vec<_>, String>>()?
        }
        Ok(_) => return Err("it is neither a list, a map nor lines of JSON".to_owned()),
        Err(_) if text.trim().is_empty() => return Err("it is empty".to_owned()),
        Err(_) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            numbered(
                lines.map(|line| serde_json::from_str(line).map_err(|error| error.to_string())),
            )?
        }
    };
    if made.is_empty() {
        return Err("there is no prediction in it".to_owned());
    }
    let mut seen = BTreeSet::new();
    match made.iter().find(|one| !seen.insert(&one.instance_id)) {
        Some(twice) => Err(format!(
            "{} is there twice: keep one prediction an instance",
            twice.instance_id
        )),
        None => Ok(made),
    }
}

fn numbered(
    values: impl Iterator<Item = Result<Value, String>>,
) -> Result<Vec<Prediction>, String> {
    let read = values.enumerate().map(|(at, value)| {
        value
            .and_then(|value| prediction(value, None))
            .map_err(|why| format!("prediction {}: {why}", at + 1))
    });
    read.collect()
}

fn prediction(value: Value, id: Option<&str>) -> Result<Prediction, String> {
    let fields = match value {
        Value::Object(fields) => fields,
        Value::String(patch) if id.is_some() => {
            Map::from_iter([("model_patch".to_owned(), Value::String(patch))])
        }
        other => return Err(format!("it is {other}, not an object")),
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let instance_id = text("instance_id")
        .or_else(|| id.map(str::to_owned))
        .ok_or("it has no instance_id")?;
    let patch = ["model_patch", "patch", "prediction"]
        .iter()
        .find_map(|name| fields.get(*name));
    let model_patch = match patch {
        None => return Err(format!("{instance_id} has no model_patch")),
        Some(Value::Null) => None,
        Some(Value::String(patch)) => Some(patch.clone()),
        Some(other) => return Err(format!("{instance_id}: model_patch is {other}, not text")),
    };
    let model_name_or_path = text("model_name_or_path")
        .or_else(|| text("prefix"))
        .unwrap_or_else(|| "unnamed".to_owned());
    Ok(Prediction {
        instance_id,
        model_name_or_path,
        model_patch,
    })
}

/// One line each.
pub fn to_jsonl(predictions: &[Prediction]) -> String {
    let lines = predictions
        .iter()
        .filter_map(|one| serde_json::to_string(one).ok());
    lines.map(|line| line + "\n").collect()
}

/// Predictions for tasks that are not there are an error, as the official grader has it.
pub fn check_ids(predictions: &[Prediction], instances: &[Instance]) -> Result<(), StageError> {
    let known: BTreeSet<&str> = instances
        .iter()
        .map(|instance| instance.id.as_str())
        .collect();
    let unknown: Vec<&str> = predictions
        .iter()
        .map(|one| one.instance_id.as_str())
        .filter(|id| !known.contains(id))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let shown: Vec<&str> = unknown.iter().take(5).copied().collect();
    let more = if unknown.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    Err(StageError::BadInput(format!(
        "{} predictions are for no task of this set ({}{more}): name the set they were made for",
        unknown.len(),
        shown.join(", ")
    )))
}
