//! The wires, from outside: one file a topic.
#![allow(clippy::unwrap_used, clippy::too_many_lines)]

mod answers;
mod decoding;
mod errors;
mod frames;
mod prefix;
mod protocol;
mod refusals;
mod requests;
mod scenario;
mod served;
