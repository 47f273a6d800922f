//! How an adapter ends (CORBA 3.3 part 1, §15.3.9.4).
//!
//! A destroyed adapter is found no more; its objects are deactivated; it is gone, and its name free, when the
//! last of its calls has left and its children are gone.

use super::Adapter;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(super) struct Life {
    stage: Mutex<Stage>,
    changed: Condvar,
    /// The stage is not the first, for a glance without the lock.
    going: AtomicBool,
    /// Servants are dropped, and no activator is told.
    silently: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Alive,
    Going,
    /// All has left; what is left to do is being done.
    Ending,
    Gone,
}

impl Life {
    /// To be asked by who has counted itself in.
    pub(super) fn is_going(&self) -> bool {
        self.going.load(Ordering::SeqCst)
    }

    pub(super) fn etherealizes(&self) -> bool {
        !self.silently.load(Ordering::Acquire)
    }

    /// `false` when it was going already.
    fn begin_to_go(&self, etherealize: bool) -> bool {
        let mut stage = self.stage.lock();
        let first = *stage == Stage::Alive;
        if first {
            *stage = Stage::Going;
            self.silently.store(!etherealize, Ordering::Release);
            self.going.store(true, Ordering::SeqCst);
        }
        first
    }

    /// `true` for the one who is to see to what is left to do.
    fn begin_to_end(&self) -> bool {
        let mut stage = self.stage.lock();
        let first = *stage == Stage::Going;
        if first {
            *stage = Stage::Ending;
        }
        first
    }

    fn end(&self) {
        *self.stage.lock() = Stage::Gone;
        self.changed.notify_all();
    }

    pub(super) fn wait_until_gone(&self) {
        let mut stage = self.stage.lock();
        while *stage != Stage::Gone {
            self.changed.wait(&mut stage);
        }
    }
}

impl Adapter {
    /// Whether the adapter or its manager goes.
    pub(crate) fn is_going(&self) -> bool {
        self.life.is_going() || self.manager.state() == crate::manager::ManagerState::Inactive
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.life.is_going()
    }

    /// Ends it and its children. Does not wait.
    pub(crate) fn destroy(&self, etherealize: bool) {
        // From now on nobody makes another child.
        let first = self.life.begin_to_go(etherealize);
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
            let _dropped_without_the_lock = self.activator.lock().take();
        }
        self.end_if_empty();
    }

    /// Returns when the adapter, and so its children, are gone.
    pub(crate) fn wait_until_gone(&self) {
        self.life.wait_until_gone();
    }

    /// Gives back all servants, where an activator gave them.
    pub(crate) fn etherealize_all(&self) {
        if self.servant_manager().is_some() {
            // Said before: what is incarnated meanwhile is found here, or finds this.
            self.cleared.store(true, Ordering::SeqCst);
            if let Some(map) = self.map() {
                map.deactivate_all();
            }
        }
    }

    /// To be called by who left last, or made the last object go.
    pub(super) fn end_if_empty(&self) {
        let is_empty = self.life.is_going()
            && self.guests.is_empty()
            && self.map().is_none_or(|map| map.is_empty())
            && self.children.lock().is_empty();
        if !is_empty || !self.life.begin_to_end() {
            return;
        }
        self.let_servants_go();
        // Its name is free before anybody is told that it is gone.
        if let Some(parent) = &self.parent {
            parent.leave(self);
        }
        self.life.end();
        if let Some(parent) = &self.parent {
            parent.end_if_empty();
        }
    }

    /// Its child is gone.
    fn leave(&self, child: &Self) {
        let mut children = self.children.lock();
        let is_it = |one: &Arc<Self>| std::ptr::eq(Arc::as_ptr(one), child);
        if children.get(&child.name).is_some_and(is_it) {
            children.remove(&child.name);
        }
    }
}
