//! Additional work of a reactor's threads, beside events.

use super::{Nesting, Reactor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Work for the threads of a reactor that does not arrive as an event: the threads serve the events
/// at hand, then do a piece of work, and wait when there is none.
pub trait Work: Send + Sync {
    /// Returns whether there is work.
    fn is_waiting(&self) -> bool;

    /// Does the next piece if there is one; returns whether there was. A panic ends the piece, and
    /// nothing else.
    fn do_next(&self) -> bool;
}

impl Reactor {
    /// Gives the reactor's threads this work. Only the first call has an effect.
    pub fn set_work(&self, work: Arc<dyn Work>) {
        let _ = self.work.set(work);
    }

    /// Wakes a waiting thread, if there is one, after work has been added.
    pub fn notify_work(&self) {
        // Sequentially consistent with a thread that begins to wait: it finds the work, or is found
        // waiting.
        if self.leadership.leaders() > 0 {
            self.queued.notify();
        }
    }

    /// Returns whether there is work.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.work.get().is_some_and(|work| work.is_waiting())
    }

    /// Does the next piece if there is one; returns whether there was.
    pub(crate) fn do_next(&self) -> bool {
        let Some(work) = self.work.get().filter(|work| work.is_waiting()) else {
            return false;
        };
        let _nesting = Nesting::new();
        // The panicked piece is dropped.
        catch_unwind(AssertUnwindSafe(|| work.do_next())).unwrap_or(true)
    }
}
