//! The binary: one call, and an exit that waits for nobody.
//!
//! Whatever a run left behind, a background process or a stuck thread, does not keep it alive.

fn main() {
    let code = hames::cli::main(std::env::args_os());
    std::process::exit(code.into());
}
