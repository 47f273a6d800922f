//! Policies of a thread.

use super::known_protocols::KnownProtocols;
use super::managed::Managed;
use super::{Policy, PolicyLevels, PolicySet, SetOverride};
use crate::exception::SystemException;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Access to the policies for the calls that the calling thread makes through an ORB.
pub struct PolicyCurrent<'o> {
    managed: &'o Managed,
    protocols: &'o dyn KnownProtocols,
}

/// Policies set by one thread for the calls through one ORB.
struct ThreadPolicies {
    orb: u64,
    /// Number that is unique among all sets of policies of all threads.
    stamp: u64,
    set: PolicySet,
}

static STAMPS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static MINE: RefCell<Vec<ThreadPolicies>> = const { RefCell::new(Vec::new()) };
    /// Number of ORBs for which the thread has policies, for a fast check, as few threads have any.
    /// The highest bit is set if the thread is in a scheduling segment.
    static SETS: Cell<usize> = const { Cell::new(0) };
}

/// Bit in `SETS`: the thread is in a scheduling segment.
const SEGMENT: usize = 1 << (usize::BITS - 1);
/// Bit in a stamp that is set if it belongs to a thread in a scheduling segment.
const OF_SEGMENT: u64 = 1 << 63;

/// Returns a stamp that identifies the calling thread's policies for an ORB; 0 if it has none. The
/// stamp also differs for threads in scheduling segments, so that being in a segment has the effect
/// of a policy.
#[inline]
pub(super) fn stamp(managed: &Managed) -> u64 {
    if SETS.get() == 0 {
        return 0;
    }
    own_stamp(managed.number())
}

fn own_stamp(number: u64) -> u64 {
    let of_segment = if is_in_segment() { OF_SEGMENT } else { 0 };
    MINE.with_borrow(|mine| {
        let found = mine.iter().find(|one| one.orb == number);
        found.map_or(0, |one| one.stamp) | of_segment
    })
}

/// Returns whether the calling thread is in a scheduling segment.
#[inline]
pub(crate) fn is_in_segment() -> bool {
    SETS.get() & SEGMENT != 0
}

/// Records for all ORBs whether the calling thread is in a scheduling segment (Real-time CORBA 1.2,
/// dynamic scheduling). For the scheduler of the thread (`punctual_rt`).
pub fn set_in_segment(is_in_one: bool) {
    let sets = SETS.get() & !SEGMENT;
    SETS.set(if is_in_one { sets | SEGMENT } else { sets });
}

/// Returns whether the calling thread has policies for an ORB.
#[inline]
pub(crate) fn has_own(managed: &Managed) -> bool {
    stamp(managed) != 0
}

/// Returns the policies that the calling thread has set for an ORB.
pub(super) fn set(managed: &Managed) -> PolicySet {
    let number = managed.number();
    MINE.with_borrow(|mine| {
        let found = mine.iter().find(|one| one.orb == number);
        found.map(|one| one.set.clone()).unwrap_or_default()
    })
}

/// Clears the calling thread's policies, so that policies set by one upcall or task do not apply to
/// the next.
pub(crate) fn forget_own() {
    MINE.with_borrow_mut(Vec::clear);
    SETS.set(SETS.get() & SEGMENT);
}

impl<'o> PolicyCurrent<'o> {
    pub(crate) fn new(managed: &'o Managed, protocols: &'o dyn KnownProtocols) -> Self {
        Self { managed, protocols }
    }

    /// Sets policies for the calling thread, for calls from now on.
    ///
    /// # Errors
    /// INV_POLICY for a policy that is invalid, or of a type that the ORB does not know; BAD_PARAM
    /// for two policies of one type.
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<(), SystemException> {
        let at = (PolicyLevels::THREAD, self.managed.types());
        let next = set(self.managed).overridden(policies, how, at, self.protocols)?;
        let number = self.managed.number();
        MINE.with_borrow_mut(|mine| {
            mine.retain(|one| one.orb != number);
            if next.iter().next().is_some() {
                mine.push(ThreadPolicies {
                    orb: number,
                    stamp: STAMPS.fetch_add(1, Ordering::Relaxed),
                    set: next,
                });
            }
            SETS.set(SETS.get() & SEGMENT | mine.len());
        });
        Ok(())
    }

    /// Returns the calling thread's policies of the given types; all, if none is given.
    #[must_use]
    pub fn policy_overrides(&self, types: &[u32]) -> Vec<Policy> {
        set(self.managed).of_types(types)
    }
}

impl fmt::Debug for PolicyCurrent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyCurrent")
            .field("set", &set(self.managed))
            .finish_non_exhaustive()
    }
}
