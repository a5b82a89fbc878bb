//! The ways in which the official graders lay a patch on a tree, in order.

use super::Version;
use crate::environment::ApplyStep;

/// Version 5 puts the tree back before each further try; version 4 goes on with what is there.
pub fn apply_chain(version: Version) -> Vec<ApplyStep> {
    let step = |argv: &[&'static str], resets| ApplyStep {
        argv: argv.to_vec(),
        resets,
    };
    match version {
        Version::V4 => vec![
            step(&["git", "apply", "--verbose"], false),
            step(&["git", "apply", "--verbose", "--reject"], false),
            step(&["patch", "--batch", "--fuzz=5", "-p1", "-i"], false),
        ],
        Version::V5 => vec![
            step(&["git", "apply", "--verbose"], true),
            step(&["git", "apply", "--verbose", "--3way"], true),
            step(&["git", "apply", "--verbose", "--reject"], true),
            step(
                &["patch", "--batch", "--forward", "--fuzz=5", "-p1", "-i"],
                false,
            ),
            // The last try may have left it in the tree whole, and failed all the same.
            step(&["git", "apply", "--check", "--reverse"], false),
        ],
    }
}
