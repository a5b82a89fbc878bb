//! The binary: args, config, wiring, surface.

fn main() {}
