//! Checks of a history: that a counter and a register are linearizable, that no two members were primary at one time, and that
//! members of an active group agree.
//!
//! Linearizability of many objects is that of each (Herlihy and Wing 1990), so that the counter and the register are checked
//! apart. For both there are exact checks in the time that sorting takes, as an added sum and a written value are each unique
//! (Gibbons and Korach 1997). An operation of which it is not known whether it was done may be done at any time after it began,
//! or never.

mod counter;
mod primaries;
mod register;
mod replicas;

pub(crate) use primaries::terms;

use crate::history::Operation;

/// Violation of an invariant: in words, and the operations that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) what: String,
    pub(crate) shown_by: Vec<Operation>,
}

impl Violation {
    fn of(what: impl Into<String>, shown_by: &[&Operation]) -> Self {
        let mut shown_by: Vec<Operation> = shown_by.iter().map(|one| (*one).clone()).collect();
        shown_by.sort_by_key(|one| one.begun);
        shown_by.dedup();
        Self {
            what: what.into(),
            shown_by,
        }
    }
}

/// Checks the history of one group with one primary; `None` if nothing is wrong.
pub(crate) fn check(history: &[Operation]) -> Option<Violation> {
    counter::check(history)
        .or_else(|| register::check(history))
        .or_else(|| primaries::check(history))
}

/// Checks the history of one group whose members are equal; `None` if nothing is wrong.
pub(crate) fn check_active(history: &[Operation]) -> Option<Violation> {
    counter::check(history)
        .or_else(|| register::check(history))
        .or_else(|| replicas::check(history))
}

/// Checks the history of one group with one primary that logs its requests; `None` if nothing is wrong. Its members agree, too.
pub(crate) fn check_logged(history: &[Operation]) -> Option<Violation> {
    check(history).or_else(|| replicas::check(history))
}

#[cfg(test)]
mod tests;
