//! The policies of a thread.

use super::{Policy, PolicySet, SetOverride};
use crate::broker::Broker;
use crate::exception::SystemException;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

/// Sets policies for the calls that the calling thread makes through an ORB.
#[derive(Debug)]
pub struct PolicyCurrent<'o> {
    broker: &'o Broker,
}

/// A thread's policies for one ORB.
struct Mine {
    orb: u64,
    /// No other set of policies of any thread ever has it.
    stamp: u64,
    set: PolicySet,
}

static STAMPS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static MINE: RefCell<Vec<Mine>> = const { RefCell::new(Vec::new()) };
    /// For how many ORBs, for a glance: few threads have any.
    static SETS: Cell<usize> = const { Cell::new(0) };
}

/// Tells the calling thread's policies for an ORB from all others; 0 when it has none.
#[inline]
pub(super) fn stamp(broker: &Broker) -> u64 {
    if SETS.get() == 0 {
        return 0;
    }
    own_stamp(broker.number())
}

fn own_stamp(number: u64) -> u64 {
    MINE.with_borrow(|mine| {
        let found = mine.iter().find(|one| one.orb == number);
        found.map_or(0, |one| one.stamp)
    })
}

/// Whether the calling thread has policies for an ORB.
#[inline]
pub(crate) fn has_own(broker: &Broker) -> bool {
    stamp(broker) != 0
}

/// The calling thread's policies for an ORB.
pub(super) fn set(broker: &Broker) -> PolicySet {
    let number = broker.number();
    MINE.with_borrow(|mine| {
        let found = mine.iter().find(|one| one.orb == number);
        found.map(|one| one.set.clone()).unwrap_or_default()
    })
}

impl<'o> PolicyCurrent<'o> {
    pub(crate) fn new(broker: &'o Broker) -> Self {
        Self { broker }
    }

    /// Sets policies for the calling thread, for calls from now on.
    ///
    /// # Errors
    /// INV_POLICY for one that cannot be obeyed, BAD_PARAM for two on one matter.
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<(), SystemException> {
        let registry = self.broker.protocols.now();
        let next = set(self.broker).overridden(policies, how, &registry)?;
        let number = self.broker.number();
        MINE.with_borrow_mut(|mine| {
            mine.retain(|one| one.orb != number);
            if next.iter().next().is_some() {
                mine.push(Mine {
                    orb: number,
                    stamp: STAMPS.fetch_add(1, Ordering::Relaxed),
                    set: next,
                });
            }
            SETS.set(mine.len());
        });
        Ok(())
    }

    /// The calling thread's policies, of the given types; all, if none is given.
    #[must_use]
    pub fn policy_overrides(&self, types: &[u32]) -> Vec<Policy> {
        set(self.broker).of_types(types)
    }
}
