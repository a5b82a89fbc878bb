//! The platforms that the product is meant for beside the one it is built on.
//!
//! Checked, not tested; and only where rustup has their standard library.

use std::{io, process::Command};

/// One of each family: what differs within a family is not the project's to know.
pub const OTHERS: [&str; 3] = [
    "aarch64-apple-darwin",
    "x86_64-pc-windows-gnu",
    "x86_64-pc-windows-msvc",
];

/// False also where there is no rustup to ask.
pub fn installed(target: &str) -> io::Result<bool> {
    let listed = Command::new("rustup")
        .args(["target", "list", "--installed"])
        .output();
    let output = match listed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(listed.lines().any(|line| line.trim() == target))
}

/// The chores are for those who build the product, on a Unix.
pub fn command(target: &str) -> String {
    format!("check --workspace --exclude xtask --all-targets --target {target}")
}
