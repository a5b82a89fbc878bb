//! The evaluation's tests: real git repositories, real processes, recorded logs.
//!
//! No network but loopback, and no keys.
#![cfg(unix)]
#![allow(clippy::print_stdout, clippy::too_many_lines, clippy::unwrap_used)]

mod adapters;
mod adapters_brands;
mod adapters_docs;
mod adapters_hames;
mod adapters_real;
mod adapters_runners;
mod atif;
mod confinement;
mod datasets;
mod docker;
mod environments;
mod grading;
mod ground;
mod leaks;
mod locks;
mod mini;
mod mini_graded;
mod patch;
mod pipeline;
mod progress;
mod rate_limit;
mod real_instances;
mod record;
mod removal;
mod report;
mod repository;
mod resuming;
mod scripted;
mod solve;
mod solving;
mod statistics;
mod store;
