//! The official packages that a verdict can follow, by name.
//!
//! Where they differ is in `grading/` and `log_parsers/`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which package's rules: they differ, so a score names its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// swebench 4.1.0: what most published numbers were made with.
    V4,
    /// swebench 5.0.2.
    V5,
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "v4" | "V4" | "4" | "4.1.0" => Ok(Self::V4),
            "v5" | "V5" | "5" | "5.0.2" => Ok(Self::V5),
            _ => Err(format!(
                "{text} is no grader: give v4 (swebench 4.1.0) or v5 (5.0.2)"
            )),
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::V4 => "v4",
            Self::V5 => "v5",
        })
    }
}
