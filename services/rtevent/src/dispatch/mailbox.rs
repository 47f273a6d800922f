//! Mailbox: the queue of a consumer at one level, which is a task while it holds events.
//!
//! It is idle, or it belongs to the dispatcher. So one thread at a time serves it, and its order is kept; after
//! each push it goes behind the others of its level.

use super::dispatcher::{Dispatcher, Task};
use super::link::Link;
use super::queue::{Offered, Queue};
use crate::event::{Event, Payload};
use crate::level::Level;
use crate::peer::{Lost, Reason};
use crate::subscription::{Overflow, QueueOptions};
use parking_lot::{Condvar, Mutex, MutexGuard};
use punctual_sys::clock;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Queue of a consumer at one level.
pub(crate) struct Mailbox<P> {
    pub(crate) level: Level,
    link: Arc<Link<P>>,
    dispatcher: Arc<dyn Dispatcher>,
    state: Mutex<State<P>>,
    /// Signals suppliers that wait for room.
    room: Condvar,
    /// Events that are being pushed. Locked by the thread that serves the mailbox only.
    batch: Mutex<Vec<Event<P>>>,
}

struct State<P> {
    queue: Queue<P>,
    /// The mailbox belongs to the dispatcher.
    is_scheduled: bool,
    has_ended: bool,
    waiting_suppliers: usize,
}

/// Unit in which events wait and are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Each event alone.
    Event,
    /// All events of a set together.
    Set,
}

/// Number of events in a mailbox, their bytes, and the time of arrival of the oldest.
pub(crate) struct Load {
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    pub(crate) oldest: Option<u64>,
}

impl<P: Payload> Mailbox<P> {
    pub(crate) fn new(
        link: Arc<Link<P>>,
        level: Level,
        options: QueueOptions,
        dispatcher: Arc<dyn Dispatcher>,
    ) -> Self {
        Self {
            level,
            link,
            dispatcher,
            state: Mutex::new(State {
                queue: Queue::new(options),
                is_scheduled: false,
                has_ended: false,
                waiting_suppliers: 0,
            }),
            room: Condvar::new(),
            batch: Mutex::new(Vec::new()),
        }
    }

    /// Puts events into the queue. Blocks only if the queue is full and its options say so.
    pub(crate) fn put(self: &Arc<Self>, events: &[Event<P>], unit: Unit) {
        if !self.link.admits(events.len()) {
            return;
        }
        match unit {
            Unit::Set => self.put_one(events, |queue, now| queue.offer_set(events, now)),
            Unit::Event => self.put_all(events),
        }
    }

    pub(crate) fn set_options(&self, options: QueueOptions) {
        self.state.lock().queue.set_options(options);
        self.room.notify_all();
    }

    /// Ends the mailbox: its events are lost, and it takes no more.
    pub(crate) fn end(&self) {
        let events = {
            let mut state = self.state.lock();
            state.has_ended = true;
            state.queue.clear()
        };
        self.room.notify_all();
        self.link.lost(Lost::Disconnected, events);
    }

    pub(crate) fn load(&self) -> Load {
        let state = self.state.lock();
        Load {
            events: state.queue.len(),
            bytes: state.queue.bytes(),
            oldest: state.queue.oldest(),
        }
    }

    /// Puts events into the queue one by one: under one lock for as long as there is room. Before the supplier waits for
    /// room, the mailbox is scheduled with the events that had some.
    fn put_all(self: &Arc<Self>, mut events: &[Event<P>]) {
        while !events.is_empty() {
            let mut state = self.state.lock();
            if state.has_ended {
                drop(state);
                return self.link.lost(Lost::Disconnected, events.len());
            }
            let (taken, offered) = offer_all(&mut state.queue, events);
            let (done, rest) = events.split_at(taken);
            if let Some(last) = done.last() {
                let again = |queue: &mut Queue<P>, now| queue.offer(last, now);
                self.conclude(state, offered, std::slice::from_ref(last), again);
            }
            events = rest;
        }
    }

    fn put_one(
        self: &Arc<Self>,
        events: &[Event<P>],
        offer: impl Fn(&mut Queue<P>, u64) -> Offered,
    ) {
        let mut state = self.state.lock();
        if state.has_ended {
            drop(state);
            return self.link.lost(Lost::Disconnected, events.len());
        }
        let offered = offer(&mut state.queue, clock::coarse_nanos());
        self.conclude(state, offered, events, offer);
    }

    /// Does what an offer of events has led to: waits for room, schedules the mailbox, counts what is lost.
    fn conclude<'m>(
        self: &'m Arc<Self>,
        mut state: MutexGuard<'m, State<P>>,
        mut offered: Offered,
        events: &[Event<P>],
        offer: impl Fn(&mut Queue<P>, u64) -> Offered,
    ) {
        if offered == Offered::Full {
            (state, offered) = self.wait_for_room(state, offer);
        }
        let is_disconnected = offered == Offered::Full && !state.has_ended;
        let is_woken = !state.is_scheduled && !state.queue.is_empty();
        state.is_scheduled |= is_woken;
        drop(state);
        if is_woken {
            let task: Arc<dyn Task> = self.clone();
            self.dispatcher.schedule(self.level, task);
        }
        match offered {
            Offered::Taken => {}
            Offered::TakenFor { superseded, oldest } => {
                self.link.lost(Lost::Superseded, superseded);
                self.link.lost(Lost::Oldest, oldest);
            }
            Offered::Dropped => self.link.lost(Lost::Newest, events.len()),
            Offered::Late => self.link.lost(Lost::WaitedTooLong, events.len()),
            Offered::Full if is_disconnected => {
                self.link.lost(Lost::Newest, events.len());
                self.link.end(Reason::QueueFull);
            }
            Offered::Full => self.link.lost(Lost::Disconnected, events.len()),
        }
    }

    /// Waits as long as the queue's options say. Returns `Full` if the consumer is to be disconnected, or has been.
    fn wait_for_room<'m>(
        &'m self,
        mut state: MutexGuard<'m, State<P>>,
        offer: impl Fn(&mut Queue<P>, u64) -> Offered,
    ) -> (MutexGuard<'m, State<P>>, Offered) {
        let Overflow::Block(longest) = state.queue.options().overflow else {
            return (state, Offered::Full);
        };
        let until = Instant::now().checked_add(longest);
        let mut offered = Offered::Full;
        state.waiting_suppliers += 1;
        while offered == Offered::Full && !state.has_ended {
            let is_late = match until {
                Some(until) => self.room.wait_until(&mut state, until).timed_out(),
                None => {
                    self.room.wait(&mut state);
                    false
                }
            };
            if !state.has_ended {
                offered = offer(&mut state.queue, clock::coarse_nanos());
                if is_late && offered == Offered::Full {
                    offered = Offered::Late;
                }
            }
        }
        state.waiting_suppliers -= 1;
        (state, offered)
    }
}

impl<P: Payload> Task for Mailbox<P> {
    fn run(&self) -> bool {
        let mut batch = self.batch.lock();
        {
            let mut state = self.state.lock();
            state.queue.take(&mut batch);
            if state.waiting_suppliers > 0 {
                self.room.notify_all();
            }
        }
        if !batch.is_empty() {
            self.link.push(&batch);
            batch.clear();
        }
        let mut state = self.state.lock();
        state.is_scheduled = !state.queue.is_empty();
        state.is_scheduled
    }

    fn is_slow(&self) -> bool {
        self.link.is_slow()
    }

    fn set_slow(&self, is_slow: bool) {
        self.link.set_slow(is_slow);
    }
}

/// Offers events until something else happens than that one is taken. Returns the number of events that were offered, and
/// what became of the last. An event without room after others counts as not offered: those come first.
fn offer_all<P: Payload>(queue: &mut Queue<P>, events: &[Event<P>]) -> (usize, Offered) {
    let now = clock::coarse_nanos();
    for (index, event) in events.iter().enumerate() {
        match queue.offer(event, now) {
            Offered::Taken => {}
            Offered::Full if index > 0 => return (index, Offered::Taken),
            other => return (index + 1, other),
        }
    }
    (events.len(), Offered::Taken)
}

/// Time since a moment of the coarse clock.
pub(crate) fn age(since: u64) -> Duration {
    Duration::from_nanos(clock::coarse_nanos().saturating_sub(since))
}

#[cfg(test)]
mod tests {
    use super::super::link::Owner;
    use super::*;
    use crate::event::Header;
    use crate::peer::{Consumer, ConsumerId, Pushed};
    use punctual_exec::SpawnError;
    use std::sync::Weak;

    struct Takes;

    impl Consumer<u64> for Takes {
        fn push(&self, _: &[Event<u64>]) -> Pushed {
            Pushed::Done
        }
    }

    /// Owner that ends nothing, and strategy that runs nothing.
    struct Nothing;

    impl Owner for Nothing {
        fn end(&self, _: ConsumerId, _: Reason) {}
    }

    impl Dispatcher for Nothing {
        fn prepare(&self, _: Level) -> Result<(), SpawnError> {
            Ok(())
        }

        fn schedule(&self, _: Level, _: Arc<dyn Task>) {}
    }

    #[test]
    fn events_of_a_disconnected_consumer_are_counted_wherever_they_are() {
        let owner: Weak<dyn Owner> = Weak::<Nothing>::new();
        let link = Link::new(ConsumerId(1), Arc::new(Takes), 3, None, owner);
        let link = Arc::new(link);
        let (level, options) = (Level::default(), QueueOptions::default());
        let mailbox = Arc::new(Mailbox::new(
            link.clone(),
            level,
            options,
            Arc::new(Nothing),
        ));
        let events = vec![Event::new(Header::new(20, 0), 1); 3];
        let dropped = || {
            link.counts
                .dropped
                .load(std::sync::atomic::Ordering::Relaxed)
        };
        mailbox.put(&events, Unit::Event);
        link.disconnect();
        // They are taken from the queue, and not pushed.
        mailbox.run();
        assert_eq!(dropped(), 3);
        mailbox.end();
        assert_eq!(dropped(), 3);
        mailbox.put(&events, Unit::Set);
        assert_eq!(dropped(), 6);
        mailbox.put_one(&events, |queue, now| queue.offer_set(&events, now));
        assert_eq!(dropped(), 9);
    }
}
