//! Comparison of the analyses with a simulator that shares no code with them, over random sets.
//!
//! `PUNCTUAL_SCHEDULING_SETS` is the number of sets of each property; by default a share of 1,000, by
//! the time that a set takes.

mod edf;
mod engine;
mod fixed_priority;
mod interference;
mod mutexes;
mod reservations;
mod sets;
mod suspension;

pub(crate) use sets::Random;

/// Runs a property on random sets: by default on a share of 1,000, given in percent.
fn for_sets(share: u64, property: impl Fn(&mut Random)) {
    let full = std::env::var("PUNCTUAL_SCHEDULING_SETS").ok();
    let full = full.map(|count| count.parse::<u64>().unwrap());
    for seed in 0..full.unwrap_or(1_000 * share / 100) {
        property(&mut Random::new(seed));
    }
}
