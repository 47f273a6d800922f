//! Calls to suppliers that are pulled from: one at a time, without a thread that waits for the reply. After events the
//! next call follows at once, else after the service's interval.

use std::time::Duration;

use super::core::Inlet;
use crate::client::Failure;
use crate::event::Event;

impl Inlet {
    /// Begins a call, if none is under way and pulling is not suspended.
    pub(super) fn pull_soon(&self) {
        {
            let mut pull = self.pull.lock();
            if pull.is_under_way || pull.is_suspended {
                return;
            }
            pull.is_under_way = true;
        }
        self.begin();
    }

    /// Hands the call to another thread: it may have to wait for a connection.
    fn begin(&self) {
        let own = self.own.clone();
        self.base.workers().run(move || {
            if let Some(own) = own.upgrade() {
                own.call();
            }
        });
    }

    fn call(&self) {
        let supplier = self.base.connection.peer();
        let Some(supplier) = supplier.filter(|_| !self.pull.lock().is_suspended) else {
            self.pull.lock().is_under_way = false;
            return;
        };
        let own = self.own.clone();
        let supplier = supplier.bounded(self.base.common.limits.call_timeout);
        supplier.try_pull(self.most(), move |pulled| {
            if let Some(own) = own.upgrade() {
                own.pulled(pulled);
            }
        });
    }

    /// Returns the number of events to ask for at a time.
    fn most(&self) -> i32 {
        i32::try_from(self.base.quality.terms().batch).unwrap_or(i32::MAX)
    }

    /// Passes events on, and decides when to call again. Called by the thread that reads replies; does not block.
    fn pulled(&self, pulled: Result<Vec<Event>, Failure>) {
        self.pull.lock().is_under_way = false;
        if !self.base.connection.is_connected() {
            return;
        }
        match pulled {
            Ok(events) => {
                self.base.is_given_up(true);
                self.pull.lock().back_off = self.base.common.limits.retry;
                let has_more = !events.is_empty();
                self.publish_all(events);
                match has_more {
                    true => self.pull_soon(),
                    false => self.pull_after(self.base.common.limits.pull_interval),
                }
            }
            Err(Failure::Disconnected) => drop(self.finish(false)),
            Err(failure) => self.failed(&failure),
        }
    }

    fn publish_all(&self, events: Vec<Event>) {
        for event in events {
            if let Err(refusal) = self.publish_connected(event) {
                tracing::warn!("an event that was pulled is not passed on: {refusal}");
            }
        }
    }

    fn failed(&self, failure: &Failure) {
        let is_lost = matches!(failure, Failure::Gone) || self.base.is_given_up(false);
        if !is_lost {
            self.base.common.metrics.retried.add(1);
            let limits = &self.base.common.limits;
            let mut pull = self.pull.lock();
            let time = pull.back_off;
            pull.back_off = (time * 2).min(limits.longest_retry.max(limits.retry));
            drop(pull);
            return self.pull_after(time);
        }
        if self.base.common.is_ending() {
            return;
        }
        tracing::info!("a supplier is disconnected: {failure}");
        if self.finish(false) {
            self.base.common.metrics.lost_peers.add(1);
        }
    }

    fn pull_after(&self, time: Duration) {
        let own = self.own.clone();
        self.base.common.timetable.after(time, move || {
            if let Some(own) = own.upgrade() {
                own.pull_soon();
            }
        });
    }

    /// Suspends pulling. Returns whether it was not suspended.
    pub(super) fn suspend(&self) -> bool {
        !std::mem::replace(&mut self.pull.lock().is_suspended, true)
    }

    /// Resumes pulling. Returns whether it was suspended.
    pub(super) fn resume(&self) -> bool {
        let was_suspended = std::mem::replace(&mut self.pull.lock().is_suspended, false);
        self.pull_soon();
        was_suspended
    }
}
