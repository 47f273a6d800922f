//! Locality of a reference's object: in this process or elsewhere.
//!
//! It is determined once for each reference, at its first call, from the reference itself: that
//! this ORB has created it; or else that its first profile names an endpoint where an ORB of the
//! process listens, whose adapter then knows the key. An object that is elsewhere stays there for
//! this reference.

use crate::adapter::Collocated;
use crate::broker::Broker;
use crate::client::RemoteObject;
use crate::config::CollocationScope;
use crate::orb::{self, Orb, UnproxiedObject};
use crate::policy::{self, Collocation, SyncScope};
use punctual_link::Address;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const UNKNOWN: u8 = 0;
const HERE: u8 = 1;
const ELSEWHERE: u8 = 2;

/// Locality of a reference's object, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Locality {
    state: AtomicU8,
    here: OnceLock<LocatedObject>,
    way: CachedCollocation,
    /// True if no proxy stands before the object.
    is_real: bool,
}

/// Object of this process.
pub(super) struct LocatedObject {
    pub(super) object: Arc<dyn Collocated>,
    /// Broker of the object's ORB, which is not kept alive.
    pub(super) broker: Arc<Broker>,
    /// True if interceptors of either end see calls.
    pub(super) is_intercepted: bool,
    /// True for a proxy, which is called whatever the policies.
    pub(super) is_proxy: bool,
}

/// Reference of a caller, for finding its object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) orb: &'a Orb,
    pub(crate) object: &'a RemoteObject,
    pub(crate) locality: &'a Locality,
    /// Time-out of the reference itself.
    pub(crate) timeout: Option<Duration>,
    /// True if the calling thread may wait for the reply.
    pub(crate) may_wait: bool,
}

impl Caller<'_> {
    /// Returns whether its calls end after a time.
    #[cold]
    pub(super) fn has_timeout(&self) -> bool {
        let lane = self.orb.lanes().calling();
        self.timeout.is_some() || self.object.effective(lane).roundtrip.is_some()
    }

    /// Returns whether the call is to be a request, as the servant's method may wait for others,
    /// and the caller must not. It is not if the object's ORB listens at no endpoint.
    #[cold]
    pub(super) fn must_not_wait(&self) -> bool {
        let endpoints = self.object.original().endpoints(self.orb.broker());
        endpoints.is_ok_and(|endpoints| !endpoints.is_empty())
    }

    /// Returns the SyncScope of a one-way.
    #[cold]
    pub(super) fn sync_scope(&self) -> Option<SyncScope> {
        let lane = self.orb.lanes().calling();
        self.object.effective(lane).sync_scope
    }

    /// Returns the collocation strategy for calls by the calling thread.
    #[inline]
    pub(super) fn way(&self) -> Collocation {
        let known = &self.locality.way;
        known.get_or(self.orb.broker(), || {
            let lane = self.orb.lanes().calling();
            self.object.effective(lane).collocation
        })
    }
}

impl Locality {
    /// Returns the locality of a reference by which a proxy calls its object.
    pub(crate) fn past_proxies() -> Self {
        Self {
            is_real: true,
            ..Self::default()
        }
    }

    /// Returns whether calls are to be requests.
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        // Relaxed: no other data depend on it.
        self.state.load(Ordering::Relaxed) == ELSEWHERE
    }

    /// Returns the object, if it is one of this process whose ORB still serves, and the caller's
    /// ORB still calls.
    #[inline]
    pub(super) fn here(&self, caller: Caller<'_>) -> Option<&LocatedObject> {
        let here = match self.here.get() {
            Some(here) => here,
            None => self.find(caller)?,
        };
        let own = caller.orb.broker();
        let calls = || here.broker.number() == own.number() || own.life.calls();
        (here.broker.life.serves() && calls()).then_some(here)
    }

    /// Makes all further calls requests.
    #[cold]
    pub(super) fn leave(&self) {
        self.state.store(ELSEWHERE, Ordering::Relaxed);
    }

    #[cold]
    fn find(&self, caller: Caller<'_>) -> Option<&LocatedObject> {
        let Some(found) = find(caller) else {
            self.leave();
            return None;
        };
        // Fails if another thread has meanwhile decided for requests.
        let _ = self
            .state
            .compare_exchange(UNKNOWN, HERE, Ordering::Relaxed, Ordering::Relaxed);
        Some(self.here.get_or_init(|| found))
    }
}

impl fmt::Debug for LocatedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocatedObject")
            .field("broker", &self.broker)
            .finish_non_exhaustive()
    }
}

fn find(caller: Caller<'_>) -> Option<LocatedObject> {
    let (own, target) = (caller.orb, caller.object.original());
    let make = match caller.locality.is_real {
        true => None,
        false => own.makes_proxies(&target.ior().type_id),
    };
    if let Some(make) = make {
        let (orb, object) = (own.clone(), caller.object.again());
        return Some(LocatedObject {
            object: make(UnproxiedObject { orb, object }),
            broker: own.shared_broker(),
            is_intercepted: false,
            is_proxy: true,
        });
    }
    if target.is_made_here() {
        let key = target.first_that_says(own.broker(), |profile| Some(profile.object_key));
        return here(own, own, &key?);
    }
    // The endpoints with which a call begins. Further ones are for failures there.
    let endpoints = target.endpoints(own.broker()).ok()?;
    let first = endpoints.first()?.profile;
    let mut places = endpoints.iter().filter(|one| one.profile == first);
    let orbs = match own.config().collocation_scope {
        CollocationScope::Orb => vec![own.clone()],
        CollocationScope::Process => orb::listening(),
    };
    let listens_at = |orb: &Orb, protocol: &str, address: &Address| {
        let mut lanes = orb.lanes().all();
        lanes.any(|lane| lane.incoming.endpoints.is_at(protocol, address))
    };
    places.find_map(|place| {
        orbs.iter()
            .filter(|orb| orb.is_same(own) || is_shared(orb))
            .filter(|orb| listens_at(orb, &place.pair.name, &place.address))
            .find_map(|orb| here(own, orb, &place.object_key))
    })
}

/// Returns whether an ORB's objects are available to other ORBs of the process.
fn is_shared(orb: &Orb) -> bool {
    orb.config().collocation_scope == CollocationScope::Process
}

fn here(caller: &Orb, orb: &Orb, object_key: &[u8]) -> Option<LocatedObject> {
    let broker = orb.shared_broker();
    Some(LocatedObject {
        object: orb.adapter()?.collocated(object_key)?,
        is_intercepted: !caller.broker().interceptors.leave_calls_alone()
            || !broker.interceptors.leave_requests_alone(),
        is_proxy: false,
        broker,
    })
}

/// Cached collocation strategy of calls through a reference by threads without policies of their
/// own, with the epoch of the ORB's policies: the effective policies are behind a lock-free
/// pointer, and reading that costs as much as the rest of a call.
#[derive(Debug, Default)]
pub(crate) struct CachedCollocation(AtomicU64);

impl CachedCollocation {
    #[inline]
    pub(crate) fn get_or(
        &self,
        broker: &Broker,
        find: impl FnOnce() -> Collocation,
    ) -> Collocation {
        if policy::has_own(&broker.policies) {
            return find();
        }
        // Read before the policies are, so that a change in between makes it look them up once
        // more.
        let epoch = broker.policies.epoch() << 2;
        // Relaxed: no other data depend on it.
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
