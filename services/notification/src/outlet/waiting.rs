//! What waits for its time: events for their StartTime, and batches for their pace.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::arrival::Arrival;
use super::core::Outlet;
use crate::event::Event;
use crate::outcome::Outcome;

impl Outlet {
    /// Takes an event whose StartTime is in so long a time.
    pub(super) fn offer_after(&self, time: Duration, event: &Arc<Event>, arrival: Arrival) {
        let now = Instant::now();
        let timer = {
            let mut delivery = self.delivery.lock();
            let start = now.checked_add(time);
            if !start.is_some_and(|start| delivery.hold(start, event, arrival)) {
                drop(delivery);
                return self.base.tally.add(Outcome::Discarded, 1);
            }
            delivery.next_alarm(now)
        };
        self.wake_after(timer);
    }

    /// Sets a timer, if there is to be one, that wakes the outlet.
    pub(super) fn wake_after(&self, time: Option<Duration>) {
        let Some(time) = time else {
            return;
        };
        let own = self.own.clone();
        self.base.common.timetable.after(time, move || {
            if let Some(own) = own.upgrade() {
                own.wake();
            }
        });
    }

    /// Goes on with what has waited until now.
    fn wake(&self) {
        let now = Instant::now();
        let (is_collected, started) = {
            let mut delivery = self.delivery.lock();
            (delivery.wake(now), delivery.started(now))
        };
        if is_collected {
            self.resume_push();
        }
        for (event, arrival) in started {
            self.offer_now(&event, arrival);
        }
        self.settle();
        let timer = self.delivery.lock().next_alarm(now);
        self.wake_after(timer);
    }
}
