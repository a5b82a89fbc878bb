//! What went wrong on the way to a server, told so that a user knows where and what to do.
//!
//! Never reads the text of a server's answer: that is the codec's.

use std::{error::Error, io, time::Duration};

use hames_types::{ProviderError, ProviderErrorKind};

use crate::network::Timeouts;

/// Where a call goes, as an error names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer(pub String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Connect,
    FirstByte,
    Idle,
}

impl Peer {
    /// `HOST:PORT`, the port only where it is not the scheme's own.
    pub fn of(url: &reqwest::Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        match url.port() {
            Some(port) => Self(format!("{host}:{port}")),
            None => Self(host.to_owned()),
        }
    }

    pub fn too_slow(&self, phase: Phase, limit: Duration) -> ProviderError {
        let peer = &self.0;
        let message = match phase {
            Phase::Connect => format!("no answer from {peer} within {limit:?} (connect)"),
            Phase::FirstByte => format!("no answer from {peer} within {limit:?} (first byte)"),
            Phase::Idle => format!("{peer} has sent nothing for {limit:?} (idle)"),
        };
        transport(message)
    }

    /// The request never got an answer.
    pub fn unreached(&self, error: &reqwest::Error, limits: &Timeouts) -> ProviderError {
        let (peer, cause) = (&self.0, root_cause(error));
        if let Some(rustls::Error::InvalidCertificate(reason)) = find::<rustls::Error>(error) {
            let message = format!(
                "the certificate of {peer} is not trusted ({reason}); if its authority is your own, \
                 name its PEM file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE"
            );
            return ProviderError::new(ProviderErrorKind::Rejected, message);
        }
        if error.is_connect() && error.is_timeout() {
            return self.too_slow(Phase::Connect, limits.connect);
        }
        if error.is_dns() {
            return transport(format!("the name {peer} was not found: {cause} (connect)"));
        }
        if error.is_connect() {
            return transport(format!("{peer} cannot be reached: {cause} (connect)"));
        }
        if error.is_builder() {
            let message = format!("the request to {peer} cannot be made: {cause}");
            return ProviderError::new(ProviderErrorKind::Rejected, message);
        }
        transport(format!("{peer} hung up before it answered: {cause}"))
    }

    /// The body came to its end, and what it holds did not.
    pub fn ended_early(&self, received: u64) -> ProviderError {
        let peer = &self.0;
        transport(format!(
            "the answer of {peer} ended after {received} bytes, before it was complete"
        ))
    }

    /// The answer broke off.
    pub fn broke_off(&self, error: &reqwest::Error, received: u64) -> ProviderError {
        let (peer, cause) = (&self.0, root_cause(error));
        transport(format!(
            "the answer of {peer} broke off after {received} bytes: {cause}"
        ))
    }
}

fn transport(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Transport, message)
}

type Cause<'a> = &'a (dyn Error + 'static);

/// From the outermost to the cause.
fn chain<'a>(error: Cause<'a>) -> impl Iterator<Item = Cause<'a>> {
    std::iter::successors(Some(error), |&error| cause(error))
}

/// An `io::Error` hides what it wraps from `source`.
fn cause<'a>(error: Cause<'a>) -> Option<Cause<'a>> {
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match wrapped {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|error| error.downcast_ref())
}

fn root_cause(error: &(dyn Error + 'static)) -> String {
    chain(error)
        .last()
        .map_or_else(String::new, ToString::to_string)
}
