//! Terms of primaries, as answers show them.
//!
//! An answer shows that its member was primary at a moment between the invocation and the answer. Of a term, the earliest answer
//! and the latest invocation bound the time in which the member was primary for certain. Such times of two terms do not overlap.

use super::Violation;
use crate::history::{Operation, Time};
use std::collections::HashMap;

/// Term of a primary: the time in which it answered.
#[derive(Clone, Debug)]
pub(crate) struct Term<'h> {
    pub(crate) member: &'h str,
    /// Operation that was answered first, and the time of the answer.
    first: (Time, &'h Operation),
    /// Operation that began last.
    last: &'h Operation,
}

impl Term<'_> {
    /// Returns the earliest answer.
    pub(crate) fn from(&self) -> Time {
        self.first.0
    }

    /// Returns the latest invocation.
    pub(crate) fn to(&self) -> Time {
        self.last.begun
    }
}

/// Returns the terms of a group's primaries, in the order of their first answers.
pub(crate) fn terms(history: &[Operation]) -> Vec<Term<'_>> {
    let mut terms: HashMap<(&str, u64), Term<'_>> = HashMap::new();
    for operation in history {
        let answered = operation.answered();
        // Answers from a log name no member.
        let Some((end, answer)) = answered.filter(|(_, answer)| !answer.member.is_empty()) else {
            continue;
        };
        let term = terms.entry((&answer.member, answer.term));
        let term = term.or_insert(Term {
            member: &answer.member,
            first: (end, operation),
            last: operation,
        });
        if end < term.first.0 {
            term.first = (end, operation);
        }
        if term.last.begun < operation.begun {
            term.last = operation;
        }
    }
    let mut terms: Vec<_> = terms.into_values().collect();
    terms.sort_by_key(Term::from);
    terms
}

pub(super) fn check(history: &[Operation]) -> Option<Violation> {
    let mut terms = terms(history);
    // Answers of others within one call do not show that both were primary at one time.
    terms.retain(|term| term.from() < term.to());
    let pair = terms
        .windows(2)
        .find(|pair| pair[1].from() < pair[0].to())?;
    let what = format!(
        "{} and {} were primary at one time",
        pair[0].member, pair[1].member
    );
    let shown_by = [pair[0].first.1, pair[0].last, pair[1].first.1, pair[1].last];
    Some(Violation::of(what, &shown_by))
}
