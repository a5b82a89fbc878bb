//! Hames for embedders: the loop, the providers and the tools behind one name.
//!
//! With the feature `cli` it also holds what the binary is made of; without it, no argument parser
//! is linked, and nothing here reads the environment, home or a configuration.

mod embedded;

pub use embedded::{Agent, Connected, NoAgent, connect, function};
pub use hames_agent as agent;
pub use hames_journal as journal;
pub use hames_providers as providers;
pub use hames_tools as tools;
pub use hames_types as types;
pub use hames_wire as wire;

#[cfg(feature = "cli")]
mod approve;
#[cfg(feature = "cli")]
pub mod args;
#[cfg(feature = "cli")]
mod arranged;
#[cfg(feature = "cli")]
mod check;
#[cfg(feature = "cli")]
mod claude_names;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
mod conversation;
#[cfg(feature = "cli")]
pub mod demo;
#[cfg(feature = "cli")]
pub mod doctor;
#[cfg(feature = "cli")]
pub mod environment;
#[cfg(feature = "cli")]
pub mod eval;
#[cfg(feature = "cli")]
pub mod exit;
#[cfg(feature = "cli")]
pub mod explain;
#[cfg(feature = "cli")]
mod family;
#[cfg(feature = "cli")]
pub mod guide;
#[cfg(feature = "cli")]
pub mod hooks;
#[cfg(feature = "cli")]
mod instructions;
#[cfg(feature = "cli")]
mod late_window;
#[cfg(feature = "cli")]
pub mod models;
#[cfg(feature = "cli")]
mod print;
#[cfg(feature = "cli")]
mod prompt;
#[cfg(feature = "cli")]
mod report;
#[cfg(feature = "cli")]
mod schema;
#[cfg(feature = "cli")]
mod serving;
#[cfg(feature = "cli")]
mod session_id;
#[cfg(feature = "cli")]
pub mod sessions;
#[cfg(feature = "cli")]
pub mod settings;
#[cfg(feature = "cli")]
mod settled;
#[cfg(feature = "cli")]
mod signals;
#[cfg(feature = "cli")]
pub mod state_dir;
#[cfg(feature = "cli")]
mod surface;
#[cfg(feature = "cli")]
mod system_prompt;
#[cfg(feature = "cli")]
mod tally;
#[cfg(feature = "cli")]
pub mod trust;
#[cfg(feature = "cli")]
mod typed;
#[cfg(feature = "cli")]
mod watching;
#[cfg(feature = "cli")]
pub mod wiring;
