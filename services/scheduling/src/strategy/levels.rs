//! Levels of candidates, by an order.

use std::cmp::Ordering;

use crate::assignment::Candidate;

/// Returns the level of each candidate: equal ones share a level.
pub(super) fn levels(
    candidates: &[&Candidate],
    order_of: impl Fn(&Candidate, &Candidate) -> Ordering,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    let compare = |one: usize, other: usize| order_of(candidates[one], candidates[other]);
    order.sort_by(|&one, &other| compare(one, other));
    let (mut levels, mut level) = (vec![0; candidates.len()], 0);
    for (at, &index) in order.iter().enumerate() {
        let is_next = at > 0 && compare(order[at - 1], index).is_ne();
        level += usize::from(is_next);
        levels[index] = level;
    }
    levels
}
