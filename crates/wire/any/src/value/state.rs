//! Members of a valuetype's state, those of its bases first.
//!
//! Nothing of this is stored with a value. The chain of bases is bounded, so that each of these
//! queries takes at most that many steps.

use std::iter::successors;

use crate::type_code::{Index, Node, Shapes, ValueModifier};

/// Returns the number of members of a type's values. The type must not be an alias.
pub(super) fn count(types: Shapes<'_>, at: Index) -> usize {
    line(types, at).map(|at| own_count(types, at)).sum()
}

/// Returns the type of a member; `None` after the last one.
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

/// Returns the base that values of a type may be truncated to, the nearest being number 0.
pub(super) fn truncatable_to(types: Shapes<'_>, at: Index, number: usize) -> Option<Index> {
    let base = |at: Index| match types.node(at) {
        Node::Value(value) if value.modifier == ValueModifier::Truncatable => base(types, at),
        _ => None,
    };
    successors(base(at), |&at| base(at)).nth(number)
}

/// Returns whether a type is the one with that repository id, or inherits its state.
pub(super) fn has_state_of(types: Shapes<'_>, at: Index, id: &str) -> bool {
    line(types, at).any(|at| types.node(at).name().is_some_and(|name| &*name.id == id))
}

/// Returns a type and those that it inherits its state from, nearest first.
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
