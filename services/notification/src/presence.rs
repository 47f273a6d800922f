//! Number of foreign filters of a service, so that events of a service without any take no other way than before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of the foreign filters that are attached, or that events still wait for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presence(Arc<AtomicUsize>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct Present(Presence);

impl Presence {
    /// Returns whether there is any. Costs a load and a branch.
    pub(crate) fn is_any(&self) -> bool {
        // Pairs with the change in `drop`: an event that finds none is behind all that were released before.
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Counts one more, if there are fewer than `most`.
    pub(crate) fn enter(&self, most: usize) -> Option<Present> {
        let more = |now: usize| (now < most).then_some(now + 1);
        let entered = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        entered.ok().map(|_| Present(self.clone()))
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_may_be_are_there_until_they_are_dropped() {
        let presence = Presence::default();
        assert!(!presence.is_any());
        let one = presence.enter(1).unwrap();
        assert!(presence.is_any() && presence.enter(1).is_none());
        drop(one);
        assert!(!presence.is_any() && presence.enter(1).is_some());
    }
}
