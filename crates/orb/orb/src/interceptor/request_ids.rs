//! Ids of requests in progress, for interceptors.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::LocalKey;

/// Number of ids that a thread takes at once, so that threads rarely write the same memory.
const BLOCK: u32 = 1024;

/// Ids of one side's requests: unique among those in progress.
pub(super) struct RequestIds {
    /// First id that no thread has taken.
    next: &'static AtomicU32,
    /// Last id that the calling thread has used; 0 before its first one.
    of_thread: &'static LocalKey<Cell<u32>>,
}

thread_local! {
    static CLIENT: Cell<u32> = const { Cell::new(0) };
    static SERVER: Cell<u32> = const { Cell::new(0) };
}

impl RequestIds {
    /// Ids of the calls that clients make.
    pub(super) const CLIENT: Self = Self {
        next: {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            &NEXT
        },
        of_thread: &CLIENT,
    };
    /// Ids of the requests that servers serve.
    pub(super) const SERVER: Self = Self {
        next: {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            &NEXT
        },
        of_thread: &SERVER,
    };

    /// Returns an id that no request in progress has.
    #[inline]
    pub(super) fn next(&self) -> u32 {
        let next = self.of_thread.get().wrapping_add(1);
        let id = match next % BLOCK {
            // The thread has no block yet, or has used up its block.
            0 | 1 => self.second_of_block(),
            _ => next,
        };
        self.of_thread.set(id);
        id
    }

    /// Takes a block, and returns its second id. The first one is not used: the thread could not tell
    /// it from having no block.
    #[cold]
    fn second_of_block(&self) -> u32 {
        // Relaxed: only uniqueness matters.
        self.next
            .fetch_add(BLOCK, Ordering::Relaxed)
            .wrapping_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_requests_have_the_same_id() {
        let take = || -> Vec<u32> { (0..3 * BLOCK).map(|_| RequestIds::CLIENT.next()).collect() };
        let threads: Vec<_> = (0..3).map(|_| std::thread::spawn(take)).collect();
        let taken: Vec<u32> = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        let different: HashSet<&u32> = taken.iter().collect();
        assert_eq!(different.len(), taken.len());
        assert!(!different.contains(&0));
    }
}
