//! How the tests of one list came out, by name.
//!
//! Which tests are listed is the instance's, and what counts as a pass is `grading/`'s.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TestLists {
    pub pass: Vec<String>,
    pub fail: Vec<String>,
    /// In neither list: v4 leaves skipped tests out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}
