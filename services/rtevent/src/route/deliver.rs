//! Delivery: events of a supplier on their way to consumers or mailboxes.
//!
//! Each consumer receives the events of one push in their order, and as one push where it can. More
//! urgent deliveries come first. No lock is held while consumers are called.

use super::connection::Connection;
use super::subscribed::Subscribed;
use super::table::Table;
use super::target::{Reach, Route, Target};
use crate::dispatch::Unit;
use crate::event::{Event, Payload};
use crate::filter::Path;
use crate::level::Level;
use crate::peer::ConsumerId;
use crate::timer::Now;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// Deliveries of a channel, with buffers that are reused, so that a warm delivery allocates nothing.
pub(crate) struct Deliveries<P> {
    /// Suppliers' threads push to consumers.
    is_reactive: bool,
    spare: Mutex<Vec<Buffers<P>>>,
}

/// Buffers of one push.
struct Buffers<P> {
    /// Events that reach a consumer together.
    set: Vec<Event<P>>,
    /// Sets of pending deliveries, in the order of delivery.
    sets: Vec<Event<P>>,
    pending: Vec<Pending<P>>,
}

/// Delivery that is sorted before it is made.
struct Pending<P> {
    level: Level,
    consumer: ConsumerId,
    /// Number of the delivery in its push, so that order is kept.
    number: usize,
    connection: Arc<Connection<P>>,
    content: Content,
}

#[derive(Clone)]
enum Content {
    /// Event of the push, by its place.
    Event(usize),
    /// Set in the buffer of sets.
    Set(Range<usize>),
}

/// Number of pending deliveries after which they are made, before further events are looked at.
const MOST_PENDING: usize = 16_384;

/// Number of buffers that are kept: those of so many suppliers at once.
const MOST_SPARE: usize = 64;

impl<P: Payload> Deliveries<P> {
    pub(crate) fn new(is_reactive: bool) -> Self {
        Self {
            is_reactive,
            spare: Mutex::new(Vec::new()),
        }
    }

    /// Delivers the events of one push.
    pub(crate) fn deliver(&self, table: &Table<P>, events: &[Event<P>], now: &Now<'_>) {
        let Some(first) = events.first() else {
            return;
        };
        if events.iter().all(|event| is_alike(event, first)) {
            let route = table.route(&first.header);
            match route.is_ordered || !self.is_reactive {
                true => self.deliver_in_order(&route, events, now),
                false => self.deliver_sorted(table, events, now),
            }
        } else if self.is_reactive {
            self.deliver_sorted(table, events, now);
        } else {
            for run in events.chunk_by(is_alike) {
                let route = table.route(&run[0].header);
                self.deliver_in_order(&route, run, now);
            }
        }
    }

    /// Delivers the event of a timer.
    pub(crate) fn deliver_timed(
        &self,
        subscribed: &Subscribed<P>,
        path: &Path,
        event: &Event<P>,
        now: &Now<'_>,
    ) {
        let mut buffers = self.buffers();
        let reached = collect(subscribed, path, event, &mut buffers.set, now);
        if let Some(level) = reached {
            let unit = unit(&buffers.set);
            subscribed.connection.deliver(&buffers.set, unit, level);
        }
        self.give_back(buffers);
    }

    /// Delivers events of one route to its consumers, one after the other.
    fn deliver_in_order(&self, route: &Route<P>, events: &[Event<P>], now: &Now<'_>) {
        let mut buffers = None;
        for target in &route.targets {
            match &target.reach {
                Reach::Direct => target.deliver(events, Unit::Event),
                Reach::Single => deliver_single(target, events, now),
                Reach::Collected(path) => {
                    let buffers = buffers.get_or_insert_with(|| self.buffers());
                    deliver_collected(target, path, events, &mut buffers.set, now);
                }
            }
        }
        if let Some(buffers) = buffers {
            self.give_back(buffers);
        }
    }

    /// Delivers events of several routes, or whose levels differ: first all deliveries are found, then they are made
    /// in their order.
    fn deliver_sorted(&self, table: &Table<P>, events: &[Event<P>], now: &Now<'_>) {
        let mut buffers = self.buffers();
        for (place, event) in events.iter().enumerate() {
            let route = table.route(&event.header);
            for target in &route.targets {
                buffers.find(target, place, event, now);
            }
            if buffers.pending.len() >= MOST_PENDING {
                buffers.make(events);
            }
        }
        buffers.make(events);
        self.give_back(buffers);
    }

    fn buffers(&self) -> Buffers<P> {
        self.spare.lock().pop().unwrap_or_else(|| Buffers {
            set: Vec::new(),
            sets: Vec::new(),
            pending: Vec::new(),
        })
    }

    fn give_back(&self, mut buffers: Buffers<P>) {
        buffers.set.clear();
        let mut spare = self.spare.lock();
        if spare.len() < MOST_SPARE {
            spare.push(buffers);
        }
    }
}

impl<P: Payload> Buffers<P> {
    /// Finds what a consumer receives for an event.
    fn find(&mut self, target: &Target<P>, place: usize, event: &Event<P>, now: &Now<'_>) {
        let subscribed = &target.subscribed;
        let (level, content) = match &target.reach {
            Reach::Direct | Reach::Single => {
                subscribed.note_received(now);
                let level = subscribed.level_for(&event.header, target.level);
                (level, Content::Event(place))
            }
            Reach::Collected(path) => {
                self.set.clear();
                let Some(level) = collect(subscribed, path, event, &mut self.set, now) else {
                    return;
                };
                let first = self.sets.len();
                self.sets.append(&mut self.set);
                (level, Content::Set(first..self.sets.len()))
            }
        };
        self.pending.push(Pending {
            level,
            consumer: subscribed.id(),
            number: self.pending.len(),
            connection: subscribed.connection.clone(),
            content,
        });
    }

    /// Makes all pending deliveries.
    fn make(&mut self, events: &[Event<P>]) {
        self.pending
            .sort_unstable_by_key(|one| (one.level, one.consumer, one.number));
        let is_same = |one: &Pending<P>, next: &Pending<P>| {
            let are_events = |one: &Pending<P>| matches!(one.content, Content::Event(_));
            (one.level, one.consumer) == (next.level, next.consumer)
                && are_events(one)
                && are_events(next)
        };
        for group in self.pending.chunk_by(is_same) {
            let (connection, level) = (&group[0].connection, group[0].level);
            match &group[0].content {
                Content::Set(range) => {
                    let set = &self.sets[range.clone()];
                    connection.deliver(set, unit(set), level);
                }
                Content::Event(place) if group.len() == 1 => {
                    let one = std::slice::from_ref(&events[*place]);
                    connection.deliver(one, Unit::Event, level);
                }
                Content::Event(_) => {
                    self.set.clear();
                    let places = group.iter().filter_map(|one| match one.content {
                        Content::Event(place) => Some(place),
                        Content::Set(_) => None,
                    });
                    self.set.extend(places.map(|place| events[place].clone()));
                    connection.deliver(&self.set, Unit::Event, level);
                }
            }
        }
        self.pending.clear();
        self.sets.clear();
    }
}

/// Delivers events one at a time: their level is computed, or they restart deadline timers.
fn deliver_single<P: Payload>(target: &Target<P>, events: &[Event<P>], now: &Now<'_>) {
    let subscribed = &target.subscribed;
    subscribed.note_received(now);
    if !subscribed.has_level_function() {
        return target.deliver(events, Unit::Event);
    }
    for event in events {
        let level = subscribed.level_for(&event.header, target.level);
        let one = std::slice::from_ref(event);
        subscribed.connection.deliver(one, Unit::Event, level);
    }
}

/// Delivers what the conjunctions of a consumer pass, event by event.
fn deliver_collected<P: Payload>(
    target: &Target<P>,
    path: &Path,
    events: &[Event<P>],
    set: &mut Vec<Event<P>>,
    now: &Now<'_>,
) {
    let subscribed = &target.subscribed;
    for event in events {
        set.clear();
        if let Some(level) = collect(subscribed, path, event, set, now) {
            subscribed.connection.deliver(set, unit(set), level);
        }
    }
}

/// Takes an event into a consumer's filter. Returns the level of what reaches the consumer.
fn collect<P: Payload>(
    subscribed: &Subscribed<P>,
    path: &Path,
    event: &Event<P>,
    set: &mut Vec<Event<P>>,
    now: &Now<'_>,
) -> Option<Level> {
    if !subscribed.connection.link.admits(1) {
        return None;
    }
    let level = subscribed.collect(path, event, set)?;
    subscribed.note_received(now);
    Some(subscribed.level_for(&event.header, level))
}

/// Returns the unit in which a set waits: single events may be joined with others.
fn unit<P>(set: &[Event<P>]) -> Unit {
    if set.len() == 1 {
        Unit::Event
    } else {
        Unit::Set
    }
}

fn is_alike<P>(one: &Event<P>, other: &Event<P>) -> bool {
    (one.header.kind, one.header.source) == (other.header.kind, other.header.source)
}
