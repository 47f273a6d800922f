//! Times of the stages of joined requests, by operation.

use super::join::{Joined, Whole};
use serde::Serialize;
use std::collections::BTreeMap;

/// Median, 99th percentile and longest of some times, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Times {
    pub(super) p50: i64,
    pub(super) p99: i64,
    pub(super) longest: i64,
}

/// Stages of one operation's requests.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Stages {
    pub(super) operation: String,
    pub(super) requests: usize,
    /// From sending to reading.
    pub(super) request: Times,
    /// From reading to the upcall.
    pub(super) wait: Times,
    pub(super) upcall: Times,
    /// From the end of the upcall until the client's caller has the reply.
    pub(super) reply: Times,
    /// From sending to the reply.
    pub(super) whole: Times,
}

impl Times {
    fn of(mut all: Vec<i64>) -> Self {
        all.sort_unstable();
        let at = |percent: usize| {
            let place = (all.len() * percent).div_ceil(100).saturating_sub(1);
            all.get(place).copied().unwrap_or(0)
        };
        Self {
            p50: at(50),
            p99: at(99),
            longest: at(100),
        }
    }
}

/// Returns the stages of each operation, in the order of names.
pub(super) fn by_operation(joined: &Joined) -> Vec<Stages> {
    let mut of: BTreeMap<&str, Vec<&Whole>> = BTreeMap::new();
    for request in &joined.requests {
        of.entry(joined.operation(request))
            .or_default()
            .push(request);
    }
    of.into_iter()
        .map(|(operation, all)| {
            let times = |stage: fn(&Whole) -> Option<i64>| {
                Times::of(all.iter().filter_map(|one| stage(one)).collect())
            };
            Stages {
                operation: operation.to_owned(),
                requests: all.len(),
                request: times(|one| Some(one.read - one.sending)),
                wait: times(|one| Some(one.upcall? - one.read)),
                upcall: times(|one| Some(one.upcall_end? - one.upcall?)),
                reply: times(|one| Some(one.received? - one.upcall_end?)),
                whole: times(Whole::whole),
            }
        })
        .collect()
}

/// Returns the end of a stage that begins at `from`, in a call whose reply came at `received`. By joined clocks that contradict
/// one another a stage may seem to end before it begins, and the whole call, too: then it has no length.
pub(super) fn within(until: i64, from: i64, received: i64) -> i64 {
    until.min(received).max(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_ends_in_its_call_and_not_before_it_begins() {
        assert_eq!(within(5, 3, 9), 5);
        assert_eq!(within(2, 3, 9), 3);
        assert_eq!(within(12, 3, 9), 9);
        // The reply seems to come before the stage begins.
        assert_eq!(within(5, 10, 9), 10);
    }
}
