//! State of the delivery to one consumer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use super::arrival::Arrival;
use super::call::Call;
use super::held::{Held, Waiting};
use super::under_way::UnderWay;
use crate::event::Event;
use crate::limits::Limits;
use crate::qos::Terms;
use crate::queue::{Bounds, Entry, Lost, Numbered, Queue, Taken};

/// Queue of a consumer, with what is under way.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) queue: Queue<Arc<Event>>,
    pub(super) terms: Terms,
    /// MaxQueueLength of the channel; 0 is none.
    pub(super) queue_length: usize,
    /// Calls that wait for events; there are none while there are events.
    calls: VecDeque<Call>,
    /// Events that wait for their StartTime.
    held: Held,
    alarm: Alarm,
    pub(super) stage: Stage,
    /// Events of the push that has begun.
    pub(super) under_way: Option<UnderWay>,
    pub(super) is_suspended: bool,
    /// Time until the next call after one that failed.
    back_off: Duration,
    /// Number of events that one call has at most, since a call failed for what its events are together.
    most_together: usize,
    is_closed: bool,
}

/// Stage of pushing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Idle,
    /// Events are collected for a batch until this time.
    Collecting(Instant),
    /// A push has begun, or is to begin at once.
    Pushing,
    /// A push has failed, and is made again later.
    BackingOff,
}

impl Delivery {
    pub(super) fn new(limits: &Limits, terms: &Terms) -> Self {
        Self {
            queue: Queue::new(terms.order, terms.discard, bounds(limits, terms, 0)),
            terms: *terms,
            queue_length: 0,
            calls: VecDeque::new(),
            held: Held::new(bounds(limits, &Terms::default(), 0)),
            alarm: Alarm::default(),
            stage: Stage::Idle,
            under_way: None,
            is_suspended: false,
            back_off: limits.retry,
            most_together: usize::MAX,
            is_closed: false,
        }
    }

    /// Adds an event; `None` if the delivery has ended.
    pub(super) fn push(&mut self, entry: Entry<Arc<Event>>) -> Option<Lost> {
        match self.is_closed {
            true => None,
            false => Some(self.queue.push(entry, Instant::now())),
        }
    }

    /// Returns how many more events from the log there is room for, and of how many bytes: those that wait for their
    /// StartTime take room, too.
    pub(super) fn room(&self) -> Bounds {
        let room = self.queue.room();
        Bounds {
            events: room.events.saturating_sub(self.held.len()),
            bytes: room.bytes.saturating_sub(self.held.bytes()),
        }
    }

    /// Returns the number of events that wait for their StartTime, and of their bytes.
    pub(super) fn held(&self) -> Bounds {
        Bounds {
            events: self.held.len(),
            bytes: self.held.bytes(),
        }
    }

    /// Returns whether there are so few events that some are to be fetched from the log.
    pub(super) fn is_low(&self) -> bool {
        self.room().events > self.queue.len()
    }

    /// Takes events for one call of a consumer.
    pub(super) fn take(&mut self, most: usize) -> Taken<Arc<Event>> {
        self.queue
            .take(most.min(self.most_together), Instant::now())
    }

    /// Returns the number of events that one push of up to so many has at most.
    pub(super) fn most_together(&self, most: usize) -> usize {
        most.min(self.most_together)
    }

    /// Notes that a call with so many events failed for what they are together, or may have: the next ones have half as many,
    /// until one event is alone that cannot be delivered.
    pub(super) fn divide(&mut self, events: usize) {
        if events > 1 {
            self.most_together = events / 2;
        }
    }

    /// Notes that a call has delivered events.
    pub(super) fn note_delivered(&mut self) {
        self.most_together = self.most_together.saturating_mul(2);
    }

    /// Puts events back whose call has failed; `None` if the delivery has ended.
    pub(super) fn put_back(&mut self, events: Vec<Numbered<Arc<Event>>>) -> Option<Lost> {
        match self.is_closed {
            true => None,
            false => Some(self.queue.put_back(events, Instant::now())),
        }
    }

    /// Has an event wait for its StartTime. Returns whether there was room, and the delivery has not ended.
    pub(super) fn hold(&mut self, start: Instant, event: &Arc<Event>, arrival: Arrival) -> bool {
        !self.is_closed && self.held.add(start, event, arrival)
    }

    /// Takes the events out whose StartTime has come.
    pub(super) fn started(&mut self, now: Instant) -> Vec<Waiting> {
        self.held.take(now)
    }

    /// Notes that a timer has woken the outlet; returns whether a batch has been collected for its time.
    pub(super) fn wake(&mut self, now: Instant) -> bool {
        self.alarm.ring(now);
        matches!(self.stage, Stage::Collecting(end) if end <= now)
    }

    /// Returns the time to set a timer to, if one is needed for what waits.
    pub(super) fn next_alarm(&mut self, now: Instant) -> Option<Duration> {
        let collected = match self.stage {
            Stage::Collecting(end) => Some(end),
            _ => None,
        };
        let next = self.held.first().into_iter().chain(collected).min()?;
        self.alarm.plan(next, now)
    }

    /// Applies other terms.
    pub(super) fn change(&mut self, limits: &Limits, terms: &Terms) -> Lost {
        self.terms = *terms;
        let bounds = bounds(limits, terms, self.queue_length);
        self.queue
            .change(terms.order, terms.discard, bounds, Instant::now())
    }

    /// Returns the time to wait after a call that failed, which is twice as long the next time.
    pub(super) fn back_off(&mut self, limits: &Limits) -> Duration {
        let time = self.back_off;
        self.back_off = limits.next_retry(time);
        time
    }

    /// Notes that a call was answered.
    pub(super) fn reset_back_off(&mut self, limits: &Limits) {
        self.back_off = limits.retry;
    }

    /// Has a call wait; returns it if as many wait as may, or the delivery has ended.
    pub(super) fn wait(&mut self, call: Call, most: usize) -> Result<(), Unwaited> {
        if self.is_closed {
            return Err(Unwaited::Closed(call));
        }
        if self.calls.len() >= most {
            self.calls.retain(Call::is_awaited);
        }
        if self.calls.len() >= most {
            return Err(Unwaited::TooMany(call));
        }
        self.calls.push_back(call);
        Ok(())
    }

    /// Returns the call that has waited longest, if there are events for it.
    pub(super) fn next_call(&mut self) -> Option<Call> {
        match self.queue.len() {
            0 => None,
            _ => self.calls.pop_front(),
        }
    }

    /// Has a call wait in front of all others, whose events had all expired; returns it if the delivery has ended.
    pub(super) fn wait_again(&mut self, call: Call) -> Option<Call> {
        if self.is_closed {
            return Some(call);
        }
        self.calls.push_front(call);
        None
    }

    pub(super) fn take_calls(&mut self) -> VecDeque<Call> {
        std::mem::take(&mut self.calls)
    }

    /// Ends the delivery. Returns the calls that waited, and the number of events that did.
    pub(super) fn close(&mut self) -> (VecDeque<Call>, usize) {
        self.is_closed = true;
        (self.take_calls(), self.queue.clear() + self.held.clear())
    }
}

/// Call that cannot wait.
#[derive(Debug)]
pub(super) enum Unwaited {
    Closed(Call),
    TooMany(Call),
}

/// Returns the bounds of a queue: the narrowest of the service's, the proxy's and the channel's.
fn bounds(limits: &Limits, terms: &Terms, queue_length: usize) -> Bounds {
    let stated = [terms.most_events, queue_length];
    let stated = stated.into_iter().filter(|most| *most > 0);
    Bounds {
        events: stated
            .chain([limits.queue_events.max(1)])
            .min()
            .unwrap_or(1),
        bytes: limits.queue_bytes,
    }
}
