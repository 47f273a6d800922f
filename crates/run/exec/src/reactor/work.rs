//! What a reactor's threads do beside serving events.

use super::{Nesting, Reactor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Work for the threads of a reactor, which does not come as an event: they read what there is to read, then do a piece of
/// it, and wait when there is none.
pub trait Work: Send + Sync {
    /// Whether there is some.
    fn is_waiting(&self) -> bool;

    /// Does the next piece, if there is one; whether there was. A panic ends the piece, and nothing else.
    fn do_next(&self) -> bool;
}

impl Reactor {
    /// Gives its threads this work. A reactor has one at most: the first.
    pub fn set_work(&self, work: Arc<dyn Work>) {
        let _ = self.work.set(work);
    }

    /// Some has been added: a thread is woken that waits, if one does.
    pub fn has_more_work(&self) {
        // Sequentially consistent with who comes to wait: it finds the work, or is found waiting.
        if self.leadership.leaders() > 0 {
            self.queued.notify();
        }
    }

    /// Whether there is some.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.work.get().is_some_and(|work| work.is_waiting())
    }

    /// Does the next piece, if there is one; whether there was.
    pub(crate) fn do_next(&self) -> bool {
        let Some(work) = self.work.get().filter(|work| work.is_waiting()) else {
            return false;
        };
        let _nesting = Nesting::new();
        // Whatever it was about is gone with it.
        catch_unwind(AssertUnwindSafe(|| work.do_next())).unwrap_or(true)
    }
}
