//! The back-ends: where trees are checked out and tests run.
//!
//! Each is a file of its own; the seam is in `environment.rs`.

pub mod local;
