//! What a score is worth: intervals, pass@k, and whether two runs differ.
//!
//! It knows numbers only; which trials count is the caller's business. Everything random is
//! seeded: the same values and seed give the same figures.

mod bootstrap;
mod paired;
mod pass_at;

use serde::Serialize;

pub use bootstrap::{RESAMPLES, mean_over_instances};
pub use paired::{Pairing, difference, mcnemar_exact};
pub use pass_at::{PassAt, Tally, pass_at, pass_at_k};

/// The 97.5th percentile of the normal distribution: every interval here is one of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// Shares of 1, or a difference of two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    /// 95 %.
    pub interval: Interval,
}

/// A share of `of` independent instances, with Wilson's score interval (Wilson 1927).
///
/// `share` may be a mean of shares, as when each instance was tried several times: a value
/// between 0 and 1 varies no more than a coin with the same mean, so the interval is wide enough.
/// None without an instance.
pub fn wilson(share: f64, of: usize) -> Option<Estimate> {
    if of == 0 || share.is_nan() {
        return None;
    }
    let n = count(of);
    let (z2, value) = (Z * Z, share.clamp(0.0, 1.0));
    let scale = 1.0 + z2 / n;
    let middle = (value + z2 / (2.0 * n)) / scale;
    let half = Z / scale * (value * (1.0 - value) / n + z2 / (4.0 * n * n)).sqrt();
    let interval = Interval {
        low: (middle - half).clamp(0.0, value),
        high: (middle + half).clamp(value, 1.0),
    };
    Some(Estimate { value, interval })
}

/// `at` from 0 to 1, between neighbours in proportion (the default of most statistics programs).
pub fn quantile(values: &[f64], at: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted_quantile(&sorted, at)
}

fn sorted_quantile(sorted: &[f64], at: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = at.clamp(0.0, 1.0) * count(last);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last index"
    )]
    let below = place.floor() as usize;
    let low = sorted.get(below)?;
    let high = sorted.get(below + 1).unwrap_or(low);
    Some(low + (high - low) * place.fract())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no run has 2^53 instances, and a clock's milliseconds fit as well"
)]
fn count(of: usize) -> f64 {
    of as f64
}
