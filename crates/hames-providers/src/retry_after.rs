//! How long a server asks to be left alone, read from the headers of its answer.
//!
//! Decides nothing about waiting: caps and jitter are the Error Handler's.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// `retry-after-ms` is the finer one; `Retry-After` is a number of seconds or a date.
///
/// A date is measured against the server's own `Date`, since our clocks may differ by more than the
/// wait; one that is past means "now".
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok());
    if let Some(wait) = millis.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok()) {
        return Some(wait);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(after).ok()?;
    let date = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
    let now = date.unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}
