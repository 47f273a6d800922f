//! Stages of an adapter's destruction (CORBA 3.3 part 1, §15.3.9.4).
//!
//! A destroyed adapter is no longer found, and its objects are deactivated. It is gone, and its
//! name free, when the last of its calls has left and its children are gone.

use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(super) struct Destruction {
    stage: Mutex<Stage>,
    changed: Condvar,
    /// Set once the first stage is over, for a check without the lock.
    has_begun: AtomicBool,
    /// Set if servants are dropped without a call to an activator.
    without_etherealizing: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Active,
    Begun,
    /// All requests, objects and children have left, and one thread does the last step.
    LastStep,
    Destroyed,
}

impl Destruction {
    /// Returns whether the destruction has begun. Callers must have been counted in.
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

    /// Returns `true` to the one thread that has to do the last step.
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
