//! Subscribed: a subscription made ready for events.

use super::connection::Connection;
use crate::event::{Event, Header, Payload};
use crate::filter::{Correlation, Interest, Path, Subject, TimerStyle, Tree, TreeTimer};
use crate::level::Level;
use crate::peer::{ConsumerId, Lost};
use crate::statistics::ConnectionState;
use crate::subscription::LevelFunction;
use crate::timer::{Expired, Lane, Now, Running};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Unit of the times in headers, in nanoseconds.
const UNIT: u64 = 100;

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
    /// Paths of the timers' events; `None` for a timer whose events the filter rejects.
    timed: Vec<Option<Path>>,
    running: Running<Due<P>>,
}

/// Timer of a subscription, as wheels hold it.
pub(crate) struct Due<P> {
    pub(crate) subscribed: Weak<Subscribed<P>>,
    /// Index among the timers of the filter.
    pub(crate) timer: usize,
}

impl<P> Clone for Due<P> {
    fn clone(&self) -> Self {
        Self {
            subscribed: self.subscribed.clone(),
            timer: self.timer,
        }
    }
}

impl<P: Payload> Subscribed<P> {
    pub(crate) fn new(
        connection: Arc<Connection<P>>,
        tree: Tree,
        level: Level,
        level_of: Option<LevelFunction>,
        is_gateway: bool,
        most_bytes: usize,
    ) -> Self {
        Self {
            connection,
            level,
            is_gateway,
            interest: Interest::of(&tree),
            correlation: Mutex::new(Correlation::new(&tree, most_bytes)),
            timed: timed(&tree),
            tree,
            level_of,
            received: AtomicU64::new(0),
            running: Running::new(),
        }
    }

    pub(crate) fn id(&self) -> ConsumerId {
        self.connection.link.id
    }

    /// Returns whether a delivery is a push and no more: no level is computed, and no deadline starts anew.
    pub(crate) fn is_plain(&self) -> bool {
        self.level_of.is_none() && !self.tree.has_deadlines()
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
        let level = correlation.take(&self.tree, path, event, set);
        let lost = correlation.drop_excess(&self.tree);
        drop(correlation);
        self.connection.link.lost(Lost::Correlation, lost);
        level
    }

    /// Returns the number of events that the conjunctions have collected, and their bytes.
    pub(crate) fn collected(&self) -> (usize, usize) {
        self.correlation.lock().held()
    }

    /// Notes that the consumer receives something.
    pub(crate) fn note_received(&self, now: &Now<'_>) {
        if self.tree.has_deadlines() && self.connection.link.state() == ConnectionState::Connected {
            self.received.fetch_max(now.get(), Ordering::AcqRel);
        }
    }

    /// Starts the timers, each in its lane. Does nothing if the subscription has ended.
    pub(crate) fn start_timers(self: &Arc<Self>, now: u64, lanes: &[Arc<Lane<Due<P>>>]) {
        self.received.fetch_max(now, Ordering::AcqRel);
        for (timer, (one, lane)) in self.tree.timers().iter().zip(lanes).enumerate() {
            let due = Due {
                subscribed: Arc::downgrade(self),
                timer,
            };
            let at = now.saturating_add(one.timer.length);
            self.running.add(lane, due, at);
        }
    }

    /// Ends the timers.
    pub(crate) fn end_timers(&self) {
        self.running.end();
    }

    /// Starts a timer that has expired again, if its style says so. Returns the header of its event, and the event's path;
    /// `None` if there is none.
    pub(crate) fn expire(&self, expired: &Expired<Due<P>>, now: u64) -> Option<(Header, &Path)> {
        let timer = expired.value.timer;
        let one = self.tree.timers().get(timer)?.timer;
        match one.style {
            TimerStyle::Once => {}
            TimerStyle::Interval => {
                let next = next_multiple(expired.at, one.length, now);
                self.running.start(timer, next);
            }
            TimerStyle::Deadline => {
                // Moved by what the consumer has received since the timer was started.
                let due = self
                    .received
                    .load(Ordering::Acquire)
                    .saturating_add(one.length);
                if due > now {
                    self.running.start(timer, due);
                    return None;
                }
                let next = next_multiple(due, one.length, now);
                self.running.start(timer, next);
            }
        }
        let path = self.timed.get(timer)?.as_ref()?;
        let header = Header {
            ttl: 1,
            created: now / UNIT,
            ..Header::new(one.style.code(), 0)
        };
        (!self.running.has_ended()).then_some((header, path))
    }
}

/// Returns the first multiple of a length after `now`, counted from a time that has passed.
fn next_multiple(from: u64, length: u64, now: u64) -> u64 {
    let passed = now.saturating_sub(from) / length.max(1);
    from.saturating_add(length.saturating_mul(passed.saturating_add(1)))
}

fn timed(tree: &Tree) -> Vec<Option<Path>> {
    let path = |one: &TreeTimer| {
        let subject = Subject::Timer {
            node: one.node,
            kind: one.timer.style.code(),
        };
        Path::new(tree, subject)
    };
    tree.timers().iter().map(path).collect()
}
