//! The time of day, for records that people read.
//!
//! What is measured is measured by tokio's clock, which tests can stop.

use std::time::SystemTime;

/// ISO 8601 in UTC, to the second.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
