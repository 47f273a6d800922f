//! Calls to suppliers that are pulled from: one at a time, without a thread that waits for the reply. After events the
//! next call follows at once, else after the service's interval.

use std::time::Duration;
use std::vec::IntoIter;

use punctual::SystemException;

use super::core::Inlet;
use super::supply::{Refused, Supply};
use crate::client::Failure;
use crate::event::Event;
use crate::line::Asking;

impl Inlet {
    /// Begins a call, if none is under way and pulling is not suspended.
    pub(super) fn pull_soon(&self) {
        if !self.pull.lock().begin() {
            return;
        }
        self.begin_call();
    }

    /// Hands the call to another thread: it may have to wait for a connection.
    fn begin_call(&self) {
        let own = self.own.clone();
        self.base.workers().run(move || {
            if let Some(own) = own.upgrade() {
                own.call();
            }
        });
    }

    fn call(&self) {
        if !self.pull.lock().goes_on() {
            return;
        }
        let replaced = self.base.connection.replaced();
        let Some(supplier) = self.base.connection.peer() else {
            return;
        };
        // It stays until the reply is there: the supplier does not have the events of it any more.
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let supplier = supplier.bounded(self.base.common.limits.call_timeout);
        supplier.try_pull(self.most(), move |pulled| own.pulled(pulled, replaced));
    }

    /// Returns the number of events to ask for at a time.
    fn most(&self) -> i32 {
        i32::try_from(self.base.stated.quality.terms().batch).unwrap_or(i32::MAX)
    }

    /// Passes events on, and decides when to call again, by a reply of the supplier before which the proxy had a number of
    /// others. Called by the thread that reads replies; does not block.
    fn pulled(&self, pulled: Result<Vec<Event>, Failure>, replaced: u64) {
        let is_connected = self.base.connection.is_connected();
        match pulled {
            // A supplier that has left meanwhile does not have them any more.
            Ok(events) if is_connected || !events.is_empty() => self.supplied(events),
            Ok(_) => {}
            Err(_) if !is_connected => {}
            // The supplier that has taken its place is called.
            Err(_) if self.base.connection.replaced() != replaced => self.go_on(true),
            Err(Failure::Disconnected) => drop(self.finish(false)),
            Err(failure) => self.failed(&failure),
        }
    }

    /// Passes events on before the next call, so that they stay in order.
    fn supplied(&self, events: Vec<Event>) {
        self.base.is_given_up(true);
        let has_more = !events.is_empty();
        let supply = Supply::new(events);
        match self.group.hub.may_block() {
            // It may have to wait for a disk.
            true => self.pass_on_thread(supply, has_more),
            false => self.pass_supply_on(supply, has_more),
        }
    }

    fn pass_on_thread(&self, supply: Supply<IntoIter<Event>>, has_more: bool) {
        let Some(own) = self.own.upgrade() else {
            return;
        };
        // It stays until they are passed on: the supplier has them no more.
        let readers = &self.base.common.readers;
        readers.run(move || own.pass_supply_on(supply, has_more));
    }

    /// Passes events on as those that are pushed. What is refused for now is passed on later, before all else.
    fn pass_supply_on(&self, mut supply: Supply<IntoIter<Event>>, has_more: bool) {
        while let Err(refused) = self.take(&mut supply) {
            let Refused { reason, events } = &refused;
            let supplier = self.name();
            if reason.is_final() {
                tracing::warn!("{events} events of {supplier} are lost: {reason}");
                self.reject(&refused);
                supply.give_up();
            } else if self.base.common.is_ending() {
                tracing::warn!("events of {supplier} are lost, as the service ends: {reason}");
                return;
            } else {
                tracing::warn!("{events} events of {supplier} wait: {reason}");
                return self.pass_later(supply, has_more);
            }
        }
        self.go_on_when_asked(has_more);
    }

    fn pass_later(&self, supply: Supply<IntoIter<Event>>, has_more: bool) {
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let time = self.pull.lock().back_off(&self.base.common.limits);
        let timetable = &self.base.common.timetable;
        timetable.after(time, move || own.pass_on_thread(supply, has_more));
    }

    /// Calls the supplier again, once no event waits for foreign filters.
    fn go_on_when_asked(&self, has_more: bool) {
        self.pull.lock().waits_with = Some(has_more);
        if !self.line.tell_end() {
            self.emptied();
        }
    }

    /// Calls the supplier again, at once if it had events.
    pub(super) fn go_on(&self, has_more: bool) {
        let limits = &self.base.common.limits;
        {
            let mut pull = self.pull.lock();
            pull.reset_back_off(limits);
            pull.end();
        }
        match has_more {
            true => self.pull_soon(),
            false => self.pull_after(limits.pull_interval),
        }
    }

    fn failed(&self, failure: &Failure) {
        let is_lost = matches!(failure, Failure::Gone) || self.base.is_given_up(false);
        if !is_lost {
            self.base.tally.retried(failure);
            let mut pull = self.pull.lock();
            pull.end();
            let time = pull.back_off(&self.base.common.limits);
            drop(pull);
            return self.pull_after(time);
        }
        if self.base.common.is_ending() {
            return;
        }
        tracing::info!("{} is disconnected: {failure}", self.name());
        if self.finish(false) {
            self.base.common.metrics.lost_peers.add(1);
        }
    }

    fn pull_after(&self, time: Duration) {
        let own = self.own.clone();
        let turn = self.pull.lock().next_turn();
        self.base.common.timetable.after(time, move || {
            let own = own.upgrade();
            if let Some(own) = own.filter(|own| own.pull.lock().is_turn(turn)) {
                own.pull_soon();
            }
        });
    }

    /// Suspends pulling. Returns whether it was not suspended.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(super) fn suspend(&self) -> Result<bool, SystemException> {
        let is_change = self.base.note_suspension(true)?;
        self.apply_suspension();
        Ok(is_change)
    }

    /// Resumes pulling. Returns whether it was suspended.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(super) fn resume(&self) -> Result<bool, SystemException> {
        let is_change = self.base.note_suspension(false)?;
        self.apply_suspension();
        self.pull_soon();
        Ok(is_change)
    }

    fn apply_suspension(&self) {
        // Under the lock, so that the last change stays.
        let mut pull = self.pull.lock();
        pull.is_suspended = self.base.stated.is_suspended();
    }
}
