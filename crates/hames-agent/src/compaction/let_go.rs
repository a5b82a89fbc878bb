//! Letting go: where no summary can be had, the oldest rounds leave the transcript.
//!
//! No model is asked. The journal has them all, and the transcript says that they are gone.

use std::sync::Arc;

use hames_types::{EpochMessage, Origin, UserMessage};

use super::{ClearThenSummarize, estimate, keepsakes::keepsakes};
use crate::{QueryContext, Transcript, transcript::Cut};

/// `None` when nothing but the newest round is left.
pub(super) fn let_go(
    compaction: &ClearThenSummarize,
    cx: &QueryContext,
    transcript: &Transcript,
) -> Option<Vec<EpochMessage>> {
    let cut = place_to_cut(transcript, compaction.threshold / 2)?;
    let kept = keepsakes(cx, transcript, &compaction.keep_last_call_of);
    let notice = format!(
        "The conversation was too long: its older part is gone, and no summary could be had. Look \
         again at what you need.{kept}"
    );
    let notice = UserMessage::text(Origin::Summary, notice);
    let mut epoch = vec![EpochMessage::User(Arc::new(notice))];
    epoch.extend(transcript.last_words_before(cut).map(EpochMessage::User));
    let end = transcript.cuts().next_back()?;
    epoch.push(transcript.kept(cut, end));
    Some(epoch)
}

/// The earliest place behind which no more than `most` tokens stand, or the last before the end.
fn place_to_cut(transcript: &Transcript, most: u64) -> Option<Cut> {
    let end = transcript.cuts().next_back()?;
    let inner: Vec<_> = transcript
        .cuts()
        .skip(1)
        .filter(|cut| *cut != end)
        .collect();
    let fits = |cut: &&Cut| estimate(size(transcript, **cut)) <= most;
    inner.iter().find(fits).or(inner.last()).copied()
}

/// In bytes, roughly: what is said, without what a wire puts around it.
fn size(transcript: &Transcript, cut: Cut) -> u64 {
    let messages = transcript.since(cut).iter();
    messages.map(crate::transcript::size_of).sum()
}
