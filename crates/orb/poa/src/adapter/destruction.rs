//! How an adapter ends (CORBA 3.3 part 1, §15.3.9.4).
//!
//! A destroyed adapter is found no more; its objects are deactivated; it is gone, and its name free, when the
//! last of its calls has left and its children are gone.

use super::Adapter;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
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
    fn begin(&self, etherealize: bool) -> bool {
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
    fn begin_last_step(&self) -> bool {
        let mut stage = self.stage.lock();
        let first = *stage == Stage::Begun;
        if first {
            *stage = Stage::LastStep;
        }
        first
    }

    fn end(&self) {
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

impl Adapter {
    /// Whether the adapter is being destroyed, or its manager has been deactivated.
    pub(crate) fn cleanup_in_progress(&self) -> bool {
        self.destruction.has_begun()
            || self.manager.state() == crate::manager::ManagerState::Inactive
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.destruction.has_begun()
    }

    /// Ends it and its children. Does not wait.
    pub(crate) fn destroy(&self, etherealize: bool) {
        // From now on nobody makes another child.
        let first = self.destruction.begin(etherealize);
        for child in self.children() {
            child.destroy(etherealize);
        }
        if first {
            if let Some(root) = self.root.upgrade() {
                root.forget(self);
            }
            if let Some(map) = self.map() {
                map.close_for_good();
            }
            let _dropped_without_the_lock = self.children.activator.lock().take();
        }
        self.finish_if_empty();
    }

    /// Returns when the adapter, and so its children, are gone.
    pub(crate) fn wait_until_destroyed(&self) {
        self.destruction.wait_until_destroyed();
    }

    /// Gives back all servants, where an activator gave them.
    pub(crate) fn etherealize_all(&self) {
        if self.servant_manager().is_some() {
            // Said before: what is incarnated meanwhile is found here, or finds this.
            self.servants.all_given_back.store(true, Ordering::SeqCst);
            if let Some(map) = self.map() {
                map.deactivate_all();
            }
        }
    }

    /// To be called by whoever has ended the last request, or removed the last object.
    pub(super) fn finish_if_empty(&self) {
        let is_empty = self.destruction.has_begun()
            && self.outstanding.is_empty()
            && self.map().is_none_or(|map| map.is_empty())
            && self.children.made.lock().is_empty();
        if !is_empty || !self.destruction.begin_last_step() {
            return;
        }
        self.let_go_of_servants();
        // Its name is free before anybody is told that it is gone.
        if let Some(parent) = &self.parent {
            parent.leave(self);
        }
        self.destruction.end();
        if let Some(parent) = &self.parent {
            parent.finish_if_empty();
        }
    }

    /// Its child is gone.
    fn leave(&self, child: &Self) {
        let mut children = self.children.made.lock();
        let is_it = |one: &Arc<Self>| std::ptr::eq(Arc::as_ptr(one), child);
        if children.get(&child.name).is_some_and(is_it) {
            children.remove(&child.name);
        }
    }
}
