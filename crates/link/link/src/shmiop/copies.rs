//! Counters of copied bytes, which distinguish zero-copy from one copy.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Number of bytes that a link's connections have copied so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Number of bytes copied from messages to the ring buffers.
    pub into_ring: u64,
    /// Number of bytes copied from peers' ring buffers to receive buffers.
    pub out_of_ring: u64,
    /// Number of bytes copied from applications' memory to the shared pools, the common one included.
    pub into_pool: u64,
    /// Number of bytes copied from peers' shared pools to private memory.
    pub out_of_pool: u64,
}

/// Counters of one connection, also for memory it lent that outlives it. Each connection has its
/// own, so that none slows another down.
#[derive(Debug)]
pub(super) struct Copies {
    pub(super) into_ring: Count,
    pub(super) out_of_ring: Count,
    pub(super) into_pool: Count,
    pub(super) out_of_pool: Count,
    counters: Arc<CopyCounters>,
}

/// Counter. It publishes nothing else, so relaxed is enough.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, octets: usize) {
        self.0.fetch_add(octets as u64, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters of the bytes copied by a link's connections, closed ones included.
#[derive(Debug, Default)]
pub(super) struct CopyCounters(Mutex<Accounts>);

#[derive(Debug, Default)]
struct Accounts {
    gone: Copied,
    living: Vec<Weak<Copies>>,
}

impl CopyCounters {
    /// Makes the counters of copied bytes for a new connection.
    pub(super) fn open(self: &Arc<Self>) -> Arc<Copies> {
        let copies = Arc::new(Copies {
            into_ring: Count::default(),
            out_of_ring: Count::default(),
            into_pool: Count::default(),
            out_of_pool: Count::default(),
            counters: self.clone(),
        });
        let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.living.push(Arc::downgrade(&copies));
        copies
    }

    pub(super) fn total(&self) -> Copied {
        let accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut total = accounts.gone;
        let living: Vec<_> = accounts.living.iter().filter_map(Weak::upgrade).collect();
        // The last holder of one of them takes the lock to close it.
        drop(accounts);
        for copies in living {
            total.add(&copies);
        }
        total
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        let mut accounts = self
            .counters
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        accounts.gone.add(self);
        accounts.living.retain(|one| one.strong_count() > 0);
    }
}

impl Copied {
    fn add(&mut self, copies: &Copies) {
        self.into_ring += copies.into_ring.now();
        self.out_of_ring += copies.out_of_ring.now();
        self.into_pool += copies.into_pool.now();
        self.out_of_pool += copies.out_of_pool.now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_connections_that_are_gone_stay_in_the_total() {
        let counters = Arc::<CopyCounters>::default();
        let (one, other) = (counters.open(), counters.open());
        one.into_ring.add(5);
        other.into_ring.add(7);
        drop(one);
        other.out_of_pool.add(1);
        let expected = Copied {
            into_ring: 12,
            out_of_pool: 1,
            ..Copied::default()
        };
        assert_eq!(counters.total(), expected);
    }
}
