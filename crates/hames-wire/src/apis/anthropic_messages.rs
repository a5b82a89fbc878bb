//! Anthropic Messages.
//!
//! Blocks that only their service understands are carried, not interpreted.

mod client;
mod server;

pub use client::Client;
pub use server::Server;
