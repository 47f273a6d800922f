//! Subscribed: a subscription made ready for events.

use super::connection::Connection;
use crate::event::{Event, Header, Payload};
use crate::filter::{Correlation, Interest, Path, Tree};
use crate::level::Level;
use crate::peer::ConsumerId;
use crate::subscription::LevelFunction;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Subscription of a consumer, as it holds until it is changed.
pub(crate) struct Subscribed<P> {
    pub(crate) connection: Arc<Connection<P>>,
    pub(crate) level: Level,
    pub(crate) is_gateway: bool,
    pub(crate) tree: Tree,
    pub(crate) interest: Interest,
    level_of: Option<LevelFunction>,
    correlation: Mutex<Correlation<P>>,
    /// Time at which the consumer last received something, for its deadlines.
    received: AtomicU64,
}

impl<P: Payload> Subscribed<P> {
    pub(crate) fn new(
        connection: Arc<Connection<P>>,
        tree: Tree,
        level: Level,
        level_of: Option<LevelFunction>,
        is_gateway: bool,
    ) -> Self {
        Self {
            connection,
            level,
            is_gateway,
            interest: Interest::of(&tree),
            correlation: Mutex::new(Correlation::new(&tree)),
            tree,
            level_of,
            received: AtomicU64::new(0),
        }
    }

    pub(crate) fn id(&self) -> ConsumerId {
        self.connection.link.id
    }

    /// Returns whether the level of a delivery depends on its event.
    pub(crate) fn has_level_function(&self) -> bool {
        self.level_of.is_some()
    }

    /// Returns the level of a delivery that ends with an event. `level` is that of the filter.
    pub(crate) fn level_for(&self, header: &Header, level: Level) -> Level {
        self.level_of.as_ref().map_or(level, |of| of(header))
    }

    /// Takes an event into the conjunctions. Appends what reaches the consumer to `set`, and returns its level.
    pub(crate) fn collect(
        &self,
        path: &Path,
        event: &Event<P>,
        set: &mut Vec<Event<P>>,
    ) -> Option<Level> {
        let mut correlation = self.correlation.lock();
        correlation.take(&self.tree, path, event, set)
    }

    /// Notes that the consumer receives something.
    pub(crate) fn note_received(&self, now: impl FnOnce() -> u64) {
        if self.tree.has_deadlines() {
            self.received.fetch_max(now(), Ordering::AcqRel);
        }
    }

    /// Returns the time at which the consumer last received something; 0 if it has not.
    pub(crate) fn last_received(&self) -> u64 {
        self.received.load(Ordering::Acquire)
    }
}
