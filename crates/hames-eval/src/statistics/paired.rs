//! Two runs on the same instances: how often they disagree, and how far apart they are.
//!
//! It never compares runs as if they were independent: an instance that only one of them has is
//! the caller's to name.

use serde::Serialize;

use super::{
    Estimate, Interval,
    bootstrap::{percentile_interval, same},
    mean, wilson,
};

/// Instances by what the two runs made of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Pairing {
    pub both: u32,
    pub only_first: u32,
    pub only_second: u32,
    pub neither: u32,
}

impl Pairing {
    pub fn count(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counted = Self::default();
        for pair in pairs {
            match pair {
                (true, true) => counted.both += 1,
                (true, false) => counted.only_first += 1,
                (false, true) => counted.only_second += 1,
                (false, false) => counted.neither += 1,
            }
        }
        counted
    }

    /// McNemar's exact test, two-sided.
    pub fn p_value(self) -> f64 {
        mcnemar_exact(self.only_first, self.only_second)
    }
}

/// The chance of a split at least as uneven as `b` to `c` where each disagreement is a fair coin:
/// the two-sided exact binomial test. 1 without a disagreement.
pub fn mcnemar_exact(b: u32, c: u32) -> f64 {
    let (n, fewer) = (b + c, b.min(c));
    // ln C(n, 0) / 2^n, then each term from the one before it: no factorial that overflows.
    let mut term = -f64::from(n) * std::f64::consts::LN_2;
    let mut tail = term.exp();
    for i in 1..=fewer {
        term += (f64::from(n - i + 1) / f64::from(i)).ln();
        tail += term.exp();
    }
    (2.0 * tail).min(1.0)
}

/// Second minus first, as the mean over instances of the difference of their shares, with the
/// bootstrap's percentile interval: instances are drawn in pairs. None without any.
pub fn difference(pairs: &[(f64, f64)], seed: u64) -> Option<Estimate> {
    let apart: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
    let one = *apart.first()?;
    let interval = match apart.iter().all(|d| same(*d, one)) {
        true => without_variation(one, apart.len())?,
        false => percentile_interval(&apart, seed),
    };
    let value = mean(&apart);
    Some(Estimate { value, interval })
}

/// Where all pairs differ alike, drawing them again shows nothing.
fn without_variation(apart: f64, instances: usize) -> Option<Interval> {
    let Interval { low, high } = wilson(apart.abs(), instances)?.interval;
    Some(match apart.partial_cmp(&0.0)? {
        std::cmp::Ordering::Greater => Interval { low, high },
        std::cmp::Ordering::Less => Interval {
            low: -high,
            high: -low,
        },
        std::cmp::Ordering::Equal => Interval { low: -high, high },
    })
}
