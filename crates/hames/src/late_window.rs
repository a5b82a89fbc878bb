//! A window that is asked for only once it matters: start-up does not wait for a server's answer.
//!
//! A short conversation never asks; a long one asks once, and compacts by what the server says.

use std::ops::ControlFlow::{self, Continue};

use hames_agent::{
    QueryContext, Transcript,
    compaction::{ClearThenSummarize, Compaction, Need, Window},
};
use hames_providers::{Choice, LocalWindow, Network, WindowSource, local_window};
use hames_types::{BoxFuture, Outcome};
use tokio::sync::OnceCell;

/// In bytes of messages: below it, any window is large enough.
const SHORT: usize = 8_000;

pub struct LateWindow {
    pub server: Choice,
    pub network: Network,
    /// What holds where the server does not say.
    pub assumed: Window,
    /// Of the window, 0 to 1.
    pub share: f64,
    pub known: OnceCell<ClearThenSummarize>,
}

impl LateWindow {
    async fn ask(&self) -> ClearThenSummarize {
        let said = local_window(&self.server, &self.network).await;
        let window = said.map_or_else(|| self.assumed.clone(), said_by_server);
        ClearThenSummarize::new(window, self.share)
    }
}

impl Compaction for LateWindow {
    fn compact<'a>(
        &'a self,
        cx: &'a QueryContext,
        transcript: &'a mut Transcript,
        need: Need,
    ) -> BoxFuture<'a, ControlFlow<Outcome>> {
        Box::pin(async move {
            if need == Need::Check && self.known.get().is_none() && is_short(cx, transcript) {
                return Continue(());
            }
            let known = self.known.get_or_init(|| self.ask()).await;
            known.compact(cx, transcript, need).await
        })
    }
}

fn is_short(cx: &QueryContext, transcript: &mut Transcript) -> bool {
    let request = transcript.request(&*cx.model.provider);
    request.is_none_or(|(_, prefix)| prefix.bytes() < SHORT as u64)
}

fn said_by_server(said: LocalWindow) -> Window {
    let source = match said.source {
        WindowSource::Modelfile => "Ollama's Modelfile",
        WindowSource::Loaded => "Ollama, as it is loaded",
        WindowSource::Trained => "Ollama, as it was trained",
        WindowSource::Props => "the server's /props",
        WindowSource::LmStudio => "LM Studio",
        WindowSource::ModelList => "the server's list of models",
    };
    Window {
        tokens: said.tokens.into(),
        source: source.to_owned(),
    }
}
