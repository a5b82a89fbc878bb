//! Every form in which tasks come is read, and what cannot be used is named with its remedy.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod bad_input;
mod folders;
mod real_rows;
mod rows;

use std::path::{Path, PathBuf};

use hames_eval::{
    datasets::{self, Loaded},
    instance::Instance,
    plan::Filter,
};
use serde_json::{Value, json};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test_data/datasets")
        .join(name)
}

fn all(path: &Path) -> Loaded {
    datasets::load(path, &Filter::default()).unwrap()
}

/// The one task at the path.
fn one(path: &Path) -> Instance {
    let mut loaded = all(path);
    assert_eq!((loaded.instances.len(), &loaded.refused[..]), (1, &[][..]));
    loaded.instances.remove(0)
}

fn refusal(path: &Path, filter: &Filter) -> String {
    datasets::load(path, filter).unwrap_err().to_string()
}

fn ids(loaded: &Loaded) -> Vec<&str> {
    loaded
        .instances
        .iter()
        .map(|instance| instance.id.as_str())
        .collect()
}

/// A row with all that is needed.
fn row(id: &str) -> Value {
    json!({
        "repo": "pallets/flask",
        "instance_id": id,
        "base_commit": "abc",
        "patch": "diff --git a/a b/a\n",
        "test_patch": "diff --git a/t b/t\n",
        "problem_statement": "Mend it.",
        "FAIL_TO_PASS": ["t::a"],
        "PASS_TO_PASS": ["t::b"],
    })
}
