//! The binary as a user meets it: the real one, run in folders of its own.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::unwrap_used
)]

mod conversation;
mod demo;
mod eval;
mod examples;
mod exit_codes;
mod explain;
mod flags;
mod formats;
mod hooks;
mod kept;
mod keys;
mod prompts;
mod sessions;
mod settings;
mod tables;
mod trust;
mod world;
