//! The cluster bootstrap: instances are drawn again, each with all of its trials.
//!
//! It refuses to call a sample without variation certain: where all instances agree, drawing them
//! again shows nothing, and Wilson's interval over the instances stands in.

use super::{Estimate, Interval, count, mean, sorted_quantile, wilson};

/// Enough that the third digit of a limit no longer moves with the seed.
pub const RESAMPLES: usize = 10_000;

/// The mean of one share an instance, with the bootstrap's percentile interval. None without any.
pub fn mean_over_instances(shares: &[f64], seed: u64) -> Option<Estimate> {
    let first = *shares.first()?;
    if shares.iter().all(|share| same(*share, first)) {
        return wilson(first, shares.len());
    }
    Some(Estimate {
        value: mean(shares),
        interval: percentile_interval(shares, seed),
    })
}

pub(super) fn percentile_interval(values: &[f64], seed: u64) -> Interval {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut draw = || -> f64 {
        let drawn = (0..values.len()).map(|_| values.get(random.usize(..values.len())));
        drawn.flatten().sum::<f64>() / count(values.len())
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    means.sort_by(f64::total_cmp);
    Interval {
        low: sorted_quantile(&means, 0.025).unwrap_or(f64::NAN),
        high: sorted_quantile(&means, 0.975).unwrap_or(f64::NAN),
    }
}

/// Shares are quotients of the same small numbers: equal ones are equal to the bit.
pub(super) fn same(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq()
}
