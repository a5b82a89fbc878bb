//! Providers, from outside: one file a topic.
#![allow(clippy::too_many_lines, clippy::unwrap_used)]

mod call;
mod catalog;
mod discovery;
mod http;
mod keys;
mod network;
mod scripted;
mod server;
mod services;
