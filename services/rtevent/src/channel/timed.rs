//! Timers of a channel's consumers.

use super::core::Core;
use crate::error::ConnectError;
use crate::event::{Event, Payload};
use crate::filter::Tree;
use crate::level::Level;
use crate::route::Due;
use crate::timer::{Expired, Lane, Now};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl<P: Payload> Core<P> {
    /// Passes time of a manual clock, through each tick at which something is due. Returns the time of the next one.
    pub(super) fn advance(&self, now: u64) -> Option<u64> {
        if !self.clock.is_manual() {
            return None;
        }
        while let Some(next) = self.next_due().filter(|next| *next <= now) {
            self.step(next);
        }
        self.step(now);
        self.next_due()
    }

    fn step(&self, now: u64) {
        let now = self.clock.state(now);
        let mut expired = Vec::new();
        // The most urgent first.
        for lane in self.lanes.all() {
            lane.advance(now, &mut expired);
        }
        for timer in &expired {
            self.expire(timer);
        }
        if let Some(control) = &self.control
            && control.is_due(now)
        {
            self.ask_all();
        }
    }

    fn next_due(&self) -> Option<u64> {
        let lanes = self.lanes.all().into_iter();
        let next = lanes.filter_map(|lane| lane.next());
        let control = self.control.as_ref().and_then(|control| control.next());
        next.chain(control).min()
    }

    /// Returns the lanes of a filter's timers; a new one gets a thread, if time passes by itself.
    pub(super) fn lanes(&self, tree: &Tree) -> Result<Vec<Arc<Lane<Due<P>>>>, ConnectError> {
        let now = self.clock.now();
        let lanes = tree.timers().iter().map(|timer| {
            let begin = |lane| match self.clock.is_manual() {
                true => Ok(()),
                false => self.start_thread(timer.level, lane),
            };
            self.lanes.lane(timer.level, now, begin)
        });
        lanes.collect()
    }

    fn start_thread(&self, level: Level, lane: Arc<Lane<Due<P>>>) -> Result<(), ConnectError> {
        let core = self.own.clone();
        let thread = (self.options.timer_thread)(level);
        thread.start(move || {
            lane.run(|timer| {
                if let Some(core) = core.upgrade() {
                    core.expire(timer);
                }
            });
        })?;
        Ok(())
    }

    fn expire(&self, timer: &Expired<Due<P>>) {
        let Some(subscribed) = timer.value.subscribed.upgrade() else {
            return;
        };
        let now = Now::new(&self.clock);
        if let Some((header, path)) = subscribed.expire(timer, now.get()) {
            self.timed.fetch_add(1, Ordering::Relaxed);
            let event = Event::new(header, self.empty.clone());
            self.deliveries
                .deliver_timed(&subscribed, path, &event, &now);
        }
    }
}
