//! Events that a reader holds: those that are ready, and those that are handed out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use async_nats::Subject;
use parking_lot::{Condvar, Mutex};
use punctual_durable::{Delivery, DurableError, Moment, Most, Position, Wake};

/// Maximum number of acknowledged events that are known, so that they are not handed out again if they come again.
const REMEMBERED: usize = 4_096;

/// Events of one reader, shared by its handle and the task that gets them.
#[derive(Default)]
pub(crate) struct Held {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Events that may be handed out, in the order of the log.
    ready: BTreeMap<u64, Event>,
    /// Events that are handed out.
    handed: BTreeMap<u64, Event>,
    /// Positions that were acknowledged; the highest, if there are too many.
    acknowledged: BTreeSet<u64>,
    /// Position up to which no event is missing: all others were handed out, or acknowledged, or are not in the log any more.
    /// `None` until that is known.
    complete: Option<u64>,
    is_removed: bool,
    /// True if missing events are not given up.
    keeps_order: bool,
    wake: Option<Wake>,
    /// True if the function was called since a fetch has found no event.
    has_called: bool,
}

/// Event, and the subject to which its acknowledgement goes.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) delivery: Delivery,
    pub(crate) reply: Subject,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        write!(
            f,
            "{} events ready, {} handed out",
            state.ready.len(),
            state.handed.len()
        )
    }
}

/// Outcome of a fetch: events, and where acknowledgements of expired ones go.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) expired: Vec<Subject>,
}

impl Held {
    /// Returns true if events that are ready wait for others before them in the log, or it is not known whether there are any.
    pub(crate) fn waits_for_others(&self) -> bool {
        let state = self.state.lock();
        match (state.complete, state.ready.first_key_value()) {
            _ if state.is_removed => false,
            (None, _) => true,
            (Some(complete), Some((first, _))) => *first > complete + 1,
            (Some(_), None) => false,
        }
    }

    /// Notes that up to a position no event is missing but those that are held.
    pub(crate) fn complete(&self, position: u64) {
        let mut state = self.state.lock();
        let known = state.complete.unwrap_or(0);
        state.complete = Some(known.max(position));
        drop(state);
        self.wake();
    }

    /// Lets no missing event be given up from now on.
    pub(crate) fn keep_order(&self) {
        self.state.lock().keeps_order = true;
    }

    pub(crate) fn keeps_order(&self) -> bool {
        self.state.lock().keeps_order
    }

    /// Lets the events that are ready be handed out, whatever is missing before them. Returns how many positions before the
    /// first one are.
    pub(crate) fn give_up_missing(&self) -> u64 {
        let mut state = self.state.lock();
        let known = state.complete.unwrap_or(0);
        let before = state
            .ready
            .first_key_value()
            .map_or(known, |(first, _)| first - 1);
        state.complete = Some(known.max(before));
        drop(state);
        self.wake();
        before.saturating_sub(known)
    }

    /// Adds an event that came from the servers. Returns the subject for its acknowledgement if it
    /// was acknowledged before.
    pub(crate) fn add(&self, event: Event) -> Option<Subject> {
        let position = event.delivery.position.0;
        let mut state = self.state.lock();
        if state.acknowledged.contains(&position) {
            return Some(event.reply);
        }
        // The latest delivery is the one that the servers want to be answered.
        if let Some(known) = state.handed.get_mut(&position) {
            known.reply = event.reply;
            return None;
        }
        state.ready.insert(position, event);
        let is_ready = state.is_next(position);
        drop(state);
        if is_ready {
            self.wake();
        }
        None
    }

    fn wake(&self) {
        self.changed.notify_all();
        let mut state = self.state.lock();
        let has_called = std::mem::replace(&mut state.has_called, true);
        let wake = state.wake.clone().filter(|_| !has_called);
        drop(state);
        if let Some(wake) = wake {
            wake();
        }
    }

    pub(crate) fn wake_by(&self, wake: Wake) {
        let mut state = self.state.lock();
        state.wake = Some(wake);
        state.has_called = false;
    }

    /// Takes the next events; waits for the first one up to `patience`.
    pub(crate) fn take(&self, most: Most, patience: Duration) -> Result<Taken, DurableError> {
        let end = Instant::now().checked_add(patience);
        let mut state = self.state.lock();
        loop {
            if state.is_removed {
                return Err(DurableError::Removed("the reader".to_owned()));
            }
            let taken = state.take(most, Moment::now());
            if !taken.deliveries.is_empty() || !taken.expired.is_empty() {
                return Ok(taken);
            }
            state.has_called = false;
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            match left {
                Some(Duration::ZERO) => return Ok(taken),
                Some(left) => drop(self.changed.wait_for(&mut state, left)),
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// Notes that events are acknowledged. Returns the subjects to which that goes.
    pub(crate) fn acknowledge(&self, positions: &[Position]) -> Vec<Subject> {
        let mut state = self.state.lock();
        let mut replies = Vec::new();
        for Position(position) in positions {
            let event = state
                .handed
                .remove(position)
                .or_else(|| state.take_returned(*position));
            if let Some(event) = event {
                replies.push(event.reply);
                state.remember(*position);
            }
        }
        replies
    }

    /// Makes events ready again.
    pub(crate) fn give_back(&self, positions: &[Position]) {
        let mut state = self.state.lock();
        for Position(position) in positions {
            if let Some(mut event) = state.handed.remove(position) {
                event.delivery.is_repeated = true;
                state.ready.insert(*position, event);
            }
        }
        drop(state);
        self.wake();
    }

    /// Returns the number of events at these positions that are held.
    pub(crate) fn count(&self, positions: RangeInclusive<u64>) -> usize {
        if positions.is_empty() {
            return 0;
        }
        let state = self.state.lock();
        let handed = state.handed.range(positions.clone()).count();
        state.ready.range(positions).count() + handed
    }

    /// Returns where the servers learn of each event that is held, in the order of the log.
    pub(crate) fn replies(&self) -> Vec<Subject> {
        let state = self.state.lock();
        let mut all: Vec<_> = state.ready.iter().chain(&state.handed).collect();
        all.sort_by_key(|(position, _)| **position);
        all.into_iter()
            .map(|(_, event)| event.reply.clone())
            .collect()
    }

    /// Notes that the reader was removed.
    pub(crate) fn remove(&self) {
        self.state.lock().is_removed = true;
        self.wake();
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.state.lock().is_removed
    }
}

impl State {
    fn take(&mut self, most: Most, now: Moment) -> Taken {
        let mut taken = Taken::default();
        let mut room = most.bytes;
        while taken.deliveries.len() < most.events.max(1) {
            let Some(complete) = self.complete else {
                break;
            };
            let Some(next) = self.ready.first_entry() else {
                break;
            };
            if *next.key() > complete + 1 {
                break;
            }
            self.complete = Some(complete.max(*next.key()));
            let (position, bytes) = (*next.key(), next.get().delivery.bytes.len());
            if next
                .get()
                .delivery
                .expires
                .is_some_and(|moment| moment <= now)
            {
                taken.expired.push(next.remove().reply);
                self.remember(position);
                continue;
            }
            if bytes > room && !taken.deliveries.is_empty() {
                self.complete = Some(complete);
                break;
            }
            room = room.saturating_sub(bytes);
            let event = next.remove();
            taken.deliveries.push(event.delivery.clone());
            self.handed.insert(position, event);
        }
        taken
    }

    /// Returns true if no event before this position is missing.
    fn is_next(&self, position: u64) -> bool {
        self.complete
            .is_some_and(|complete| position <= complete + 1)
    }

    /// Takes an event that was handed out and given back.
    fn take_returned(&mut self, position: u64) -> Option<Event> {
        let event = self.ready.get(&position)?;
        let is_returned = event.delivery.is_repeated;
        is_returned.then(|| self.ready.remove(&position)).flatten()
    }

    fn remember(&mut self, position: u64) {
        self.acknowledged.insert(position);
        if self.acknowledged.len() > REMEMBERED {
            self.acknowledged.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(position: u64) -> Event {
        Event {
            delivery: Delivery {
                position: Position(position),
                bytes: vec![0; 10].into(),
                id: None,
                expires: None,
                priority: 0,
                is_repeated: false,
            },
            reply: format!("reply.{position}").into(),
        }
    }

    fn take(held: &Held) -> Vec<u64> {
        let taken = held.take(Most::events(10), Duration::ZERO).unwrap();
        taken.deliveries.iter().map(|one| one.position.0).collect()
    }

    #[test]
    fn events_are_handed_out_in_the_order_of_the_log_when_none_before_them_is_missing() {
        let held = Held::default();
        for position in [7, 3, 5] {
            assert_eq!(held.add(event(position)), None);
        }
        assert!(held.waits_for_others());
        assert_eq!(take(&held), [0; 0]);
        held.complete(2);
        assert_eq!(take(&held), [3]);
        assert!(held.waits_for_others());
        held.add(event(4));
        assert_eq!(take(&held), [4, 5]);
        assert_eq!(take(&held), [0; 0]);
        held.complete(6);
        assert_eq!(take(&held), [7]);
        assert!(!held.waits_for_others());
        // What comes late is handed out at once.
        held.add(event(6));
        assert_eq!(take(&held), [6]);
        assert_eq!(held.count(1..=7), 5);
        assert_eq!(held.count(4..=5), 2);
        assert_eq!(held.count(8..=8), 0);
    }

    #[test]
    fn events_wait_no_longer_for_others_that_are_given_up() {
        let held = Held::default();
        held.complete(10);
        for position in [14, 15, 17] {
            held.add(event(position));
        }
        assert_eq!(take(&held), [0; 0]);
        assert_eq!(held.give_up_missing(), 3);
        assert_eq!(take(&held), [14, 15]);
        assert_eq!(held.give_up_missing(), 1);
        assert_eq!(take(&held), [17]);
        assert_eq!(held.give_up_missing(), 0);
    }

    #[test]
    fn an_event_that_comes_again_is_not_handed_out_again_and_acknowledged_if_it_was() {
        let held = Held::default();
        held.complete(0);
        held.add(event(1));
        held.add(event(2));
        assert_eq!(take(&held), [1, 2]);
        let mut again = event(1);
        again.reply = "reply.later".into();
        assert_eq!(held.add(again), None);
        assert_eq!(take(&held), [0; 0]);
        assert_eq!(held.acknowledge(&[Position(1)]), ["reply.later".into()]);
        assert_eq!(held.add(event(1)), Some("reply.1".into()));
        assert_eq!(held.acknowledge(&[Position(1)]), [] as [Subject; 0]);
    }
}
