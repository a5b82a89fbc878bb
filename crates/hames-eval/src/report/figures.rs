//! Numbers as people read them.
//!
//! It computes nothing, and knows no unit but seconds, dollars, tokens and shares.

use crate::statistics::Estimate;

/// Shown where a figure is not known.
pub const NONE: &str = "–";

pub fn seconds(value: f64) -> String {
    match value {
        v if !v.is_finite() || v < 0.0 => NONE.to_owned(),
        // A sum of nothing is −0 in Rust.
        v if v < 9.95 => format!("{:.1} s", v + 0.0),
        v if v < 119.5 => format!("{v:.0} s"),
        v if v < 5_970.0 => {
            let whole = v.round();
            format!("{:.0} min {:02.0} s", (whole / 60.0).floor(), whole % 60.0)
        }
        v => {
            let minutes = (v / 60.0).round();
            format!(
                "{:.0} h {:02.0} min",
                (minutes / 60.0).floor(),
                minutes % 60.0
            )
        }
    }
}

pub fn dollars(value: Option<f64>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(v) if v.abs() < 1e-9 => "$0".to_owned(),
        Some(v) if v < 0.01 => format!("${v:.4}"),
        Some(v) if v < 1.0 => format!("${v:.3}"),
        Some(v) => format!("${v:.2}"),
    }
}

pub fn count(value: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits of it are shown")]
    let v = value as f64;
    match value {
        0..10_000 => value.to_string(),
        10_000..1_000_000 => format!("{:.1}k", v / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2}M", v / 1e6),
        _ => format!("{:.2}G", v / 1e9),
    }
}

/// Of a share of 1.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

pub fn estimate(estimate: &Estimate) -> String {
    let interval = estimate.interval;
    format!(
        "{} [{:.1}, {:.1}]",
        percent(estimate.value),
        100.0 * interval.low,
        100.0 * interval.high
    )
}

/// Points of a hundred, with their sign.
pub fn difference(estimate: &Estimate) -> String {
    let interval = estimate.interval;
    format!(
        "{:+.1} points [{:+.1}, {:+.1}]",
        100.0 * estimate.value,
        100.0 * interval.low,
        100.0 * interval.high
    )
}

pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.0001 => "p < 0.0001".to_owned(),
        p => format!("p = {p:.4}"),
    }
}

pub fn plural(of: usize, noun: &str) -> String {
    match of {
        1 => format!("1 {noun}"),
        of => format!("{of} {noun}s"),
    }
}
