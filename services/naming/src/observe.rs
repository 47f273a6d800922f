//! Notification of changes within this process, so that observers need not poll.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::RwLock;

use crate::store::{Change, ContextId};

/// Observer that is notified of changed contexts, after the change.
///
/// It is called by the committing thread, without the tree's lock: it delays changes, so it should
/// only record the notification and return.
pub trait Observer: Debug + Send + Sync {
    /// Handles changes of these contexts: bindings were made or removed, or the contexts
    /// themselves. Each change is reported at least once.
    fn changed(&self, contexts: &[ContextId]);

    /// Handles a replacement of all contexts: everything may have changed.
    fn replaced(&self);
}

/// Set of the registered observers that have not been dropped.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    all: RwLock<Vec<Weak<dyn Observer>>>,
    /// Number of observers, with which a committing thread checks cheaply that there are none.
    count: AtomicUsize,
}

impl Observers {
    /// Adds an observer, which stays until it is dropped.
    pub(crate) fn add(&self, observer: &Arc<dyn Observer>) {
        let mut all = self.all.write();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(observer));
        // Pairs with the load in `contexts`: a thread that commits after this notifies the
        // observer.
        self.count.store(all.len(), Ordering::Release);
    }

    /// Returns the contexts that changes concern, for [`Observers::changed`]; none if there are no
    /// observers.
    pub(crate) fn contexts(&self, changes: &[Change]) -> Vec<ContextId> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let mut contexts: Vec<ContextId> = changes.iter().map(of).collect();
        contexts.sort_unstable();
        contexts.dedup();
        contexts
    }

    pub(crate) fn changed(&self, contexts: &[ContextId]) {
        if !contexts.is_empty() {
            self.tell(|one| one.changed(contexts));
        }
    }

    pub(crate) fn replaced(&self) {
        self.tell(|one| one.replaced());
    }

    fn tell(&self, what: impl Fn(&dyn Observer)) {
        let all = self.all.read();
        all.iter()
            .filter_map(Weak::upgrade)
            .for_each(|one| what(&*one));
    }
}

/// Returns the id of the context that a change affects.
fn of(change: &Change) -> ContextId {
    match change {
        Change::Create { context, .. }
        | Change::Destroy(context)
        | Change::Bind { context, .. }
        | Change::Unbind { context, .. } => *context,
    }
}
