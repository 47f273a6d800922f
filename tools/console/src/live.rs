//! Who is told that what a page shows has changed.
//!
//! A stream's interest is which contexts and objects it shows, and one flag. However many changes there are, and however
//! slowly its peer reads, nothing else is kept.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual_naming::Observer;
use punctual_naming::store::ContextId;
use tokio::sync::Notify;

/// All interests.
#[derive(Debug, Default)]
pub(crate) struct Live {
    interests: Mutex<Vec<Weak<Interest>>>,
}

/// What one stream is about.
#[derive(Debug, Default)]
pub(crate) struct Interest {
    shown: Mutex<Shown>,
    /// Keeps one call until somebody waits for it.
    changed: Notify,
}

/// What a page shows.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The context, and those that its name leads through.
    pub(crate) contexts: Vec<ContextId>,
    /// Objects, by what [`crate::answers`] knows them by.
    pub(crate) objects: HashSet<u64>,
}

impl Live {
    /// An interest in nothing yet, until it is dropped.
    pub(crate) fn interest(&self) -> Arc<Interest> {
        let interest = Arc::<Interest>::default();
        let mut all = self.interests.lock();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&interest));
        interest
    }

    /// What is known of an object has changed.
    pub(crate) fn answered(&self, object: u64) {
        self.tell(|shown| shown.objects.contains(&object));
    }

    fn tell(&self, concerns: impl Fn(&Shown) -> bool) {
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
    /// Is about what is shown from now on.
    pub(crate) fn show(&self, shown: Shown) {
        *self.shown.lock() = shown;
    }

    /// Waits until some of it has changed; returns at once if it has since the last time.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}
