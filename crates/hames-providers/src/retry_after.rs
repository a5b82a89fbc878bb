//! How long a server asks to be left alone, read from the headers of its answer.
//!
//! Reads no clock: a date is measured against the date that the same server put on its answer.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// `retry-after-ms` is the finer one; `Retry-After` is a number of seconds or a date.
///
/// A date without a `Date` to measure it against says nothing, and our own clock may be wrong by
/// more than the wait; one that is past means "now".
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
    let now = httpdate::parse_http_date(text(DATE.as_str())?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}
