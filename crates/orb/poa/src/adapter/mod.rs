//! Adapters: the tree of them, and how a request gets through one to a servant.
//!
//! [`root`] finds the adapter that a key names ([`table`], [`tree`]); [`serve`] takes the request from there:
//! past the manager, to an object of the map or to what [`servant_managers`] come up with, by a thread that
//! [`threads`] allows. [`destruction`] ends adapters.

mod compared;
mod destruction;
mod etherealizer;
mod keyed_lock;
mod local;
mod naming;
mod operation_tables;
mod outstanding;
mod root;
mod servant_managers;
mod servant_sources;
mod serve;
mod table;
mod threads;
mod tree;

pub(crate) use compared::ByStrategy;
pub(crate) use root::{Root, initialize, root_named};
pub(crate) use serve::{Request, Wanted};
pub(crate) use tree::NotMade;

use crate::key::AdapterName;
use crate::manager::PoaManager;
use crate::object_map::{ActiveMap, DuplicateId, Ids, Servants, Strategy};
use crate::poa::Poa;
use crate::policy::{
    Demultiplexing, OperationDemultiplexing, Policies, RequestProcessingPolicy, ThreadPolicy,
};
use destruction::Destruction;
use etherealizer::Etherealizer;
use naming::Naming;
use operation_tables::OperationTables;
use outstanding::OutstandingRequests;
use punctual_orb::{
    AdapterPolicies, CompletionStatus, SystemException, SystemExceptionKind as Kind, minor,
};
use servant_sources::ServantSources;
use std::fmt;
use std::sync::{Arc, Weak};
use threads::Threads;
use tree::Children;

/// An adapter as the ORB holds it; [`Poa`] is what applications hold.
pub(crate) struct Adapter {
    me: Weak<Adapter>,
    root: Weak<Root>,
    pub(crate) key_name: AdapterName,
    pub(crate) name: String,
    naming: Naming,
    pub(crate) parent: Option<Arc<Adapter>>,
    pub(crate) children: Children,
    pub(crate) policies: Policies,
    /// Those whose types the ORB was told of.
    pub(crate) defined: AdapterPolicies,
    pub(crate) manager: PoaManager,
    way: Way,
    /// With RETAIN.
    map: Option<ActiveMap>,
    destruction: Destruction,
    outstanding: OutstandingRequests,
    threads: Threads,
    servants: ServantSources,
    operations: OperationTables,
}

/// The way of its requests, which is decided when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// They need nothing but the map and an active manager.
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
        let above = parts.parent.as_deref();
        let naming = Naming::new(root.nonce, above, &parts.name, &policies);
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            way: Way::of(&policies),
            naming,
            map,
            threads: Threads::new(policies.thread),
            me: me.clone(),
            root: root.me(),
            key_name,
            children: Children::default(),
            manager: parts.manager,
            destruction: Destruction::default(),
            outstanding: OutstandingRequests::default(),
            servants: ServantSources::default(),
            operations: OperationTables::default(),
            policies,
            defined: parts.defined,
            name: parts.name,
            parent: parts.parent,
        })
    }

    /// The map, where the adapter retains servants.
    pub(crate) fn map(&self) -> Option<&ActiveMap> {
        self.map.as_ref()
    }

    /// The adapter as an application sees it; `None` when the ORB is over.
    pub(crate) fn poa(&self) -> Option<Poa> {
        let root = self.root.upgrade()?;
        let orb = root.orb()?;
        Some(Poa::new(orb, root, self.me.upgrade()?))
    }

    /// Returns when no request is in progress, or there is no use in waiting for that: whoever makes that so
    /// calls [`Adapter::wake_waiting`].
    pub(crate) fn wait_until_idle_or(&self, useless: &dyn Fn() -> bool) {
        self.outstanding.wait_until_empty_or(useless);
        if let Some(map) = &self.map {
            map.wait_until_unpinned(useless);
        }
    }

    pub(crate) fn wake_waiting(&self) {
        self.outstanding.wake();
        if let Some(map) = &self.map {
            map.wake_waiting();
        }
    }
}

/// The map that goes with the policies.
fn map(policies: &Policies, etherealizer: Etherealizer) -> Result<ActiveMap, DuplicateId> {
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
    ActiveMap::new(&strategy, ids, servants, Box::new(etherealizer))
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
