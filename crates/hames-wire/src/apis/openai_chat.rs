//! OpenAI chat completions, and the dialects of those who serve it.
//!
//! Vendors are data elsewhere: what is read or written here goes by what the bytes say.

mod client;
mod server;

pub use client::Client;
pub use server::Server;
