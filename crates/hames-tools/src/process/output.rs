//! What children say: their pipes, read as they are written to.
//!
//! Bytes are passed on as they come; what they mean is not looked at.

use std::{convert::Infallible, io, process::ExitStatus, time::Duration};

use tokio::{
    io::AsyncReadExt,
    process::{Child, Command},
};

#[cfg(unix)]
type Pipe = tokio::net::unix::pipe::Receiver;
#[cfg(not(unix))]
type Pipe = tokio::fs::File;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Or both, where they are merged.
    Out,
    Err,
}

pub(crate) type Sink<'a> = dyn FnMut(Stream, &[u8]) + Send + 'a;

/// The reading ends; closed ones are gone.
pub(crate) struct Readers {
    out: Option<Pipe>,
    err: Option<Pipe>,
    buffer: Vec<u8>,
}

impl Readers {
    /// One pipe for both streams keeps the order in which they were written.
    pub fn attach(command: &mut Command, merged: bool) -> io::Result<Self> {
        let (out, writer) = io::pipe()?;
        let err = if merged {
            command.stderr(writer.try_clone()?);
            None
        } else {
            let (err, writer) = io::pipe()?;
            command.stderr(writer);
            Some(listen_to(err)?)
        };
        command.stdout(writer);
        Ok(Self {
            out: Some(listen_to(out)?),
            err,
            buffer: vec![0; 32 * 1024],
        })
    }

    /// Passes output on until the child itself has ended, whoever still holds its pipes.
    pub async fn listen(
        &mut self,
        child: &mut Child,
        sink: &mut Sink<'_>,
    ) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                biased;
                status = child.wait() => return status,
                (stream, len) = self.read(), if self.open() => {
                    self.pass(stream, len, sink);
                }
            }
        }
    }

    /// Passes on what still comes within `limit`; true once nobody can write any more.
    pub async fn drain(&mut self, limit: Duration, sink: &mut Sink<'_>) -> bool {
        let reading = async {
            while self.open() {
                let (stream, len) = self.read().await;
                self.pass(stream, len, sink);
            }
        };
        tokio::time::timeout(limit, reading).await.is_ok()
    }

    /// Passes on what comes, for as long as it is asked to.
    pub async fn hear_out(&mut self, sink: &mut Sink<'_>) -> Infallible {
        while self.open() {
            let (stream, len) = self.read().await;
            self.pass(stream, len, sink);
        }
        std::future::pending().await
    }

    /// Passes on all that ever comes.
    pub async fn read_on(mut self, mut sink: impl FnMut(Stream, &[u8]) + Send) {
        while self.open() {
            let (stream, len) = self.read().await;
            self.pass(stream, len, &mut sink);
        }
    }

    pub fn open(&self) -> bool {
        self.out.is_some() || self.err.is_some()
    }

    fn pass(&self, stream: Stream, len: usize, sink: &mut Sink<'_>) {
        if let Some(piece) = self.buffer.get(..len).filter(|piece| !piece.is_empty()) {
            sink(stream, piece);
        }
    }

    /// A length of nothing says that this stream has just closed.
    async fn read(&mut self) -> (Stream, usize) {
        let Self { out, err, buffer } = self;
        let (ours, theirs) = (out.is_some(), err.is_some());
        // A read that is not chosen has taken nothing from its pipe.
        let (stream, len) = match (out.as_mut(), err.as_mut()) {
            (Some(out), Some(err)) => {
                let readable = tokio::select! {
                    _ = readable(out) => Stream::Out,
                    _ = readable(err) => Stream::Err,
                };
                let pipe = match readable {
                    Stream::Out => out,
                    Stream::Err => err,
                };
                (readable, pipe.read(buffer).await)
            }
            (Some(out), None) => (Stream::Out, out.read(buffer).await),
            (None, Some(err)) => (Stream::Err, err.read(buffer).await),
            (None, None) => (Stream::Out, Ok(0)),
        };
        debug_assert!(ours || theirs);
        let len = len.unwrap_or(0);
        match stream {
            Stream::Out if len == 0 => *out = None,
            Stream::Err if len == 0 => *err = None,
            Stream::Out | Stream::Err => {}
        }
        (stream, len)
    }
}

#[cfg(unix)]
fn listen_to(pipe: io::PipeReader) -> io::Result<Pipe> {
    Pipe::from_owned_fd(pipe.into())
}

#[cfg(unix)]
async fn readable(pipe: &Pipe) -> io::Result<()> {
    pipe.readable().await
}

#[cfg(not(unix))]
fn listen_to(pipe: io::PipeReader) -> io::Result<Pipe> {
    let handle = std::os::windows::io::OwnedHandle::from(pipe);
    Ok(tokio::fs::File::from_std(handle.into()))
}

/// A blocking pipe cannot be asked; the reads then take turns.
#[cfg(not(unix))]
async fn readable(_pipe: &Pipe) -> io::Result<()> {
    Ok(())
}
