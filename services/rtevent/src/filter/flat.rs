//! Correlation of trees whose only conjunction is the root, above at most 64 children, and whose deliveries have one
//! level.
//!
//! The usual case: which children have passed something is one word, beside the collected events.

use super::tree::Tree;
use crate::event::{Event, Payload};
use crate::level::Level;

/// Events collected by a conjunction.
#[derive(Debug)]
pub(super) struct Flat<P> {
    /// Children that have passed nothing, a bit each.
    open: u64,
    /// All children.
    all: u64,
    events: Vec<Event<P>>,
    bytes: usize,
}

/// Way of events to a conjunction that is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlatPath {
    /// Children that accept the events, a bit each.
    pub(super) accept: u64,
    /// Level of deliveries that one of these events completes.
    pub(super) level: Level,
}

impl<P: Payload> Flat<P> {
    /// Makes the state of a tree that has collected nothing; `None` if the tree has another form.
    pub(super) fn new(tree: &Tree) -> Option<Self> {
        let [only] = tree.conjunctions.as_slice() else {
            return None;
        };
        let is_root = tree.conjunction_of.first() == Some(&Some(0));
        let has_one_level = tree.levels().len() == 1;
        let all = u64::MAX.checked_shr(u64::BITS.checked_sub(only.children)?)?;
        (is_root && has_one_level).then(|| Self {
            open: all,
            all,
            events: Vec::new(),
            bytes: 0,
        })
    }

    /// Takes an event. If it completes the conjunction, the set is appended to `set`, its level is returned, and the
    /// conjunction is empty again.
    #[inline]
    pub(super) fn take(
        &mut self,
        path: FlatPath,
        event: &Event<P>,
        set: &mut Vec<Event<P>>,
    ) -> Option<Level> {
        let children = path.accept & self.open;
        if children == 0 {
            return None;
        }
        // The first of them takes it.
        self.open &= !(children & children.wrapping_neg());
        if self.open == 0 {
            set.append(&mut self.events);
            set.push(event.clone());
            self.clear();
            return Some(path.level);
        }
        self.events.push(event.clone());
        self.bytes = self.bytes.saturating_add(event.data.size());
        None
    }

    /// Returns the number of collected events, and their bytes.
    pub(super) fn held(&self) -> (usize, usize) {
        (self.events.len(), self.bytes)
    }

    pub(super) fn clear(&mut self) {
        self.open = self.all;
        self.events.clear();
        self.bytes = 0;
    }
}
