//! The `_local` block of a row: how the task runs on a machine with a package registry alone.
//!
//! A block without `offline` has been checked on the real tree: it gives a recipe, and no source.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::instance::{Recipe, Source};

#[derive(Debug, Deserialize)]
pub(super) struct Local {
    /// As `SWE-bench_Lite (test)`.
    #[serde(default)]
    dataset: String,
    pub offline: Option<Offline>,
    #[serde(rename = "evidence_base_commit")]
    pub evidence: Option<Evidence>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Offline {
    source: Sdist,
    #[serde(default)]
    python: String,
    #[serde(default)]
    deps: Vec<String>,
    #[serde(default)]
    install_source_editable: bool,
    #[serde(default)]
    env: BTreeMap<String, String>,
    pub test_cmd: String,
    pub log_format: String,
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: Vec<String>,
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: Vec<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Sdist {
    kind: String,
    project: String,
    version: String,
    file: String,
    sha256: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Evidence {
    #[serde(default)]
    python: String,
    #[serde(default)]
    deps: Vec<String>,
    pub test_cmd: String,
}

impl Local {
    pub fn of(row: &Map<String, Value>) -> Result<Option<Self>, String> {
        let Some(block) = row.get("_local").filter(|block| !block.is_null()) else {
            return Ok(None);
        };
        serde_json::from_value(block.clone())
            .map(Some)
            .map_err(|error| format!("field _local: {error}: mend the block, or take it out"))
    }

    /// Dataset and split.
    pub fn set(&self) -> Option<(&str, &str)> {
        self.dataset.strip_suffix(')')?.split_once(" (")
    }
}

impl Offline {
    pub fn source(&self) -> Result<Source, String> {
        let from = &self.source;
        if from.kind != "pypi-sdist" {
            return Err(format!(
                "field _local.offline.source: kind {} is not known: give pypi-sdist",
                from.kind
            ));
        }
        Ok(Source::Sdist {
            project: from.project.clone(),
            version: from.version.clone(),
            file: from.file.clone(),
            sha256: from.sha256.clone(),
        })
    }

    pub fn recipe(&self) -> Result<Recipe, String> {
        Ok(Recipe {
            python: self.python.clone(),
            deps: self.deps.clone(),
            editable: self.install_source_editable,
            env: self.env.clone(),
            setup: self.setup()?,
            ..Recipe::default()
        })
    }

    /// One command or several, under any key that begins so.
    fn setup(&self) -> Result<Vec<String>, String> {
        let mut commands = Vec::new();
        for (key, value) in self.rest.iter().filter(|(key, _)| key.starts_with("setup")) {
            match value {
                Value::Null => {}
                Value::String(command) => commands.push(command.clone()),
                other => commands.extend(
                    serde_json::from_value::<Vec<String>>(other.clone()).map_err(|_| {
                        format!(
                            "field _local.offline.{key} is neither a command nor a list of them"
                        )
                    })?,
                ),
            }
        }
        Ok(commands)
    }
}

impl Evidence {
    /// A tree whose tags are cut cannot tell its version, so that it is told.
    pub fn recipe(&self, version: &str) -> Recipe {
        let told = (
            "SETUPTOOLS_SCM_PRETEND_VERSION".to_owned(),
            version.to_owned(),
        );
        Recipe {
            python: self.python.clone(),
            deps: self.deps.clone(),
            editable: true,
            env: (!version.is_empty()).then_some(told).into_iter().collect(),
            ..Recipe::default()
        }
    }
}
