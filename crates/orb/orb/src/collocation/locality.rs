//! Whether a reference's object is one of this process.
//!
//! Found out once for each reference, at its first call, from what the reference says itself: that this ORB
//! has made it; or else that its first profile names a place where an ORB of the process listens, whose
//! adapter then knows the key. An object that is elsewhere stays there for this reference.

use super::process;
use super::seam::Collocated;
use crate::config::CollocationScope;
use crate::orb::Orb;
use crate::policy::{self, Collocation};
use crate::reference::ObjectRef;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const UNKNOWN: u8 = 0;
const HERE: u8 = 1;
const ELSEWHERE: u8 = 2;

/// What a reference knows of where its object is.
#[derive(Debug, Default)]
pub(crate) struct Locality {
    state: AtomicU8,
    here: OnceLock<Here>,
    pub(crate) way: Way,
}

/// An object of this process.
pub(super) struct Here {
    pub(super) object: Arc<dyn Collocated>,
    /// The number of its ORB, which is not kept alive.
    pub(super) orb: u64,
    pulse: Arc<Pulse>,
}

impl Locality {
    /// Whether calls are to be requests.
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        // Relaxed: nothing else is read by it.
        self.state.load(Ordering::Relaxed) == ELSEWHERE
    }

    /// The object, if it is one of this process whose ORB still serves, and the reference's still calls.
    #[inline]
    pub(super) fn here(&self, object: &ObjectRef) -> Option<&Here> {
        let here = match self.here.get() {
            Some(here) => here,
            None => self.find(object)?,
        };
        let calls = || here.orb == object.orb().number() || object.orb().pulse().calls();
        (here.pulse.serves() && calls()).then_some(here)
    }

    /// Calls are requests from now on.
    #[cold]
    pub(super) fn leave(&self) {
        self.state.store(ELSEWHERE, Ordering::Relaxed);
    }

    #[cold]
    fn find(&self, object: &ObjectRef) -> Option<&Here> {
        let Some(found) = find(object) else {
            self.leave();
            return None;
        };
        // Unless another thread has found meanwhile that requests are to be sent.
        let _ = self
            .state
            .compare_exchange(UNKNOWN, HERE, Ordering::Relaxed, Ordering::Relaxed);
        Some(self.here.get_or_init(|| found))
    }
}

impl fmt::Debug for Here {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Here")
            .field("orb", &self.orb)
            .finish_non_exhaustive()
    }
}

fn find(object: &ObjectRef) -> Option<Here> {
    let own = object.orb();
    if object.original().is_made_here() {
        return here(own, &object.object_key()?);
    }
    // Where a call would begin. Those behind are for when it fails there.
    let endpoints = object.original().endpoints(own).ok()?;
    let first = endpoints.first()?.profile;
    let places = endpoints.iter().filter(|one| one.profile == first);
    let orbs = match own.config().collocation_scope {
        CollocationScope::Orb => vec![own.clone()],
        CollocationScope::Process => process::listening(),
    };
    places.into_iter().find_map(|place| {
        orbs.iter()
            .filter(|orb| orb.is_same(own) || is_shared(orb))
            .filter(|orb| orb.lane().listening.is_at(&place.pair.name, &place.address))
            .find_map(|orb| here(orb, &place.object_key))
    })
}

/// Whether an ORB's objects are for other ORBs of the process, too.
fn is_shared(orb: &Orb) -> bool {
    orb.config().collocation_scope == CollocationScope::Process
}

fn here(orb: &Orb, object_key: &[u8]) -> Option<Here> {
    Some(Here {
        object: orb.adapter()?.collocated(object_key)?,
        orb: orb.number(),
        pulse: orb.pulse().clone(),
    })
}

/// How calls through a reference go by threads that have no policies of their own, and under which policies of
/// the ORB that was found out: what is effective is behind a lock-free pointer, and to read that costs as
/// much as the rest of a call.
#[derive(Debug, Default)]
pub(crate) struct Way(AtomicU64);

impl Way {
    #[inline]
    pub(crate) fn get_or(&self, orb: &Orb, find: impl FnOnce() -> Collocation) -> Collocation {
        if policy::has_own(orb.managed_policies()) {
            return find();
        }
        // Read before the policies are: a change meanwhile makes it found out once more.
        let epoch = orb.managed_policies().epoch() << 2;
        // Relaxed: it stands for itself alone.
        let known = self.0.load(Ordering::Relaxed);
        match known.wrapping_sub(epoch) {
            1 => Collocation::ThruPoa,
            2 => Collocation::Direct,
            3 => Collocation::None,
            _ => {
                let way = find();
                let number = match way {
                    Collocation::ThruPoa => 1,
                    Collocation::Direct => 2,
                    Collocation::None => 3,
                };
                self.0.store(epoch | number, Ordering::Relaxed);
                way
            }
        }
    }
}

/// Whether an ORB serves and calls, for those who hold it no more than by this.
#[derive(Debug, Default)]
pub(crate) struct Pulse(AtomicU8);

impl Pulse {
    const SERVES: u8 = 0;
    const CALLS: u8 = 1;
    const OVER: u8 = 2;

    /// It shuts down: calls in progress may still need others.
    pub(crate) fn stops_serving(&self) {
        self.0.store(Self::CALLS, Ordering::Release);
    }

    pub(crate) fn ends(&self) {
        self.0.store(Self::OVER, Ordering::Release);
    }

    // Acquire pairs with the Releases above: who sees the end sees what led to it.

    #[inline]
    fn serves(&self) -> bool {
        self.0.load(Ordering::Acquire) == Self::SERVES
    }

    #[inline]
    fn calls(&self) -> bool {
        self.0.load(Ordering::Acquire) != Self::OVER
    }
}
