//! A request's body: kept pieces, handed on in writes of a good size, with their exact length known.
//!
//! It copies no large piece, and never holds a second copy of the whole.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

/// Small neighbours are joined up to this size: hyper writes at most 16 pieces in a system call. Of what
/// was tried (docs/providers.md) it costs least at a thousand messages, and holds no second copy.
const JOIN: usize = 16 * 1024;

pub(crate) struct Pieces {
    rest: VecDeque<Bytes>,
    left: u64,
    /// Told each time that the connection takes some of it, so that a slow upload is not silence.
    taken: Arc<Notify>,
}

impl Pieces {
    pub fn new(pieces: Vec<Bytes>, taken: Arc<Notify>) -> Self {
        let rest: VecDeque<Bytes> = pieces.into();
        let left = rest.iter().map(|piece| piece.len() as u64).sum();
        Self { rest, left, taken }
    }

    fn join(&mut self) -> Option<Bytes> {
        let first = self.rest.pop_front()?;
        if first.len() >= JOIN || self.rest.is_empty() {
            return Some(first);
        }
        let mut joined = BytesMut::with_capacity(JOIN);
        joined.extend_from_slice(&first);
        while let Some(next) = self.rest.front() {
            if joined.len() + next.len() > JOIN {
                break;
            }
            joined.extend_from_slice(next);
            self.rest.pop_front();
        }
        Some(joined.freeze())
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.taken.notify_one();
        let joined = self.join();
        self.left -= joined.as_ref().map_or(0, |bytes| bytes.len() as u64);
        Poll::Ready(joined.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
