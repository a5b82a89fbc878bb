//! Ollama's own chat API: one JSON object a line, calls whole, arguments as objects.
//!
//! Its OpenAI-compatible side is another wire, and not this module's.

mod client;
mod server;

pub use client::Client;
pub use server::Server;
