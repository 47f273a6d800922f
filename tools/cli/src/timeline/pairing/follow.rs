//! Requests of a connection that are one another, by an offset that is followed from request to request.

use super::super::file::File;
use super::super::offset::Bound;
use super::budget::Budget;
use super::connections::Shared;
use super::pair::{Pair, bound};
use std::collections::HashMap;

/// Requests of a connection that were matched.
#[derive(Default)]
pub(super) struct Fit {
    pub(super) pairs: Vec<Pair>,
    /// Sum of the differences, in nanoseconds, between the offset and those that the requests demand.
    pub(super) miss: i64,
}

/// Matches the requests of a connection by an offset, which is followed from request to request if the clocks may drift, and
/// which each request may demand to be otherwise by the largest jump.
pub(super) fn follow(
    (client, server): (&File, &File),
    shared: &Shared,
    (offset, moves, jump): (i64, bool, i64),
    budget: &mut Budget,
) -> Fit {
    let mut fit = Fit::default();
    if budget.is_spent() {
        return fit;
    }
    let mut calls: Vec<usize> = shared.calls.values().flatten().copied().collect();
    calls.sort_unstable();
    let mut next: HashMap<u32, usize> = HashMap::new();
    let mut offset = offset;
    if !budget.spend(calls.len()) {
        return fit;
    }
    for place in calls {
        let Some(call) = client.calls.get(place) else {
            continue;
        };
        let id = call.request.request;
        let Some(served) = shared.served.get(&id) else {
            continue;
        };
        let first = next.entry(id).or_default();
        // How far the offset would have to move for each.
        let mut best: Option<(i64, usize, Bound)> = None;
        for (index, one) in served.iter().enumerate().skip(*first) {
            if !budget.spend(1) {
                return fit;
            }
            let Some(found) = server.served.get(*one) else {
                continue;
            };
            let moved = found.read - call.sending - offset;
            if moved < -jump && best.is_none() {
                // It is too early for this call, and for all later ones.
                *first = index + 1;
                continue;
            }
            if let Some(bound) = bound(call, found) {
                let below = bound.least.map_or(0, |least| (least - offset).max(0));
                let above = bound.most.map_or(0, |most| (offset - most).max(0));
                let miss = below.max(above);
                // Of one-ways, which have no reply, the first that fits.
                if best.is_none_or(|(least, ..)| miss < least) {
                    best = Some((miss, index, bound));
                }
                if miss == 0 {
                    break;
                }
            }
            // Those behind it are later still.
            if moved > jump
                && (best.is_some() || call.received.is_some_and(|end| found.read - end > offset))
            {
                break;
            }
        }
        let Some((miss, index, bound)) = best else {
            continue;
        };
        if miss > jump {
            continue;
        }
        *first = index + 1;
        if moves && miss > 0 {
            let most = bound.most.unwrap_or(offset);
            offset = offset.clamp(bound.least.unwrap_or(offset).min(most), most);
        }
        let Some(served) = served.get(index) else {
            continue;
        };
        fit.miss = fit.miss.saturating_add(miss);
        fit.pairs.push(Pair {
            call: place,
            served: *served,
            bound,
        });
    }
    fit
}
