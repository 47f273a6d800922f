//! Notification of event streams about changes of displayed data.
//!
//! A stream's interest is a set of contexts and objects, and one flag. Nothing else is kept,
//! however many changes there are, and however slowly its peer reads.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual_naming::Observer;
use punctual_naming::store::ContextId;
use tokio::sync::Notify;

/// Registry of the data that the console's event streams watch.
#[derive(Debug, Default)]
pub(crate) struct Live {
    interests: Mutex<Vec<Weak<Interest>>>,
}

/// Data that one event stream of the console watches for changes.
#[derive(Debug, Default)]
pub(crate) struct Interest {
    shown: Mutex<Visible>,
    /// Signal to the stream; keeps one notification until the stream waits for it.
    changed: Notify,
}

/// Naming contexts and objects that a page of the console shows.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    /// The context, and the contexts on the path to it.
    pub(crate) contexts: Vec<ContextId>,
    /// Objects that the page shows, by their keys in [`crate::answers`].
    pub(crate) objects: HashSet<u64>,
}

impl Live {
    /// Returns a new, empty interest, registered until it is dropped.
    pub(crate) fn interest(&self) -> Arc<Interest> {
        let interest = Arc::<Interest>::default();
        let mut all = self.interests.lock();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&interest));
        interest
    }

    /// Notifies the streams that show an object of a change in its state.
    pub(crate) fn answered(&self, object: u64) {
        self.tell(|shown| shown.objects.contains(&object));
    }

    fn tell(&self, concerns: impl Fn(&Visible) -> bool) {
        let all = self.interests.lock();
        for one in all.iter().filter_map(Weak::upgrade) {
            if concerns(&one.shown.lock()) {
                one.changed.notify_one();
            }
        }
    }
}

impl Observer for Live {
    fn changed(&self, contexts: &[ContextId]) {
        self.tell(|shown| shown.contexts.iter().any(|one| contexts.contains(one)));
    }

    fn replaced(&self) {
        self.tell(|_| true);
    }
}

impl Interest {
    /// Sets the displayed data to watch from now on.
    pub(crate) fn show(&self, shown: Visible) {
        *self.shown.lock() = shown;
    }

    /// Waits until some of the displayed data has changed; returns at once if it has since the last
    /// call.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}
