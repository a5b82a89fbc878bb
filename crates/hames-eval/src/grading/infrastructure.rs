//! Signs in a log without results that the machine was at fault, as version 5 names them.
//!
//! They are for people who look into it; no verdict changes by them.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::log::with_unix_line_ends;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspicion {
    pub reason: String,
    pub tier: Tier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// No change of source code can do this.
    Environment,
    /// A bad patch can look like this, too.
    Ambiguous,
}

/// The first that is found counts.
const SIGNS: [(&str, Tier, &str); 8] = [
    (
        "browser_launch_failed",
        Tier::Environment,
        r"Failed to launch|Failed to connect to the bus",
    ),
    (
        "display_unavailable",
        Tier::Environment,
        r"cannot open display|Missing X server|unable to open X display",
    ),
    (
        "out_of_memory",
        Tier::Environment,
        r"Cannot allocate memory|OutOfMemoryError|^Killed$",
    ),
    (
        "container_unavailable",
        Tier::Environment,
        r"Error response from daemon|Cannot connect to the Docker daemon",
    ),
    (
        "network_unreachable",
        Tier::Environment,
        r"Could not resolve host|Temporary failure in name resolution",
    ),
    (
        "missing_module",
        Tier::Ambiguous,
        r"Cannot find module|MODULE_NOT_FOUND|ModuleNotFoundError",
    ),
    (
        "no_tests_collected",
        Tier::Ambiguous,
        r"no tests ran|collected 0 items",
    ),
    (
        "tests_timed_out",
        Tier::Ambiguous,
        r"Timeout error: \d+ seconds exceeded",
    ),
];

static COMPILED: LazyLock<Vec<(&str, Tier, Regex)>> = LazyLock::new(|| {
    let compiled = SIGNS.iter().filter_map(|(reason, tier, sign)| {
        Some((*reason, *tier, Regex::new(&format!("(?m){sign}")).ok()?))
    });
    compiled.collect()
});

pub fn suspect(log: &str) -> Option<Suspicion> {
    let log = with_unix_line_ends(log);
    let found = COMPILED.iter().find(|(_, _, sign)| sign.is_match(&log));
    found.map(|(reason, tier, _)| Suspicion {
        reason: (*reason).to_owned(),
        tier: *tier,
    })
}
