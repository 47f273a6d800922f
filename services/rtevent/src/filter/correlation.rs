//! Correlation: the events that a tree's conjunctions have collected.

use super::flat::Flat;
use super::nested::Nested;
use super::path::Path;
use super::tree::Tree;
use crate::event::{Event, Payload};
use crate::level::Level;

/// Events collected by the conjunctions of one consumer's tree.
#[derive(Debug)]
pub(crate) struct Correlation<P> {
    form: Form<P>,
    most_bytes: usize,
}

#[derive(Debug)]
enum Form<P> {
    Flat(Flat<P>),
    Nested(Nested<P>),
}

impl<P: Payload> Correlation<P> {
    /// Makes the state of a tree that has collected nothing.
    pub(crate) fn new(tree: &Tree, most_bytes: usize) -> Self {
        let form = match Flat::new(tree) {
            Some(flat) => Form::Flat(flat),
            None => Form::Nested(Nested::new(tree)),
        };
        Self { form, most_bytes }
    }

    /// Takes an event down its path. If something reaches the consumer, it is appended to `set`, its level is returned, and
    /// all conjunctions are empty again.
    #[inline]
    pub(crate) fn take(
        &mut self,
        tree: &Tree,
        path: &Path,
        event: &Event<P>,
        set: &mut Vec<Event<P>>,
    ) -> Option<Level> {
        match &mut self.form {
            Form::Flat(flat) => flat.take(path.flat?, event, set),
            Form::Nested(nested) => nested.take(tree, path, event, set),
        }
    }

    /// Returns the number of collected events, and their bytes.
    pub(crate) fn held(&self) -> (usize, usize) {
        match &self.form {
            Form::Flat(flat) => flat.held(),
            Form::Nested(nested) => nested.held(),
        }
    }

    /// Empties the conjunctions if they hold more bytes than they may; returns the number of events.
    #[inline]
    pub(crate) fn drop_excess(&mut self, tree: &Tree) -> usize {
        let (events, bytes) = self.held();
        if bytes <= self.most_bytes {
            return 0;
        }
        match &mut self.form {
            Form::Flat(flat) => flat.clear(),
            Form::Nested(nested) => nested.clear(tree),
        }
        events
    }
}
