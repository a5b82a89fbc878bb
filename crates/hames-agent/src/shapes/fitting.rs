//! Fitting: the final answer has to fit a form, and gets one chance of repair.
//!
//! What the form is, and how it is checked, is the caller's.

use std::{
    ops::ControlFlow::{self, Break, Continue},
    sync::Arc,
};

use hames_types::{BoxFuture, Outcome};

use crate::{
    QueryContext, Transcript,
    shapes::{Shape, completed, go_on, outcome_of},
};

/// `Err` says what does not fit, for the model to read.
pub type Fits = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// Wraps any shape.
pub struct Fitting {
    pub inner: Arc<dyn Shape>,
    pub fits: Arc<Fits>,
}

impl Shape for Fitting {
    fn run<'a>(
        &'a self,
        cx: &'a QueryContext,
        transcript: &'a mut Transcript,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async { outcome_of(self.fit(cx, transcript).await) })
    }
}

impl Fitting {
    async fn fit(&self, cx: &QueryContext, transcript: &mut Transcript) -> ControlFlow<Outcome> {
        completed(self.inner.run(cx, transcript).await)?;
        let Err(error) = (self.fits)(&transcript.final_text()) else {
            return Continue(());
        };
        let repair = format!(
            "Your answer does not fit what was asked for: {error}\nAnswer again, with the JSON \
             value alone."
        );
        go_on(cx, transcript, repair).await?;
        match (self.fits)(&transcript.final_text()) {
            Ok(()) => Continue(()),
            Err(error) => Break(Outcome::SchemaFailed { error }),
        }
    }
}
