//! The wires, from outside: one file a topic.
#![allow(clippy::unwrap_used)]

mod decoding;
mod prefix;
mod refusals;
mod protocol;
mod scenario;
mod served;
