//! Adapters: the tree of them, and how a request gets through one to a servant.
//!
//! [`root`] finds the adapter that a key names ([`table`], [`tree`]); [`serve`] takes the request from there:
//! past the manager's door, to an object of the map or to what [`provide`] comes up with, by a thread that
//! [`threads`] allows. [`life`] ends adapters.

mod compared;
mod departure;
mod guests;
mod life;
mod local;
mod provide;
mod root;
mod serve;
mod table;
mod threads;
mod tree;
mod turns;

pub(crate) use compared::ByStrategy;
pub(crate) use root::{Root, initialize, root_named};
pub(crate) use serve::{Request, Wanted};
pub(crate) use tree::NotMade;

use crate::key::{self, AdapterName, Nonce};
use crate::manager::PoaManager;
use crate::object_id::ObjectId;
use crate::object_map::{ActiveMap, DuplicateId, Ids, Place, Servants, Strategy};
use crate::poa::Poa;
use crate::policy::{
    Demultiplexing, OperationDemultiplexing, Policies, RequestProcessingPolicy, ThreadPolicy,
};
use crate::servant::Servant;
use crate::servant_manager::{AdapterActivator, ServantManager};
use crate::upcall::OperationTables;
use arc_swap::ArcSwapOption;
use departure::Departure;
use guests::Guests;
use life::Life;
use parking_lot::Mutex;
use punctual_orb::{
    AdapterPolicies, CompletionStatus, SystemException, SystemExceptionKind as Kind, minor,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use threads::Threads;
use turns::Turns;

/// An adapter as the ORB holds it; [`Poa`] is what applications hold.
pub(crate) struct Adapter {
    me: Weak<Adapter>,
    root: Weak<Root>,
    nonce: Nonce,
    pub(crate) key_name: AdapterName,
    pub(crate) name: String,
    /// The names from the root down, each ended by a NUL.
    path: Box<[u8]>,
    pub(crate) parent: Option<Arc<Adapter>>,
    children: Mutex<BTreeMap<String, Arc<Adapter>>>,
    pub(crate) policies: Policies,
    /// Those whose types the ORB was told of.
    pub(crate) defined: AdapterPolicies,
    pub(crate) manager: PoaManager,
    way: Way,
    /// Whether an object's place in the map is all of its id.
    ids_are_places: bool,
    /// With RETAIN.
    map: Option<ActiveMap>,
    life: Life,
    guests: Guests,
    threads: Threads,
    pub(crate) activator: Mutex<Option<Arc<dyn AdapterActivator>>>,
    /// Set once, and let go at the end.
    servant_manager: ArcSwapOption<ServantManager>,
    default_servant: ArcSwapOption<Arc<dyn Servant>>,
    /// It was told to give back all servants, for good.
    cleared: AtomicBool,
    incarnating: Turns,
    /// Children that the activator is asked for.
    asking: Turns,
    operations: OperationTables,
    /// Ids that were assigned and are no places.
    assigned: AtomicU64,
}

/// The way of its requests, which is decided when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// They need nothing but the map and the manager's door.
    Plain,
    /// They are counted at the adapter: other things may serve them, or only some threads.
    Counted,
    /// So they are, and objects or operations are found by a strategy for comparison.
    Compared,
}

impl Way {
    fn of(policies: &Policies) -> Self {
        let is_compared = policies.demultiplexing != Demultiplexing::Active
            || policies.operations != OperationDemultiplexing::Compiled;
        match policies.thread {
            _ if is_compared => Self::Compared,
            ThreadPolicy::OrbControl if policies.retains() => Self::Plain,
            _ => Self::Counted,
        }
    }
}

/// What an adapter is made of.
struct Parts {
    name: String,
    parent: Option<Arc<Adapter>>,
    policies: Policies,
    defined: AdapterPolicies,
    manager: PoaManager,
}

impl Adapter {
    fn new(root: &Root, key_name: AdapterName, parts: Parts, map: Option<ActiveMap>) -> Arc<Self> {
        let policies = parts.policies;
        let is_active = policies.demultiplexing == Demultiplexing::Active;
        let path = match &parts.parent {
            Some(parent) => [&parent.path, parts.name.as_bytes(), &[0]].concat().into(),
            None => Box::default(),
        };
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            way: Way::of(&policies),
            ids_are_places: policies.retains()
                && is_active
                && policies.has_system_ids()
                && !policies.is_persistent(),
            map,
            threads: Threads::new(policies.thread),
            me: me.clone(),
            root: root.me(),
            nonce: root.nonce,
            key_name,
            name: parts.name,
            path,
            parent: parts.parent,
            children: Mutex::default(),
            manager: parts.manager,
            life: Life::default(),
            guests: Guests::default(),
            activator: Mutex::default(),
            servant_manager: ArcSwapOption::empty(),
            default_servant: ArcSwapOption::empty(),
            cleared: AtomicBool::new(false),
            incarnating: Turns::default(),
            asking: Turns::default(),
            operations: OperationTables::default(),
            assigned: AtomicU64::new(0),
            policies,
            defined: parts.defined,
        })
    }

    /// The map, where the adapter retains servants.
    pub(crate) fn map(&self) -> Option<&ActiveMap> {
        self.map.as_ref()
    }

    /// What identifies it to others of the process (`the_POA::id`): its name in keys.
    pub(crate) fn id(&self) -> Vec<u8> {
        let AdapterName { index, serial } = self.key_name;
        [
            &self.nonce.octets()[..],
            &index.to_be_bytes(),
            &serial.to_be_bytes(),
        ]
        .concat()
    }

    /// Whether the map assigns ids, by its places: not where they are to hold after a restart.
    pub(crate) fn map_assigns_ids(&self) -> bool {
        self.policies.has_system_ids() && self.policies.retains() && !self.policies.is_persistent()
    }

    /// An id that no other object has, nor had before a restart.
    pub(crate) fn assign_id(&self) -> ObjectId {
        let number = self.assigned.fetch_add(1, Ordering::Relaxed);
        let id = [self.nonce.octets(), number.to_be_bytes()];
        id.as_flattened().into()
    }

    /// Whether this adapter may have assigned the id, as far as can be told: one of a persistent adapter's
    /// may be from before a restart.
    pub(crate) fn may_have_assigned(&self, id: &ObjectId) -> bool {
        let id = id.as_bytes();
        if self.map_assigns_ids()
            && let Some(map) = &self.map
        {
            return Place::of(id).is_some_and(|place| map.has_been(place));
        }
        id.len() == 16 && (self.policies.is_persistent() || id.starts_with(&self.nonce.octets()))
    }

    /// The key of the object at a place.
    pub(crate) fn key_of(&self, place: Place, id: Option<&[u8]>) -> Vec<u8> {
        match id {
            None if self.ids_are_places => key::placed(self.nonce, self.key_name, place),
            None => self.key(&place.octets(), Some(place)),
            Some(id) => self.key(id, Some(place)),
        }
    }

    /// The key of an object by its id, and by the place that it has, if it has one.
    pub(crate) fn key(&self, id: &[u8], place: Option<Place>) -> Vec<u8> {
        if self.policies.is_persistent() {
            return key::persistent(&self.path, id);
        }
        key::named(self.nonce, self.key_name, place, id)
    }

    /// The adapter as an application sees it; `None` when the ORB is over.
    pub(crate) fn poa(&self) -> Option<Poa> {
        let root = self.root.upgrade()?;
        let orb = root.orb()?;
        Some(Poa::new(orb, root, self.me.upgrade()?))
    }

    pub(crate) fn is_of(&self, nonce: Nonce) -> bool {
        self.nonce == nonce
    }

    pub(crate) fn is_at(&self, path: &[u8]) -> bool {
        self.policies.is_persistent() && *self.path == *path
    }

    pub(crate) fn nonce(&self) -> Nonce {
        self.nonce
    }

    /// Returns when no request is in progress, or there is no use in waiting for that: whoever makes that so
    /// calls [`Adapter::wake_waiting`].
    pub(crate) fn wait_until_idle_or(&self, useless: &dyn Fn() -> bool) {
        self.guests.wait_until_empty_or(useless);
        if let Some(map) = &self.map {
            map.wait_until_left(useless);
        }
    }

    pub(crate) fn wake_waiting(&self) {
        self.guests.wake();
        if let Some(map) = &self.map {
            map.wake_waiting();
        }
    }

    pub(crate) fn servant_manager(&self) -> Option<ServantManager> {
        self.servant_manager.load().as_deref().cloned()
    }

    /// The servant manager, which is set once; `false` when it was.
    pub(crate) fn set_servant_manager(&self, manager: ServantManager) -> bool {
        let nothing = None::<Arc<ServantManager>>;
        let before = self
            .servant_manager
            .compare_and_swap(&nothing, Some(Arc::new(manager)));
        before.is_none()
    }

    /// Lets go of what served requests that are all over.
    fn let_servants_go(&self) {
        self.servant_manager.store(None);
        self.set_default_servant(None);
    }

    pub(crate) fn default_servant(&self) -> Option<Arc<dyn Servant>> {
        self.default_servant.load().as_deref().cloned()
    }

    pub(crate) fn set_default_servant(&self, servant: Option<Arc<dyn Servant>>) {
        self.default_servant.store(servant.map(Arc::new));
    }
}

/// The map that goes with the policies.
fn map(policies: &Policies, departure: Departure) -> Result<ActiveMap, DuplicateId> {
    let strategy = match &policies.demultiplexing {
        Demultiplexing::Active => Strategy::Active,
        Demultiplexing::Linear => Strategy::Linear,
        Demultiplexing::DynamicHash => Strategy::DynamicHash,
        Demultiplexing::PerfectHash(ids) => {
            Strategy::PerfectHash(ids.iter().map(|id| id.as_bytes().into()).collect())
        }
        Demultiplexing::DeLayered => Strategy::DeLayered,
    };
    let ids = match policies.has_system_ids() && !policies.is_persistent() {
        true => Ids::System,
        false => Ids::User,
    };
    let servants = match policies.processing {
        _ if policies.is_unique() => Servants::Unique,
        RequestProcessingPolicy::ServantManager => Servants::Counted,
        _ => Servants::Unnoted,
    };
    ActiveMap::new(&strategy, ids, servants, Box::new(departure))
}

/// What the operations of an adapter raise that is destroyed.
pub(crate) fn is_gone(name: &str) -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NO_ADAPTER,
        CompletionStatus::No,
    )
    .with_detail(format!("the POA `{name}` is destroyed"))
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("name", &self.name)
            .field("policies", &self.policies)
            .finish_non_exhaustive()
    }
}
