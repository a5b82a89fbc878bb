//! The evaluation's tests: real git repositories, real processes, recorded logs.
//!
//! No network but loopback, and no keys.

mod mini;
mod statistics;
mod store;
