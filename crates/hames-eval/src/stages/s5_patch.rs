//! S5: the agent's work becomes a patch and a prediction, whatever became of the agent.
//!
//! How work is told from noise is `patch.rs`'s.

use std::path::{Path, PathBuf};

use crate::{
    environment::{Around, Checkout},
    experiment::{TrialDir, write_atomically},
    patch::{self, Against},
    prediction::{Prediction, to_jsonl},
    stage::StageError,
};

pub use crate::patch::Extracted;

pub struct PatchContext<'a> {
    pub instance_id: &'a str,
    pub model_name: &'a str,
    pub checkout: &'a Checkout,
    pub mirror: &'a Path,
    /// A diff that the agent printed, taken where the tree is unchanged.
    pub printed: Option<&'a str>,
    pub scratch: &'a Path,
    pub trial: &'a TrialDir,
    pub around: &'a Around<'a>,
}

pub async fn run(cx: &PatchContext<'_>) -> Result<Extracted, StageError> {
    let objects = [cx.mirror.to_owned(), cx.checkout.tree.clone()];
    let against = Against {
        tree: &cx.checkout.tree,
        base: &cx.checkout.head,
        objects: &objects,
        scratch: cx.scratch,
    };
    let work = cx.checkout.tree.parent();
    if work.is_some_and(|work| !work.is_dir()) {
        return Err(StageError::Infrastructure(format!(
            "{} has been cleared away: run S4 again with --force S4",
            cx.checkout.tree.display()
        )));
    }
    let mut extracted = patch::extract(&against, cx.around).await?;
    let printed = cx.printed.filter(|printed| !printed.trim().is_empty());
    if let Some(printed) = printed.filter(|_| extracted.patch.is_empty()) {
        let filtered = extracted.facts.filtered;
        extracted = patch::printed(printed, &against, cx.around).await?;
        extracted.facts.filtered = filtered;
    }
    write(cx, &extracted)?;
    Ok(extracted)
}

fn write(cx: &PatchContext<'_>, extracted: &Extracted) -> Result<(), StageError> {
    let prediction = Prediction {
        instance_id: cx.instance_id.to_owned(),
        model_name_or_path: cx.model_name.to_owned(),
        model_patch: Some(extracted.patch.clone()),
    };
    let files: [(PathBuf, &str); 2] = [
        (cx.trial.model_patch(), &extracted.patch),
        (cx.trial.prediction(), &to_jsonl(&[prediction])),
    ];
    for (path, text) in files {
        write_atomically(&path, text.as_bytes())
            .map_err(|error| StageError::io(path.display(), &error))?;
    }
    Ok(())
}
