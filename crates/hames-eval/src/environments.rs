//! The back-ends: where trees are checked out and tests run.
//!
//! Each is a file of its own; the seam is in `environment.rs`.

mod apply;
pub mod docker;
pub mod local;
mod reward;
mod test_log;
