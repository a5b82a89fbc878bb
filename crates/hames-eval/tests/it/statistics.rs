//! Statistics against figures from scipy 1.17.1 and, for pass@k, from integer arithmetic.
//!
//! Each comment holds the Python expression that gave the numbers.
#![allow(clippy::unwrap_used)]

use hames_eval::statistics::{
    Estimate, Pairing, Tally, difference, mcnemar_exact, mean_over_instances, pass_at, pass_at_k,
    quantile, wilson,
};
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
}

fn within(estimate: Estimate, low: f64, high: f64, by: f64) -> bool {
    (estimate.interval.low - low).abs() <= by && (estimate.interval.high - high).abs() <= by
}

/// `scipy.stats.binomtest(k, n).proportion_ci(method='wilson')`
#[test]
fn fault_n07_wilson_as_scipy_has_it() {
    let known: [(u32, u32, f64, f64); 6] = [
        (10, 100, 0.055_229_137_060_675_08, 0.174_365_661_504_913_45),
        (0, 12, 0.0, 0.242_494_006_655_240_85),
        (12, 12, 0.757_505_993_344_759_2, 1.0),
        (1, 1, 0.206_549_314_377_237_45, 1.0),
        (250, 500, 0.456_341_265_302_484_3, 0.543_658_734_697_515_7),
        (81, 263, 0.255_288_519_878_274_2, 0.366_209_576_982_800_04),
    ];
    for (k, n, low, high) in known {
        let found = wilson(f64::from(k) / f64::from(n), n as usize).unwrap();
        let interval = found.interval;
        assert!(close(interval.low, low), "{k} of {n}: {interval:?}");
        assert!(close(interval.high, high), "{k} of {n}: {interval:?}");
    }
    assert_eq!([wilson(0.5, 0), wilson(f64::NAN, 3)], [None, None]);
}

/// `1 - comb(n - c, k) / comb(n, k)`
#[test]
fn pass_at_k_is_unbiased() {
    let known = [
        (10, 3, 1, 0.3),
        (10, 3, 5, 0.916_666_666_666_666_6),
        (200, 1, 100, 0.5),
        (4, 2, 2, 0.833_333_333_333_333_4),
        (5, 5, 3, 1.0),
        (1000, 10, 200, 0.893_835_586_770_041),
        (4, 0, 4, 0.0),
    ];
    for (trials, resolved, k, expected) in known {
        let found = pass_at_k(Tally { trials, resolved }, k).unwrap();
        assert!(close(found, expected), "{trials} {resolved} {k}: {found}");
    }
    let two = Tally {
        trials: 2,
        resolved: 2,
    };
    assert_eq!([pass_at_k(two, 0), pass_at_k(two, 3)], [None, None]);
}

#[test]
fn an_instance_with_too_few_trials_is_counted_apart() {
    let tally = |trials, resolved| Tally { trials, resolved };
    let tallies = [tally(4, 2), tally(4, 4), tally(1, 1)];
    let found = pass_at(&tallies, 2, 7).unwrap();
    assert_eq!((found.instances, found.too_few), (2, 1));
    // (5/6 + 1) / 2
    assert!(close(found.estimate.value, 11.0 / 12.0));
    assert_eq!(pass_at(&tallies, 5, 7), None);
}

/// `bootstrap((x,), np.mean, method='percentile', n_resamples=100000, rng=1)` with
/// `x = [1.]*24 + [0.]*16` and with `x = [i % 5 / 4 for i in range(50)]`.
#[test]
fn the_cluster_bootstrap_is_where_scipy_has_it() {
    let coins: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i < 24))).collect();
    let found = mean_over_instances(&coins, 1).unwrap();
    assert!(close(found.value, 0.6));
    assert!(within(found, 0.45, 0.75, 0.011), "{found:?}");
    let shares: Vec<f64> = (0..50).map(|i| f64::from(i % 5) / 4.0).collect();
    let found = mean_over_instances(&shares, 1).unwrap();
    assert!(within(found, 0.4, 0.595, 0.011), "{found:?}");
}

#[test]
fn a_seed_gives_the_same_figures_and_another_seed_others() {
    let shares: Vec<f64> = (0..37).map(|i| f64::from(i * i % 11) / 10.0).collect();
    let of = |seed| mean_over_instances(&shares, seed).unwrap();
    assert_eq!(of(3), of(3));
    assert_ne!(of(3), of(4));
}

/// Drawing twelve equal values again gives the same value: that is no certainty.
#[test]
fn agreement_of_all_instances_is_no_certainty() {
    assert_eq!(mean_over_instances(&[0.0; 12], 1), wilson(0.0, 12));
    assert_eq!(mean_over_instances(&[1.0; 12], 1), wilson(1.0, 12));
    let none = difference(&[(1.0, 1.0); 12], 1).unwrap();
    assert!(within(none, -0.242_494, 0.242_494, 1e-6), "{none:?}");
    let all_worse = difference(&[(1.0, 0.0); 12], 1).unwrap();
    assert!(within(all_worse, -1.0, -0.757_506, 1e-6), "{all_worse:?}");
    let all_better = difference(&[(0.0, 1.0); 12], 1).unwrap();
    assert!(within(all_better, 0.757_506, 1.0, 1e-6), "{all_better:?}");
}

/// `binomtest(min(b, c), b + c, 0.5).pvalue`
#[test]
fn fault_n07_mcnemar_exact_as_scipy_has_it() {
    let known = [
        (1, 7, 0.070_312_5),
        (3, 15, 0.007_537_841_796_875),
        (0, 5, 0.062_5),
        (10, 10, 1.0),
        (59, 6, 4.964_650_327_128_616e-12),
        (121, 59, 4.434_449_263_755_164_5e-6),
        (600, 500, 0.002_819_544_991_436_428_4),
        (0, 0, 1.0),
    ];
    for (b, c, expected) in known {
        let found = mcnemar_exact(b, c);
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{b} to {c}: {found} is not {expected}"
        );
    }
}

#[test]
fn instances_are_paired_by_what_both_runs_made_of_them() {
    let pairs = [
        (true, true),
        (true, false),
        (false, true),
        (false, false),
        (false, true),
    ];
    let counted = Pairing::count(pairs);
    let expected = Pairing {
        both: 1,
        only_first: 1,
        only_second: 2,
        neither: 1,
    };
    assert_eq!(counted, expected);
    assert!(close(counted.p_value(), 1.0));
}

/// `bootstrap((d,), np.mean, method='percentile', n_resamples=100000, rng=1)` with
/// `d = [1]*15 + [-1]*3 + [0]*82`
#[test]
fn the_difference_of_two_runs_has_an_interval() {
    let pair = |i| match i {
        0..15 => (0.0, 1.0),
        15..18 => (1.0, 0.0),
        _ => (1.0, 1.0),
    };
    let pairs: Vec<(f64, f64)> = (0..100).map(pair).collect();
    let found = difference(&pairs, 1).unwrap();
    assert!(close(found.value, 0.12));
    assert!(within(found, 0.04, 0.2, 0.011), "{found:?}");
    assert_eq!(difference(&[], 1), None);
}

/// `np.quantile([3, 1, 2, 10], q)`
#[test]
fn quantiles_lie_between_neighbours() {
    let values = [3.0, 1.0, 2.0, 10.0, f64::NAN];
    let found = [0.0, 0.5, 0.9, 1.0].map(|at| quantile(&values, at).unwrap());
    let expected = [1.0, 2.5, 7.9, 10.0];
    assert!(found.iter().zip(expected).all(|(a, b)| close(*a, b)));
    assert_eq!(quantile(&[], 0.5), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_estimate_lies_in_its_interval(resolved in prop::collection::vec(0_u32..=4, 1..40)) {
        let tally = |resolved: &u32| Tally { trials: 4, resolved: *resolved };
        let tallies: Vec<Tally> = resolved.iter().map(tally).collect();
        let mut last = 0.0;
        for k in 1..=4 {
            let Estimate { value, interval } = pass_at(&tallies, k, 1).unwrap().estimate;
            prop_assert!(interval.low <= value && value <= interval.high);
            prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
            prop_assert!(last <= value + 1e-12, "pass@k falls with k");
            last = value;
        }
    }
}
