//! Locality of a reference's object: in this process or elsewhere.
//!
//! It is determined once for each reference, at its first call. The object is in this process if
//! this ORB has created the reference, or if the first profile names an endpoint at which an ORB of
//! the process listens, and the adapter of that ORB knows the object key. Once found to be
//! elsewhere, an object is treated as remote for the lifetime of the reference.

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

/// Locality of a reference's object, as far as it has been determined.
#[derive(Debug, Default)]
pub(crate) struct Locality {
    state: AtomicU8,
    here: OnceLock<LocatedObject>,
    way: CachedCollocation,
    /// True if a smart proxy makes its calls by this reference, so that they bypass proxies.
    is_real: bool,
}

/// Object found in this process.
pub(super) struct LocatedObject {
    pub(super) object: Arc<dyn Collocated>,
    /// Broker of the object's ORB. The handle does not keep the ORB alive.
    pub(super) broker: Arc<Broker>,
    /// True if interceptors of either end must be called.
    pub(super) is_intercepted: bool,
    /// True for a smart proxy, which is called whatever the collocation policy.
    pub(super) is_proxy: bool,
}

/// Caller of an object that may be in this process: its ORB, and the reference that it calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) orb: &'a Orb,
    pub(crate) object: &'a RemoteObject,
    pub(crate) locality: &'a Locality,
    /// Time-out that is set for calls through the reference.
    pub(crate) timeout: Option<Duration>,
    /// True if the calling thread may block until a servant that answers later has answered.
    pub(crate) may_wait: bool,
}

impl Caller<'_> {
    /// Returns whether calls through the reference have a time-out.
    #[cold]
    pub(super) fn has_timeout(&self) -> bool {
        let lane = self.orb.lanes().calling();
        self.timeout.is_some() || self.object.effective(lane).roundtrip.is_some()
    }

    /// Returns whether the call must be a request, because the servant's method may block on
    /// another thread and the caller must not. Returns `false` if the object's ORB has no endpoint
    /// that a request could be sent to.
    #[cold]
    pub(super) fn must_not_wait(&self) -> bool {
        let endpoints = self.object.original().endpoints(self.orb.broker());
        endpoints.is_ok_and(|endpoints| !endpoints.is_empty())
    }

    /// Returns the SyncScope policy for one-way calls through the reference.
    #[cold]
    pub(super) fn sync_scope(&self) -> Option<SyncScope> {
        let lane = self.orb.lanes().calling();
        self.object.effective(lane).sync_scope
    }

    /// Returns the collocation strategy for calls through the reference by the calling thread.
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
    /// Returns the locality for a reference by which a smart proxy calls its object.
    pub(crate) fn past_proxies() -> Self {
        Self {
            is_real: true,
            ..Self::default()
        }
    }

    /// Returns whether calls through the reference are known to be requests.
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        // Relaxed: no other data depend on it.
        self.state.load(Ordering::Relaxed) == ELSEWHERE
    }

    /// Returns the object if it is in this process, its ORB still serves requests, and the caller's
    /// ORB still makes calls.
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

    /// Makes all further calls through the reference by requests.
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
    // Which member is called is decided by the group, not by where the caller is.
    if own.broker().groups().is_some() && target.stated().group.is_some() {
        return None;
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

/// Returns whether other ORBs of the process may call an ORB's objects without a request.
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
/// pointer, and reading that would cost as much as the rest of a call.
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
