//! Pushes to a consumer, one at a time. No thread waits for the reply.
//!
//! A consumer that cannot be reached gets the same events later, after a time that doubles with each failure. One that
//! answers with an exception, or not in time, may have seen the events, and gets the next ones; persistent events come again
//! unless it has answered. A sequence that cannot be read, or is too long, is divided until one event is alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::SystemException;

use super::core::Outlet;
use super::delivery::{Delivery, Stage};
use super::under_way::UnderWay;
use crate::client::{Client, Failure, Form};
use crate::event::Event;
use crate::outcome::Outcome;
use crate::queue::{Numbered, Taken};

impl Outlet {
    /// Begins a push, if there are events and none is under way.
    pub(super) fn push_soon(&self) {
        let mut delivery = self.delivery.lock();
        match next(&delivery, self.base.form) {
            Next::Nothing => {}
            Next::Push => {
                delivery.stage = Stage::Pushing;
                drop(delivery);
                self.begin_push();
            }
            Next::Collect(time) => {
                let now = Instant::now();
                delivery.stage = now.checked_add(time).map_or(Stage::Idle, Stage::Collecting);
                let timer = delivery.next_alarm(now);
                drop(delivery);
                self.wake_after(timer);
            }
        }
    }

    /// Hands the call to another thread: it may have to wait for a connection.
    fn begin_push(&self) {
        let own = self.own.clone();
        self.base.workers().run(move || {
            if let Some(own) = own.upgrade() {
                own.push();
            }
        });
    }

    fn push_after(&self, time: Duration) {
        let own = self.own.clone();
        self.base.common.timetable.after(time, move || {
            if let Some(own) = own.upgrade() {
                own.resume_push();
            }
        });
    }

    /// Pushes what there is, after a time of waiting.
    pub(super) fn resume_push(&self) {
        let mut delivery = self.delivery.lock();
        if matches!(delivery.stage, Stage::Idle | Stage::Pushing) {
            return;
        }
        let has_some = delivery.queue.len() > 0 && !delivery.is_suspended;
        delivery.stage = if has_some {
            Stage::Pushing
        } else {
            Stage::Idle
        };
        drop(delivery);
        if has_some {
            self.begin_push();
        }
    }

    /// Pushes at once to a consumer that has taken the place of one that could not be called.
    pub(super) fn push_to_replaced(&self) {
        let mut delivery = self.delivery.lock();
        delivery.reset_back_off(&self.base.common.limits);
        let is_waiting = matches!(delivery.stage, Stage::BackingOff);
        drop(delivery);
        if is_waiting {
            self.resume_push();
        }
    }

    fn push(&self) {
        let replaced = self.base.connection.replaced();
        let Some(consumer) = self.base.connection.peer() else {
            return;
        };
        let taken = {
            let mut delivery = self.delivery.lock();
            let taken = match delivery.is_suspended {
                true => Taken::default(),
                false => {
                    let most = batch(&delivery, self.base.form);
                    delivery.take(most)
                }
            };
            delivery.under_way = UnderWay::of(&taken.events);
            if taken.events.is_empty() {
                delivery.stage = Stage::Idle;
            }
            taken
        };
        self.base.tally.add(Outcome::Expired, taken.expired);
        self.settle();
        if !taken.events.is_empty() {
            self.push_events(&consumer, replaced, taken.events);
        }
    }

    /// Pushes to a consumer, before which the proxy had a number of others.
    fn push_events(&self, consumer: &Client, replaced: u64, taken: Vec<Numbered<Arc<Event>>>) {
        let events: Vec<Arc<Event>> = taken.iter().map(|one| one.entry.event.clone()).collect();
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let consumer = consumer.bounded(self.base.common.limits.call_timeout);
        // It stays until the call has ended, so that its events are counted.
        consumer.push(&events, move |outcome| own.pushed(outcome, replaced, taken));
    }

    /// Decides how to go on after a push. Called by the thread that reads replies; does not block.
    fn pushed(
        &self,
        outcome: Result<(), Failure>,
        replaced: u64,
        taken: Vec<Numbered<Arc<Event>>>,
    ) {
        let tally = &self.base.tally;
        self.delivery.lock().under_way = None;
        match outcome {
            // They are for the consumer that has taken its place.
            Err(_) if self.is_replaced_since(replaced) => {
                self.put_back(taken);
                self.delivery.lock().stage = Stage::Idle;
                self.push_soon();
            }
            Ok(()) => {
                self.acknowledge(&taken);
                tally.add(Outcome::Pushed, taken.len());
                drop(taken);
                self.base.is_given_up(true);
                let mut delivery = self.delivery.lock();
                delivery.reset_back_off(&self.base.common.limits);
                delivery.note_delivered();
                delivery.stage = Stage::Idle;
                drop(delivery);
                self.push_soon();
            }
            Err(failure) if taken.len() > 1 && failure.is_of_contents() => {
                self.push_fewer(&failure, taken);
            }
            Err(Failure::Disconnected) => {
                tally.add(Outcome::Undelivered, taken.len());
                self.finish(false);
            }
            Err(failure @ Failure::Gone) => {
                tally.add(Outcome::Undelivered, taken.len());
                self.lose(&failure);
            }
            Err(failure @ Failure::NotReached(_)) => {
                self.put_back(taken);
                self.try_again(&failure);
            }
            Err(failure @ Failure::Failed(_)) => {
                // It may not have answered as they are too many: an ORB has a limit on what it receives.
                self.delivery.lock().divide(taken.len());
                // Persistent events come again if it is not known that they have arrived.
                let (again, given_up): (Vec<_>, Vec<_>) = taken
                    .into_iter()
                    .partition(|one| one.entry.position.is_some() && failure.is_unanswered());
                tally.add(Outcome::Undelivered, given_up.len());
                self.acknowledge(&given_up);
                self.put_back(again);
                self.try_again(&failure);
            }
        }
    }

    /// Pushes events again, half as many at a time: what keeps the consumer from taking them may be one of them.
    fn push_fewer(&self, failure: &Failure, taken: Vec<Numbered<Arc<Event>>>) {
        let number = taken.len();
        tracing::debug!("{number} events for {} are divided: {failure}", self.name());
        self.base.tally.retried(failure);
        self.put_back(taken);
        let mut delivery = self.delivery.lock();
        delivery.divide(number);
        delivery.stage = Stage::Idle;
        drop(delivery);
        self.push_soon();
    }

    fn is_replaced_since(&self, replaced: u64) -> bool {
        let connection = &self.base.connection;
        connection.is_connected() && connection.replaced() != replaced
    }

    /// Puts events back whose call has failed.
    pub(super) fn put_back(&self, events: Vec<Numbered<Arc<Event>>>) {
        let number = events.len();
        let lost = self.delivery.lock().put_back(events);
        match lost {
            Some(lost) => self.count(lost),
            None => self.base.tally.add(Outcome::Undelivered, number),
        }
    }

    fn try_again(&self, failure: &Failure) {
        if self.base.is_given_up(false) {
            return self.lose(failure);
        }
        tracing::debug!("a push to {} has failed: {failure}", self.name());
        self.base.tally.retried(failure);
        let mut delivery = self.delivery.lock();
        let time = delivery.back_off(&self.base.common.limits);
        delivery.stage = Stage::BackingOff;
        drop(delivery);
        self.push_after(time);
    }

    fn lose(&self, failure: &Failure) {
        if self.base.common.is_ending() {
            return;
        }
        tracing::info!("{} is disconnected: {failure}", self.name());
        if self.finish(false) {
            self.base.common.metrics.lost_peers.add(1);
        }
    }

    /// Suspends pushing; events wait in the queue. Returns whether it was not suspended.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(super) fn suspend(&self) -> Result<bool, SystemException> {
        let is_change = self.base.note_suspension(true)?;
        self.apply_suspension();
        Ok(is_change)
    }

    /// Resumes pushing. Returns whether it was suspended.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(super) fn resume(&self) -> Result<bool, SystemException> {
        let is_change = self.base.note_suspension(false)?;
        self.apply_suspension();
        self.push_soon();
        Ok(is_change)
    }

    fn apply_suspension(&self) {
        // Under the lock, so that the last change stays.
        let mut delivery = self.delivery.lock();
        delivery.is_suspended = self.base.stated.is_suspended();
    }
}

/// Next step of an idle or collecting delivery.
enum Next {
    Nothing,
    Push,
    Collect(Duration),
}

fn next(delivery: &Delivery, form: Form) -> Next {
    let events = delivery.queue.len();
    let is_busy = matches!(delivery.stage, Stage::Pushing | Stage::BackingOff);
    if events == 0 || is_busy || delivery.is_suspended {
        return Next::Nothing;
    }
    let is_full = events >= batch(delivery, form) || delivery.terms.pacing.is_zero();
    match (is_full, delivery.stage) {
        (true, _) => Next::Push,
        (false, Stage::Idle) => Next::Collect(delivery.terms.pacing),
        (false, _) => Next::Nothing,
    }
}

/// Returns the number of events that one push has at most.
fn batch(delivery: &Delivery, form: Form) -> usize {
    match form {
        Form::Sequence => delivery.most_together(delivery.terms.batch),
        Form::Any | Form::Structured => 1,
    }
}
