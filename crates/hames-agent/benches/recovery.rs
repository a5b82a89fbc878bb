//! How many runs end well when the model service fails at random, with the Error Handler and
//! without it (E-08: "ten runs, eight crashes without it").
//!
//! Counts, no times: the clock is tokio's own, paused, so that waits cost nothing.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use hames_agent::recovery::RetryPolicy;
use hames_testkit::{Attempt, Rig, Script, asks, fails, says};
use hames_types::{Outcome, ProviderErrorKind as Kind};

const RUNS: u64 = 400;
const TURNS: u64 = 10;

fn main() {
    println!("{RUNS} seeded runs of {TURNS} model calls, each call failing with chance p first");
    println!("{:>5}  {:>10}  {:>10}", "p", "handler on", "off");
    for percent in [2, 5, 15, 30] {
        let (on, off) = (completed(percent, 6), completed(percent, 1));
        println!("{percent:>4}%  {:>9.1}%  {:>9.1}%", share(on), share(off));
    }
}

fn share(completed: u64) -> f64 {
    completed as f64 * 100.0 / RUNS as f64
}

/// `attempts`: how often one kind of error may come before the call fails; 1 is no handler at all.
fn completed(percent: u64, attempts: u32) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let ends_well = |seed: &u64| {
        let mut rig = Rig::new(Script::in_order(attempts_of(*seed, percent)));
        rig.limits.max_turns = None;
        rig.cx.retry = RetryPolicy {
            attempts,
            ..RetryPolicy::default()
        };
        runtime.block_on(rig.go()).unwrap().1 == Outcome::Completed
    };
    (0..RUNS).filter(ends_well).count() as u64
}

/// The same failures for the same seed, whoever handles them.
fn attempts_of(seed: u64, percent: u64) -> Vec<Attempt> {
    let mut dice = Dice(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut attempts = Vec::new();
    for turn in 0..TURNS {
        while dice.roll(100) < percent {
            attempts.push(failure(dice.roll(4)));
        }
        attempts.push(match turn + 1 == TURNS {
            true => says("done"),
            false => asks(&[(&format!("c{turn}"), "look", &format!("{{\"turn\":{turn}}}"))]),
        });
    }
    attempts
}

fn failure(kind: u64) -> Attempt {
    match kind {
        0 => fails(Kind::RateLimited),
        1 => fails(Kind::Overloaded),
        2 => fails(Kind::Transport),
        _ => {
            let mut cut = says("half an answer");
            cut.events.pop();
            cut
        }
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}
