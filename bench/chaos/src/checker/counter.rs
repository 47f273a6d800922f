//! Linearizability of a counter whose `add` returns the sum.
//!
//! The sums fix the order of all operations that were answered: by sum, an `add` before the `sum`s that read it. It has to agree
//! with time: no operation ends before one begins that stands before it. A sum that no `add` has returned needs one of its
//! own that may have been done, and that began before the end of each operation that comes behind it.

use super::Violation;
use crate::history::{Kind, Operation, Time};

/// Operation that was answered: its sum, whether it reads, its end.
struct Seen<'h> {
    sum: i64,
    reads: bool,
    end: Time,
    operation: &'h Operation,
}

pub(super) fn check(history: &[Operation]) -> Option<Violation> {
    let mut seen: Vec<Seen<'_>> = history.iter().filter_map(Seen::of).collect();
    // Those that read one sum come in any order.
    seen.sort_by_key(|one| (one.sum, one.reads, one.operation.begun));
    below(&seen)
        .or_else(|| twice(&seen))
        .or_else(|| against_time(&seen))
        .or_else(|| without_add(&seen, history))
}

impl<'h> Seen<'h> {
    fn of(operation: &'h Operation) -> Option<Self> {
        let reads = match operation.kind {
            Kind::Add => false,
            Kind::Sum => true,
            Kind::Write(_) | Kind::Read | Kind::Echo(_) => return None,
        };
        let (end, answer) = operation.answered()?;
        Some(Self {
            sum: answer.value,
            reads,
            end,
            operation,
        })
    }
}

/// Finds a sum that is less than the counter was at first, or after an addition.
fn below(seen: &[Seen<'_>]) -> Option<Violation> {
    let below = seen.iter().find(|one| one.sum < i64::from(!one.reads))?;
    let what = format!("the counter was {}", below.sum);
    Some(Violation::of(what, &[below.operation]))
}

/// Finds two `add`s with one sum.
fn twice(seen: &[Seen<'_>]) -> Option<Violation> {
    let adds: Vec<&Seen<'_>> = seen.iter().filter(|one| !one.reads).collect();
    let same = adds.windows(2).find(|pair| pair[0].sum == pair[1].sum)?;
    Some(Violation::of(
        format!(
            "the counter was {} after two additions: one of them is lost",
            same[0].sum
        ),
        &[same[0].operation, same[1].operation],
    ))
}

/// Finds an operation that ended before one began that has to come first.
fn against_time(seen: &[Seen<'_>]) -> Option<Violation> {
    let mut last: Option<&Seen<'_>> = None;
    for one in seen {
        if let Some(last) = last
            && one.end < last.operation.begun
        {
            return Some(Violation::of(
                format!(
                    "the counter went back: it was {}, and {} afterwards",
                    one.sum, last.sum
                ),
                &[one.operation, last.operation],
            ));
        }
        if last.is_none_or(|last| last.operation.begun < one.operation.begun) {
            last = Some(one);
        }
    }
    None
}

/// Finds a sum for which there is no `add`.
fn without_add(seen: &[Seen<'_>], history: &[Operation]) -> Option<Violation> {
    let highest = seen.last()?.sum;
    let mut pending: Vec<&Operation> = history
        .iter()
        .filter(|one| one.kind == Kind::Add && one.is_pending())
        .collect();
    pending.sort_by_key(|one| one.begun);
    let mut pending = pending.into_iter();
    // The earliest end of what stands from each place on.
    let mut ends: Vec<&Seen<'_>> = Vec::with_capacity(seen.len());
    for one in seen.iter().rev() {
        let least = ends.last().filter(|least| least.end <= one.end);
        ends.push(least.copied().unwrap_or(one));
    }
    ends.reverse();
    let adds: Vec<i64> = seen
        .iter()
        .filter(|one| !one.reads)
        .map(|one| one.sum)
        .collect();
    let mut adds = adds.into_iter().peekable();
    let mut at = 0;
    for sum in 1..=highest {
        if adds.next_if_eq(&sum).is_some() {
            continue;
        }
        // What reads this sum, or has a higher one, comes behind its addition.
        at += seen
            .get(at..)?
            .iter()
            .take_while(|one| one.sum < sum)
            .count();
        let behind = ends.get(at)?;
        let adds = pending.next().filter(|add| add.begun <= behind.end);
        if adds.is_none() {
            return Some(Violation::of(
                format!("no addition has made the counter {sum}: one was done twice"),
                &[behind.operation],
            ));
        }
    }
    None
}
