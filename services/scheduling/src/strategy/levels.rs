//! Levels of candidates, by a strategy's order.

use super::Strategy;
use crate::assignment::Candidate;

/// Returns the level of each candidate.
pub(super) fn levels(strategy: &dyn Strategy, candidates: &[&Candidate]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    let compare =
        |one: usize, other: usize| strategy.level_order(candidates[one], candidates[other]);
    order.sort_by(|&one, &other| compare(one, other));
    let (mut levels, mut level) = (vec![0; candidates.len()], 0);
    for (at, &index) in order.iter().enumerate() {
        let is_next = at > 0 && compare(order[at - 1], index).is_ne();
        level += usize::from(is_next);
        levels[index] = level;
    }
    levels
}
