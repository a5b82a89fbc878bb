//! seaborn's pytest lines, with the verdict in front or between.

use super::status::{Status, StatusMap, words};
use crate::official::Version;

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    for line in log.split('\n') {
        let mut parts = words(line);
        let (Some(first), Some(second)) = (parts.next(), parts.next()) else {
            continue;
        };
        if line.starts_with("FAILED") {
            map.set(second, Status::Failed);
        } else if line.contains(" PASSED ") {
            if second == "PASSED" {
                map.set(first, Status::Passed);
            }
        } else if line.starts_with("PASSED") {
            map.set(second, Status::Passed);
        }
    }
    map
}
