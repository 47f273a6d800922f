//! Linearizability of a register in which each value is written once (Gibbons and Korach 1997).
//!
//! The operations of one value, its write and its reads, are a cluster. Its zone is from the earliest end to the latest begin.
//! If the end comes first, the value was there all the time between, and no other value may have been there: such zones do not
//! overlap, and no cluster lies within one whose zone is the other way round, as it needs a moment of its own.

use super::Violation;
use crate::history::{Kind, Operation, Time};
use std::collections::HashMap;

/// Value of the register before anything was written.
const FIRST: i64 = 0;

/// Operations of one value.
struct Cluster<'h> {
    value: i64,
    write: Option<&'h Operation>,
    /// Operation that ended first, and its end; of the value that was there first, none.
    first_end: Option<(Time, &'h Operation)>,
    /// Operation that began last.
    last_begun: &'h Operation,
}

impl Cluster<'_> {
    fn first_end(&self) -> Time {
        match self.value {
            FIRST => Time::MIN,
            _ => self.first_end.map_or(Time::MAX, |(end, _)| end),
        }
    }

    /// Returns whether the value was there from the earliest end to the latest begin.
    fn is_lasting(&self) -> bool {
        self.first_end() < self.last_begun.begun
    }

    fn shown(&self) -> impl Iterator<Item = &Operation> {
        let first = self.first_end.map(|(_, operation)| operation);
        self.write.into_iter().chain(first).chain([self.last_begun])
    }
}

pub(super) fn check(history: &[Operation]) -> Option<Violation> {
    let clusters = match clusters(history) {
        Ok(clusters) => clusters,
        Err(violation) => return Some(violation),
    };
    let (mut lasting, moments): (Vec<_>, Vec<_>) =
        clusters.into_iter().partition(Cluster::is_lasting);
    lasting.sort_by_key(Cluster::first_end);
    let pairs = lasting.windows(2);
    let mut overlaps = pairs.filter(|pair| pair[1].first_end() < pair[0].last_begun.begun);
    if let Some(pair) = overlaps.next() {
        return Some(both(&pair[0], &pair[1]));
    }
    moments.iter().find_map(|moment| {
        let from = moment.last_begun.begun;
        // Those that begin before it do not overlap: the last of them ends last.
        let before = lasting.partition_point(|one| one.first_end() < from);
        let around = lasting.get(before.checked_sub(1)?)?;
        let is_within = moment.first_end() < around.last_begun.begun;
        is_within.then(|| both(around, moment))
    })
}

fn both(one: &Cluster<'_>, other: &Cluster<'_>) -> Violation {
    let operations: Vec<&Operation> = one.shown().chain(other.shown()).collect();
    Violation::of(
        format!(
            "the register had {}, and {} in between",
            one.value, other.value
        ),
        &operations,
    )
}

/// Returns the operations by their values, without writes that were perhaps not done and that no operation has read.
fn clusters(history: &[Operation]) -> Result<Vec<Cluster<'_>>, Violation> {
    let mut writes: HashMap<i64, &Operation> = HashMap::new();
    for operation in history {
        if let Kind::Write(value) = operation.kind
            && (operation.is_pending() || operation.answered().is_some())
        {
            writes.insert(value, operation);
        }
    }
    let mut clusters: HashMap<i64, Cluster<'_>> = HashMap::new();
    for operation in history {
        let Some((end, answer)) = operation.answered() else {
            continue;
        };
        let value = match operation.kind {
            Kind::Write(value) => value,
            Kind::Read => answer.value,
            Kind::Add | Kind::Sum | Kind::Echo(_) => continue,
        };
        let write = writes.get(&value).copied();
        if value != FIRST {
            let Some(write) = write else {
                let refused = history.iter().find(|one| one.kind == Kind::Write(value));
                let shown_by: Vec<_> = refused.into_iter().chain([operation]).collect();
                let what = format!("{value} was read, and not written, or refused as not done");
                return Err(Violation::of(what, &shown_by));
            };
            if end < write.begun {
                let what = format!("{value} was read before it was written");
                return Err(Violation::of(what, &[operation, write]));
            }
        }
        let cluster = clusters.entry(value).or_insert(Cluster {
            value,
            write,
            first_end: None,
            last_begun: write.unwrap_or(operation),
        });
        if cluster.first_end.is_none_or(|(first, _)| end < first) {
            cluster.first_end = Some((end, operation));
        }
        if cluster.last_begun.begun < operation.begun {
            cluster.last_begun = operation;
        }
    }
    Ok(clusters.into_values().collect())
}
