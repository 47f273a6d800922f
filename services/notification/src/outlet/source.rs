//! Reader of the channel's log, from which a consumer has its persistent events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use punctual_durable::{Position, Reader};

/// Reader of one consumer, until its proxy ends.
#[derive(Debug)]
pub(super) struct Source {
    reader: Mutex<Option<Arc<dyn Reader>>>,
    /// Held while events are moved from the reader to the queue, so that they stay in order.
    order: Mutex<()>,
    /// States that the reader may have events that it has not handed out.
    may_have_more: AtomicBool,
    /// States that a thread is to move events.
    is_planned: AtomicBool,
    /// Positions of events that have answered a pull, and are acknowledged by the next one.
    answered: Mutex<Vec<Position>>,
}

impl Source {
    pub(super) fn new(reader: Arc<dyn Reader>) -> Self {
        Self {
            reader: Mutex::new(Some(reader)),
            order: Mutex::default(),
            may_have_more: AtomicBool::new(true),
            is_planned: AtomicBool::new(false),
            answered: Mutex::default(),
        }
    }

    /// Returns the reader; `None` when the proxy has ended.
    pub(super) fn reader(&self) -> Option<Arc<dyn Reader>> {
        self.reader.lock().clone()
    }

    /// Keeps others from moving events until the guard is dropped.
    pub(super) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    /// Notes that the reader may have events.
    pub(super) fn note_more(&self) {
        // Pairs with the load in `may_have_more` and the swap in `begin_fetch`.
        self.may_have_more.store(true, Ordering::SeqCst);
    }

    pub(super) fn may_have_more(&self) -> bool {
        self.may_have_more.load(Ordering::SeqCst)
    }

    /// Notes that all events are fetched that there are; those that come meanwhile are noted again.
    pub(super) fn begin_fetch(&self) -> bool {
        self.may_have_more.swap(false, Ordering::SeqCst)
    }

    /// Notes whether a thread is to move events; returns whether one was.
    pub(super) fn plan(&self, is_planned: bool) -> bool {
        self.is_planned.swap(is_planned, Ordering::SeqCst)
    }

    /// Acknowledges events.
    pub(super) fn acknowledge(&self, positions: &[Position]) {
        if positions.is_empty() {
            return;
        }
        if let Some(reader) = self.reader() {
            reader.acknowledge(positions);
        }
    }

    /// Notes events that have answered a pull.
    pub(super) fn note_answered(&self, positions: Vec<Position>) {
        self.answered.lock().extend(positions);
    }

    /// Acknowledges the events that have answered earlier pulls.
    pub(super) fn acknowledge_answered(&self) {
        let answered = std::mem::take(&mut *self.answered.lock());
        self.acknowledge(&answered);
    }

    /// Takes the reader out, which is closed when it is dropped: what it has handed out and was not acknowledged comes again
    /// when it is opened again.
    pub(super) fn take(&self) -> Option<Arc<dyn Reader>> {
        self.reader.lock().take()
    }
}
