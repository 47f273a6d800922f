//! Where the members of a valuetype's state stand: those of its bases first.
//!
//! Nothing is kept of it for a value. A type inherits through a limited number of others, so that each of these
//! questions is answered in as many steps at most.

use std::iter::successors;

use crate::type_code::{Index, Node, Shapes, ValueModifier};

/// How many members values of a type have. The type is no alias.
pub(super) fn count(types: Shapes<'_>, at: Index) -> usize {
    line(types, at).map(|at| own_count(types, at)).sum()
}

/// The type of a member; `None` behind the last one.
pub(super) fn member(types: Shapes<'_>, at: Index, number: usize) -> Option<Index> {
    let mut end = count(types, at);
    if number >= end {
        return None;
    }
    for at in line(types, at) {
        let begin = end - own_count(types, at);
        if number >= begin {
            return match types.node(at) {
                Node::Value(value) => Some(value.members.get(number - begin)?.at),
                Node::ValueBox { of, .. } => Some(*of),
                _ => None,
            };
        }
        end = begin;
    }
    None
}

/// The base that values of a type may be truncated to, the nearest being number 0.
pub(super) fn truncatable_to(types: Shapes<'_>, at: Index, number: usize) -> Option<Index> {
    let base = |at: Index| match types.node(at) {
        Node::Value(value) if value.modifier == ValueModifier::Truncatable => base(types, at),
        _ => None,
    };
    successors(base(at), |&at| base(at)).nth(number)
}

/// A type and those that it inherits its state from, nearest first.
fn line(types: Shapes<'_>, at: Index) -> impl Iterator<Item = Index> {
    successors(Some(at), move |&at| base(types, at))
}

fn base(types: Shapes<'_>, at: Index) -> Option<Index> {
    match types.node(at) {
        Node::Value(value) => value.base.map(|base| types.shape(base).original),
        _ => None,
    }
}

fn own_count(types: Shapes<'_>, at: Index) -> usize {
    match types.node(at) {
        Node::Value(value) => value.members.len(),
        Node::ValueBox { .. } => 1,
        _ => 0,
    }
}
