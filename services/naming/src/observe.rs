//! Who is told of changes in this process, without asking again and again.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::RwLock;

use crate::store::{Change, ContextId};

/// Is told which contexts have changed, after they have.
///
/// It is called by the thread that commits, with no lock of the tree's held: what it does delays changes, so it should
/// note what it is told and return.
pub trait Observer: Debug + Send + Sync {
    /// Bindings of these contexts were made or removed, or the contexts themselves. Each change is told at least once.
    fn changed(&self, contexts: &[ContextId]);

    /// Everything may have changed.
    fn replaced(&self);
}

/// All observers that are still there.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    all: RwLock<Vec<Weak<dyn Observer>>>,
    /// How many there are, so that who changes something looks no further where there are none.
    count: AtomicUsize,
}

impl Observers {
    /// Adds one, until it is dropped.
    pub(crate) fn add(&self, observer: &Arc<dyn Observer>) {
        let mut all = self.all.write();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(observer));
        // Pairs with the load in `contexts`: who commits after this is added tells it.
        self.count.store(all.len(), Ordering::Release);
    }

    /// The contexts of changes, for [`Observers::changed`]; none where nobody wants to know.
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

/// The context that a change is of.
fn of(change: &Change) -> ContextId {
    match change {
        Change::Create { context, .. }
        | Change::Destroy(context)
        | Change::Bind { context, .. }
        | Change::Unbind { context, .. } => *context,
    }
}
