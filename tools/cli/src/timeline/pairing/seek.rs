//! Offset of two clocks by which most requests of a sample fit.

use super::super::file::File;
use super::budget::Budget;
use super::connections::Shared;
use super::pair::bound;
use std::cmp::Reverse;

/// Number of calls by which an offset is sought.
const SAMPLE: usize = 100;
/// Number of places from which samples are taken.
const PLACES: usize = 5;
/// Maximum number of pairs of a call and a served request that are looked at for a sample.
const MOST_PAIRS: usize = 1 << 20;

/// Offset that was found.
#[derive(Clone, Copy)]
pub(super) struct Sought {
    pub(super) offset: i64,
    /// Number of calls of the sample that have a request by it.
    votes: usize,
    /// Number of calls of the sample.
    of: usize,
    pub(super) is_ambiguous: bool,
}

/// Seeks the offset by which most calls of a sample have a request, of samples from several places; of equally good ones
/// the nearest to the guess.
pub(super) fn seek(
    client: &File,
    server: &File,
    by: &[Shared],
    guess: i64,
    budget: &mut Budget,
) -> Option<Sought> {
    let longest = by
        .iter()
        .max_by_key(|one| one.calls.values().map(Vec::len).sum::<usize>())?;
    // Of candidates for one connection each is tried.
    let alike = by
        .iter()
        .filter(|one| one.calls.len() == longest.calls.len());
    let mut sought: Vec<Sought> = Vec::new();
    for one in alike {
        let mut calls: Vec<usize> = one.calls.values().flatten().copied().collect();
        calls.sort_unstable();
        if !budget.spend(calls.len()) {
            break;
        }
        let served = one.served.values().map(Vec::len).max().unwrap_or(1).max(1);
        let sample = SAMPLE.min(MOST_PAIRS / served).max(1);
        let last = calls.len().saturating_sub(sample);
        for place in 0..PLACES {
            let from = last * place / (PLACES - 1);
            let of_place = calls
                .get(from..)
                .map(|rest| rest.get(..sample).unwrap_or(rest));
            let voted =
                of_place.and_then(|calls| vote((client, server), one, calls, guess, budget));
            sought.extend(voted);
        }
    }
    sought.into_iter().max_by_key(|one| {
        let share = one.votes * 1_000_000 / one.of.max(1);
        (share, Reverse(one.offset.abs_diff(guess)))
    })
}

/// Returns the offset by which most of these calls have a request.
fn vote(
    (client, server): (&File, &File),
    shared: &Shared,
    calls: &[usize],
    guess: i64,
    budget: &mut Budget,
) -> Option<Sought> {
    // Ends of the intervals: where one begins a call gains a request, behind its end it loses one.
    let mut ends: Vec<(i64, i32)> = Vec::new();
    for call in calls.iter().filter_map(|place| client.calls.get(*place)) {
        let ids = shared.served.get(&call.request.request);
        if !budget.spend(ids.map_or(1, Vec::len)) {
            break;
        }
        let fits = ids.into_iter().flatten().filter_map(|place| {
            let bound = bound(call, server.served.get(*place)?)?;
            Some((bound.least?, bound.most?))
        });
        let mut fits: Vec<(i64, i64)> = fits.collect();
        fits.sort_unstable();
        // Where several requests fit the call votes once.
        let mut until = i64::MIN;
        for (least, most) in fits {
            if most > until {
                ends.push((least.max(until.saturating_add(1)), -1));
                ends.push((most, 1));
                until = most;
            }
        }
    }
    // Beginnings stand before ends of the same moment.
    ends.sort_unstable();
    let (mut now, mut best) = (0_i32, 0_i32);
    let mut regions: Vec<(i64, i64)> = Vec::new();
    for (index, &(at, change)) in ends.iter().enumerate() {
        now -= change;
        if change < 0 && now >= best {
            if now > best {
                regions.clear();
                best = now;
            }
            let until = ends.get(index + 1).map_or(at, |next| next.0);
            regions.push((at, until));
        }
    }
    let middle = |&(from, to): &(i64, i64)| from.midpoint(to);
    let nearest = regions
        .iter()
        .map(middle)
        .min_by_key(|offset| offset.abs_diff(guess))?;
    Some(Sought {
        offset: nearest,
        votes: usize::try_from(best).unwrap_or(0),
        of: calls.len(),
        // Regions that touch are one.
        is_ambiguous: regions.windows(2).any(|two| match two {
            [one, next] => next.0 - one.1 > 1_000_000,
            _ => false,
        }),
    })
}
