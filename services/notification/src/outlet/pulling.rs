//! Calls of consumers that pull. A call that finds no event waits without a thread, and is answered by the thread that
//! brings the event.

use punctual::asynchronous::AnswerError;

use super::call::Call;
use super::core::Outlet;
use super::delivery::Unwaited;
use crate::outcome::Outcome;
use crate::refusal::Refusal;

impl Outlet {
    /// Answers a call of the consumer, now or when there is an event.
    pub(super) fn called(&self, call: Call) {
        if self.base.connection.used().is_err() {
            return call.raise_disconnected();
        }
        if let Some(source) = self.source.get() {
            source.acknowledge_answered();
            self.refill();
        }
        let has_events = self.delivery.lock().queue.len() > 0;
        match has_events || !call.waits() {
            true => {
                self.answer(call);
                // It may wait after all, or have left events to others that do, while one came.
                self.answer_calls();
            }
            false => self.wait(call),
        }
    }

    fn wait(&self, call: Call) {
        let most = self.base.common.limits.waiting_pulls;
        match self.delivery.lock().wait(call, most) {
            Ok(()) => {}
            Err(Unwaited::Closed(call)) => return call.raise_disconnected(),
            Err(Unwaited::TooMany(call)) => return call.fail(Refusal::TooManyPulls(most)),
        }
        if self.base.common.is_ending() {
            return self.release_calls();
        }
        // An event may have come meanwhile.
        self.answer_calls();
    }

    /// Answers the calls that wait, as long as there are events.
    pub(super) fn answer_calls(&self) {
        loop {
            let Some(call) = self.delivery.lock().next_call() else {
                return;
            };
            if call.is_awaited() {
                self.answer(call);
            }
        }
    }

    fn answer(&self, call: Call) {
        let taken = self.delivery.lock().take(call.most());
        self.base.tally.add(Outcome::Expired, taken.expired);
        self.settle();
        if taken.events.is_empty() && call.waits() {
            // The life of all events had ended.
            let unwaited = self.delivery.lock().wait_again(call);
            return unwaited.map_or((), Call::raise_disconnected);
        }
        let number = taken.events.len();
        match call.answer(&taken.events) {
            Ok(()) => {
                self.base.tally.add(Outcome::Pulled, number);
                self.delivery.lock().note_delivered();
                self.note_answered(&taken.events);
            }
            Err(AnswerError::NobodyWaits | AnswerError::TimedOut) => self.put_back(taken.events),
            // One of them cannot be written, or all are too long: the next calls get fewer.
            Err(_) if number > 1 => {
                self.put_back(taken.events);
                self.delivery.lock().divide(number);
            }
            Err(_) => {
                self.base.tally.add(Outcome::Undelivered, number);
                self.note_answered(&taken.events);
            }
        }
    }
}
