//! Answers in an agent's view: where a line of the fix or of its tests can be read, and who went looking for one.
//!
//! It reads and tells; whether an agent is started all the same is not decided here.

mod git_view;
mod needles;
mod peeking;
mod text_view;

pub use self::peeking::peeking;
use self::{git_view::GitView, needles::Needles, text_view::TextView};
use crate::{
    adapter::Place,
    environment::{Around, Checkout},
    instance::Instance,
    record::LeakReport,
    stage::StageError,
};

/// Looks at everything that is the agent's: tree, git's objects and files, home, temp, variables.
///
/// What the base holds anyway is no leak, and neither is what the problem statement says.
///
/// # Errors
/// The tree cannot be read: then nothing is proved.
pub async fn scan(
    instance: &Instance,
    checkout: &Checkout,
    place: &Place,
    cx: &Around<'_>,
) -> Result<LeakReport, StageError> {
    let needles = Needles::of(instance)?;
    let git = GitView::read(&checkout.tree, cx).await?;
    let mut text = TextView::new(needles);
    let (tree, home, temp) = (place.tree.clone(), place.home.clone(), place.temp.clone());
    let variables: Vec<(String, String)> = checkout.env.iter().chain(&place.env).cloned().collect();
    let look = move || {
        text.base(&tree, &git.tracked);
        text.files(&tree, &git.changed);
        text.folder(&tree.join(".git"), "git's own file ");
        text.folder(
            &crate::environments::local::beside(&tree),
            "the environment's file ",
        );
        text.folder(&home, "the home's file ");
        text.folder(&temp, "the temp folder's file ");
        for (name, value) in &variables {
            text.bytes(&format!("the variable {name}"), value.as_bytes());
        }
        for (name, bytes) in &git.strays {
            text.bytes(name, bytes);
        }
        let mut report = text.report();
        report.scanned += git.seen;
        report.found.extend(git.later);
        report
    };
    tokio::task::spawn_blocking(look)
        .await
        .map_err(|error| StageError::Infrastructure(format!("the scan for answers: {error}")))
}
