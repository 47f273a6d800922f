//! Lanes that share threads, as each sees the others.

use parking_lot::Mutex;
use punctual_sys::scheduling::{self, Scheduling};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Lanes with which a lane shares threads; none by default.
pub(super) struct Neighbours<L> {
    /// More urgent lanes, which borrow threads of this one; the most urgent first.
    above: OnceLock<Vec<Weak<L>>>,
    /// Less urgent lanes, of which this one borrows threads; the most urgent first.
    below: OnceLock<Vec<Weak<L>>>,
    /// Scheduling of the threads of this lane, once one has begun.
    scheduling: Mutex<Option<Scheduling>>,
    /// The machine has refused a thread of this lane the scheduling of a more urgent one.
    is_refused: AtomicBool,
    /// Number of runs on threads of other lanes.
    borrowed: AtomicU64,
}

impl<L> Default for Neighbours<L> {
    fn default() -> Self {
        Self {
            above: OnceLock::new(),
            below: OnceLock::new(),
            scheduling: Mutex::new(None),
            is_refused: AtomicBool::new(false),
            borrowed: AtomicU64::new(0),
        }
    }
}

impl<L> Neighbours<L> {
    /// Sets the other lanes, once.
    pub(super) fn set(&self, above: &[Arc<L>], below: &[Arc<L>]) {
        let weak = |lanes: &[Arc<L>]| lanes.iter().map(Arc::downgrade).collect();
        let _ = self.above.set(weak(above));
        let _ = self.below.set(weak(below));
    }

    /// Returns whether threads of this lane may serve more urgent ones.
    pub(super) fn may_lend(&self) -> bool {
        self.above.get().is_some_and(|above| !above.is_empty())
            && !self.is_refused.load(Ordering::Relaxed)
    }

    /// Returns whether there are less urgent lanes whose threads may serve this one.
    pub(super) fn may_borrow(&self) -> bool {
        self.below.get().is_some_and(|below| !below.is_empty())
    }

    /// Returns the more urgent lanes, the most urgent first.
    pub(super) fn above(&self) -> impl Iterator<Item = Arc<L>> + '_ {
        self.above
            .get()
            .into_iter()
            .flatten()
            .filter_map(Weak::upgrade)
    }

    /// Returns the less urgent lanes, the most urgent first.
    pub(super) fn below(&self) -> impl Iterator<Item = Arc<L>> + '_ {
        self.below
            .get()
            .into_iter()
            .flatten()
            .filter_map(Weak::upgrade)
    }

    /// Notes the scheduling of the calling thread, which is one of this lane.
    pub(super) fn note_scheduling(&self) {
        if self.above.get().is_some() {
            *self.scheduling.lock() = scheduling::own().ok();
        }
    }

    /// Calls with the calling thread, one of this lane, scheduled as those of another. Does not call if the machine refuses
    /// that; this lane lends no more threads then.
    pub(super) fn scheduled_as<M>(&self, other: &Neighbours<M>, call: impl FnOnce()) {
        let own = *self.scheduling.lock();
        let theirs = *other.scheduling.lock();
        let change = own.zip(theirs).filter(|(own, theirs)| own != theirs);
        let Some((own, theirs)) = change else {
            return call();
        };
        if scheduling::set_own(theirs).is_err() {
            self.is_refused.store(true, Ordering::Relaxed);
            return;
        }
        call();
        // The thread began with this scheduling, so that it is granted.
        let _ = scheduling::set_own(own);
    }

    pub(super) fn count_borrowed(&self) {
        self.borrowed.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of runs on threads of other lanes.
    pub(super) fn borrowed(&self) -> u64 {
        self.borrowed.load(Ordering::Relaxed)
    }
}
