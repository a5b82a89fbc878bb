//! The built-in tools as a model meets them: real files, real processes.
#![cfg(unix)]
#![allow(clippy::print_stdout, clippy::too_many_lines, clippy::unwrap_used)]

mod bash;
mod bench;
mod edit;
mod hooks;
mod names;
mod processes;
mod programs;
mod read_write;
mod search;
mod strays;
