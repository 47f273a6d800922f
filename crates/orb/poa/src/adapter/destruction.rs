//! Stages of an adapter's destruction (CORBA 3.3 part 1, §15.3.9.4).
//!
//! A destroyed adapter is no longer found, and its objects are deactivated. Its destruction is
//! complete, and its name free for a new adapter, when its last call has ended and its children
//! have been destroyed.

use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(super) struct Destruction {
    stage: Mutex<Stage>,
    changed: Condvar,
    /// Set once the first stage is over, for a check without the lock.
    has_begun: AtomicBool,
    /// Set if the objects' servants are dropped without being given to a servant activator.
    without_etherealizing: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Active,
    Begun,
    /// No request, object or child is left, and one thread performs the last step.
    LastStep,
    Destroyed,
}

impl Destruction {
    /// Returns whether the destruction has begun. A caller that serves a request must have counted
    /// it in before.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::SeqCst)
    }

    pub(super) fn etherealizes(&self) -> bool {
        !self.without_etherealizing.load(Ordering::Acquire)
    }

    /// Begins the destruction; returns `false` if it had begun before.
    pub(super) fn begin(&self, etherealize: bool) -> bool {
        let mut stage = self.stage.lock();
        let first = *stage == Stage::Active;
        if first {
            *stage = Stage::Begun;
            self.without_etherealizing
                .store(!etherealize, Ordering::Release);
            self.has_begun.store(true, Ordering::SeqCst);
        }
        first
    }

    /// Begins the last step: returns `true` to the one thread that has to perform it.
    pub(super) fn begin_last_step(&self) -> bool {
        let mut stage = self.stage.lock();
        let first = *stage == Stage::Begun;
        if first {
            *stage = Stage::LastStep;
        }
        first
    }

    pub(super) fn end(&self) {
        *self.stage.lock() = Stage::Destroyed;
        self.changed.notify_all();
    }

    pub(super) fn wait_until_destroyed(&self) {
        let mut stage = self.stage.lock();
        while *stage != Stage::Destroyed {
            self.changed.wait(&mut stage);
        }
    }
}
