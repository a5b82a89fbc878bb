//! What a turn costs beside the model, in a short session and in a long one.
//!
//! The provider is a sink: it takes the request's pieces as they are and answers at once, so that
//! what is left is the loop, the transcript and a journal in a file.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use divan::Bencher;
use hames_agent::{
    Model, Session,
    journal::{Durability, Journal},
    steering::Steering,
};
use hames_journal::FileStore;
use hames_testkit::{Rig, Script, rig::human};
use hames_types::{
    ApiKind, BoxStream, Encoded, Head, Message, ModelEvent, Provider, ProviderError, Request,
    StopReason,
};

fn main() {
    divan::main();
}

struct Sink;

impl Provider for Sink {
    fn api(&self) -> ApiKind {
        ApiKind::OpenaiChat
    }

    fn encode_head(&self, _: &Head) -> Bytes {
        Bytes::from_static(b"head")
    }

    fn encode_message(&self, _: &Head, message: &Message) -> Encoded {
        let bytes = hames_testkit::render::message(message).into();
        let mark_at = None;
        Encoded { bytes, mark_at }
    }

    fn send(&self, _: &Request<'_>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let text = "x".repeat(200);
        let events = [
            ModelEvent::TextDelta { block: 0, text },
            ModelEvent::Finished(StopReason::EndTurn),
        ];
        Box::pin(futures_util::stream::iter(events.map(Ok)))
    }
}

/// A session whose transcript holds about so many messages.
fn session(
    folder: &std::path::Path,
    messages: usize,
    runtime: &tokio::runtime::Runtime,
) -> Session {
    let mut rig = Rig::new(Script::in_order(Vec::new()));
    let head = rig.cx.model.head.clone();
    rig.cx.model = Arc::new(Model {
        provider: Arc::new(Sink),
        head,
        prices: None,
    });
    let store = FileStore::create(&folder.join(format!("{messages}.jsonl")), "/").unwrap();
    rig.cx.journal = Journal::new(Arc::new(store), Durability::Os);
    rig.cx.steering = Steering::new(rig.cx.journal.clone());
    let mut session = rig.session().unwrap();
    for _ in 0..messages / 2 {
        let _ = runtime.block_on(session.submit(human("go on, and on, and on")));
    }
    session
}

#[divan::bench(args = [10, 100, 1_000, 10_000], sample_count = 50, sample_size = 5)]
fn one_more_turn(bencher: Bencher<'_, '_>, messages: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), messages, &runtime);
    bencher.bench_local(|| runtime.block_on(session.submit(human("go on, and on, and on"))));
}
