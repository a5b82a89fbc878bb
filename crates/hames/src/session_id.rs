//! Session ids: they sort by their birth, and no two processes make the same.
//!
//! A dot is never in one: `ID.1` is a child's journal, `ID.run` a run log.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
};

/// `20261201-094512-1f3a9c`: day and time in UTC, and six random digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(String);

impl SessionId {
    pub fn new() -> Self {
        let seconds = hames_journal::record::now() / 1000;
        let (year, month, day) = civil(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let random = RandomState::new().hash_one(std::process::id()) & 0xff_ffff;
        Self(format!(
            "{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{random:06x}"
        ))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// True for a name that only a session's own journal has.
pub fn is_session(stem: &str) -> bool {
    !stem.is_empty() && !stem.contains('.')
}

/// Today in UTC, as `2026-12-01`.
pub fn today() -> String {
    let (year, month, day) = civil(hames_journal::record::now() / 86_400_000);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a count of days since 1970, by Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>), for days that are not negative.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_since_1970_are_dates() {
        let table = [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_788, (2026, 12, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ];
        for (days, date) in table {
            assert_eq!(civil(days), date, "{days}");
        }
    }
}
