//! Equality and equivalence of TypeCodes.
//!
//! Types are graphs, and the same recursive type may be unrolled differently by its describers.
//! Pairs of nodes that have to be the same are gathered into classes (a union-find over the nodes
//! of both), so that a comparison ends after as many steps as there are nodes, however they are
//! connected, and compares a node's own content, such as an enum's labels, once.

use std::sync::Arc;

use super::TypeCode;
use super::arena::Arena;
use super::node::{Index, Member, Node};
use crate::kind::TypeKind;

impl TypeCode {
    /// Returns whether values of one type may be taken for values of the other: aliases are
    /// ignored; types that have repository ids are the same if those are; all others are compared
    /// by structure, ignoring names (CORBA 3.3 part 1, §8.11.1).
    ///
    /// In constant time for TypeCodes that share their memory, and for two that were found
    /// equivalent before.
    #[must_use]
    pub fn equivalent(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        let known = match (&self.arena, &other.arena) {
            (Some(one), Some(another)) => {
                one.is_known_equivalent(self.at, another, other.at)
                    || another.is_known_equivalent(other.at, one, self.at)
            }
            _ => false,
        };
        known || self.compare(other, Sameness::Equivalent) && self.note_equivalent(other)
    }

    /// Returns whether values of this type can be read as those of `wanted`: the types are
    /// equivalent, except for bounds where `wanted` has none.
    pub(crate) fn is_read_as(&self, wanted: &Self) -> bool {
        if self.equivalent(wanted) {
            return true;
        }
        let (own, wanted) = (self.original_type(), wanted.original_type());
        if own.kind() != wanted.kind() || wanted.length() != Ok(0) {
            return false;
        }
        match own.kind() {
            TypeKind::String | TypeKind::WString => true,
            TypeKind::Sequence => match (own.content_type(), wanted.content_type()) {
                (Ok(element), Ok(wanted)) => element.is_read_as(&wanted),
                _ => false,
            },
            _ => false,
        }
    }

    fn note_equivalent(&self, other: &Self) -> bool {
        if let (Some(one), Some(another)) = (&self.arena, &other.arena) {
            one.know_equivalent(self.at, another, other.at);
        }
        true
    }

    /// Returns whether both TypeCodes refer to one and the same node in memory.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_arena = match (&self.arena, &other.arena) {
            (Some(one), Some(another)) => Arc::ptr_eq(one, another),
            (None, None) => true,
            _ => false,
        };
        same_arena && self.at == other.at
    }

    fn compare(&self, other: &Self, sameness: Sameness) -> bool {
        Comparison::new(self.arena(), other.arena(), sameness).run(self.at, other.at)
    }
}

/// Compares as CORBA's `equal` does: the same in all properties of TypeCodes.
impl PartialEq for TypeCode {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.compare(other, Sameness::Equal)
    }
}

impl Eq for TypeCode {}

/// Returns whether comparing the node takes less than recording it: it has neither parts nor names,
/// of which an enum may have very many.
const fn is_small(node: &Node) -> bool {
    matches!(
        node,
        Node::Primitive(_) | Node::Text { .. } | Node::Fixed { .. }
    )
}

#[derive(Clone, Copy, PartialEq)]
enum Sameness {
    Equal,
    Equivalent,
}

struct Comparison<'a> {
    one: &'a Arena,
    other: &'a Arena,
    sameness: Sameness,
    /// Class of each node, those of `one` before those of `other`: a node of its class, or itself.
    classes: Vec<usize>,
    /// Pairs of nodes that have to be the same and were not compared yet.
    pairs: Vec<(Index, Index)>,
}

impl<'a> Comparison<'a> {
    fn new(one: &'a Arena, other: &'a Arena, sameness: Sameness) -> Self {
        Self {
            one,
            other,
            sameness,
            classes: Vec::new(),
            pairs: Vec::new(),
        }
    }

    fn run(mut self, here: Index, there: Index) -> bool {
        self.pairs.push((here, there));
        while let Some((here, there)) = self.pairs.pop() {
            let (here, there) = match self.sameness {
                Sameness::Equal => (here, there),
                Sameness::Equivalent => (self.one.resolved(here), self.other.resolved(there)),
            };
            let (one, other) = (self.one, self.other);
            let (one, other) = (one.node(here), other.node(there));
            if one.kind() != other.kind() {
                return false;
            }
            let is_last = self.pairs.is_empty() && one.parts().next().is_none();
            if !is_last && !is_small(one) && !self.join(here, there) {
                continue;
            }
            if !self.same_nodes(one, other) {
                return false;
            }
        }
        true
    }

    /// Joins the classes of two nodes. Returns `false` if they were in one class already.
    fn join(&mut self, here: Index, there: Index) -> bool {
        let behind = self.one.nodes().len();
        if self.classes.is_empty() {
            self.classes = (0..behind + self.other.nodes().len()).collect();
        }
        let (one, other) = (
            self.class(here as usize),
            self.class(behind + there as usize),
        );
        if one == other {
            return false;
        }
        if let Some(class) = self.classes.get_mut(one) {
            *class = other;
        }
        true
    }

    fn class(&mut self, mut place: usize) -> usize {
        while let Some(parent) = self.classes.get(place).copied().filter(|one| *one != place) {
            // Path halving shortens the next look-up.
            let above = self.classes.get(parent).copied().unwrap_or(parent);
            if let Some(class) = self.classes.get_mut(place) {
                *class = above;
            }
            place = above;
        }
        place
    }

    /// Returns whether two nodes of one kind are the same if their parts are; queues the parts for
    /// comparison.
    fn same_nodes(&mut self, one: &Node, other: &Node) -> bool {
        if let (Some(here), Some(there)) = (one.name(), other.name()) {
            if self.sameness == Sameness::Equivalent && !here.id.is_empty() && !there.id.is_empty()
            {
                return here.id == there.id;
            }
            if self.sameness == Sameness::Equal && (here.id != there.id || here.name != there.name)
            {
                return false;
            }
        }
        if !self.same_parameters(one, other) {
            return false;
        }
        match (one.content(), other.content()) {
            (Some(here), Some(there)) => self.pairs.push((here, there)),
            (None, None) => {}
            _ => return false,
        }
        let members = (one.members(), other.members());
        let (here, there) = (members.0.unwrap_or_default(), members.1.unwrap_or_default());
        here.len() == there.len()
            && here
                .iter()
                .zip(there)
                .all(|(here, there)| self.same_members(here, there))
    }

    fn same_members(&mut self, here: &Member, there: &Member) -> bool {
        self.pairs.push((here.at, there.at));
        self.sameness == Sameness::Equivalent || here.name == there.name
    }

    /// Compares two types by all parameters other than their names and the types of their parts.
    fn same_parameters(&self, one: &Node, other: &Node) -> bool {
        match (one, other) {
            (Node::Text { bound: here, .. }, Node::Text { bound: there, .. })
            | (Node::Sequence { bound: here, .. }, Node::Sequence { bound: there, .. })
            | (Node::Array { length: here, .. }, Node::Array { length: there, .. }) => {
                here == there
            }
            (
                Node::Fixed { digits, scale },
                Node::Fixed {
                    digits: its_digits,
                    scale: its_scale,
                },
            ) => (digits, scale) == (its_digits, its_scale),
            (
                Node::Enum { enumerators, .. },
                Node::Enum {
                    enumerators: its, ..
                },
            ) => match self.sameness {
                Sameness::Equal => enumerators == its,
                Sameness::Equivalent => enumerators.len() == its.len(),
            },
            (Node::Union(here), Node::Union(there)) => {
                (&here.labels, here.default) == (&there.labels, there.default)
            }
            (Node::Value(here), Node::Value(there)) => {
                (here.modifier, &here.visibility) == (there.modifier, &there.visibility)
            }
            (Node::Recursive { id }, Node::Recursive { id: its }) => id == its,
            _ => true,
        }
    }
}
