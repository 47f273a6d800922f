//! Tests of the time that gaps take in a window.

use crate::simulation::Random;
use punctual_scheduling::Time;
use punctual_scheduling::measured::{Gap, most_taken};

fn gaps(units: &[bool]) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    for (at, _) in units.iter().enumerate().filter(|(_, taken)| **taken) {
        let (from, to) = (Time::from_nanos(at as u64), Time::from_nanos(at as u64 + 1));
        match gaps.last_mut() {
            Some(last) if last.to == from => last.to = to,
            _ => gaps.push(Gap { from, to }),
        }
    }
    gaps
}

#[test]
fn the_largest_sum_of_any_window_is_found() {
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let density = random.within(1, 6);
        let units: Vec<bool> = (0..60).map(|_| random.one_in(density)).collect();
        let gaps = gaps(&units);
        for window in [1, 2, 3, 7, 20, 59, 60, 100] {
            let sums = units.windows(window.min(units.len()));
            let sums = sums.map(|taken| taken.iter().filter(|taken| **taken).count());
            let expected = Time::from_nanos(sums.max().unwrap() as u64);
            let found = most_taken(&gaps, Time::from_nanos(window as u64));
            assert_eq!(found, expected, "{units:?} in {window}");
        }
    }
}

#[test]
fn without_gaps_nothing_is_taken() {
    assert_eq!(most_taken(&[], Time::from_millis(1)), Time::ZERO);
}
