//! Providers, from outside: one file a topic.

mod call;
mod catalog;
mod discovery;
mod http;
mod keys;
mod network;
mod scripted;
mod server;
