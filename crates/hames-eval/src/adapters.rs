//! The list of coding agents that can be run.
//!
//! What each of them needs and prints is in its own file.

pub mod predictions;
