//! pass@k: how likely one of k trials solves an instance, without bias.
//!
//! An instance with fewer than k trials says nothing about k; it is counted apart, never guessed.

use serde::Serialize;

use super::{Estimate, bootstrap::mean_over_instances};

/// The trials of one instance that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub trials: u32,
    pub resolved: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassAt {
    pub k: u32,
    /// The mean over instances; its interval is the cluster bootstrap's, by instance.
    pub estimate: Estimate,
    /// With at least k trials.
    pub instances: usize,
    /// Left out: fewer than k trials.
    pub too_few: usize,
}

impl Tally {
    pub fn share(self) -> Option<f64> {
        (self.trials > 0).then(|| f64::from(self.resolved) / f64::from(self.trials))
    }
}

/// 1 − C(n−c, k) / C(n, k) for one instance with n trials, c of them resolved (Chen et al. 2021,
/// "Evaluating Large Language Models Trained on Code", eq. 1), as a product that cannot overflow.
///
/// None where k is 0 or there are fewer than k trials.
pub fn pass_at_k(tally: Tally, k: u32) -> Option<f64> {
    let Tally { trials, resolved } = tally;
    if k == 0 || trials < k || resolved > trials {
        return None;
    }
    if trials - resolved < k {
        return Some(1.0);
    }
    let missed = (trials - resolved + 1..=trials).map(|i| 1.0 - f64::from(k) / f64::from(i));
    Some(1.0 - missed.product::<f64>())
}

/// None where no instance has k trials.
pub fn pass_at(tallies: &[Tally], k: u32, seed: u64) -> Option<PassAt> {
    let each = tallies.iter().filter_map(|tally| pass_at_k(*tally, k));
    let shares: Vec<f64> = each.collect();
    Some(PassAt {
        k,
        estimate: mean_over_instances(&shares, seed)?,
        instances: shares.len(),
        too_few: tallies.len() - shares.len(),
    })
}
