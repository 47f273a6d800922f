//! How far the end of an adapter has come (CORBA 3.3 part 1, §15.3.9.4).
//!
//! A destroyed adapter is found no more; its objects are deactivated; it is gone, and its name free, when the
//! last of its calls has left and its children are gone.

use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(super) struct Destruction {
    stage: Mutex<Stage>,
    changed: Condvar,
    /// The stage is not the first, for a glance without the lock.
    has_begun: AtomicBool,
    /// Servants are dropped, and no activator is told.
    without_etherealizing: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Active,
    Begun,
    /// All has left; what is left to do is being done.
    LastStep,
    Destroyed,
}

impl Destruction {
    /// To be asked by who has counted itself in.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::SeqCst)
    }

    pub(super) fn etherealizes(&self) -> bool {
        !self.without_etherealizing.load(Ordering::Acquire)
    }

    /// `false` when it has begun before.
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

    /// `true` for the one who is to see to what is left to do.
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
