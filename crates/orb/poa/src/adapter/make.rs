//! Construction of adapters, and of their maps, by their policies.

use super::destruction::Destruction;
use super::etherealizer::Etherealizer;
use super::keyed_lock::KeyedLock;
use super::naming::Naming;
#[cfg(feature = "comparison")]
use super::operation_tables::OperationTables;
use super::outstanding::OutstandingRequests;
use super::request_path::RequestPath;
use super::threads::Threads;
use super::types::{Adapter, Dispatch, OrbAdapters, Parts, ServantSources, TreeNode};
use crate::key::AdapterId;
use crate::object_map::{ActiveMap, DuplicateId, Ids, Servants, Strategy};
use crate::own_policies::OwnPoliciesOfObjects;
#[cfg(feature = "comparison")]
use crate::policy::Demultiplexing;
use crate::policy::{Policies, RequestProcessingPolicy};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

impl Adapter {
    pub(super) fn new(
        common: &Arc<OrbAdapters>,
        id: AdapterId,
        parts: Parts,
        map: Option<ActiveMap>,
    ) -> Arc<Self> {
        let policies = parts.policies;
        let above = parts.parent.as_deref().map(Self::path);
        let naming = Naming::new(id, above, parts.name, &policies);
        let dispatch = Dispatch {
            path: RequestPath::of(&policies, parts.around.is_some()),
            threads: Threads::new(policies.thread),
            map,
            #[cfg(feature = "comparison")]
            operations: OperationTables::default(),
            around: parts.around,
        };
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            me: me.clone(),
            common: common.clone(),
            naming,
            tree: TreeNode::below(parts.parent),
            policies,
            defined: parts.defined,
            factory: parts.factory,
            own: OwnPoliciesOfObjects::default(),
            manager: parts.manager,
            dispatch,
            servants: ServantSources::default(),
            outstanding: OutstandingRequests::default(),
            destruction: Destruction::default(),
        })
    }
}

impl TreeNode {
    fn below(parent: Option<Arc<Adapter>>) -> Self {
        Self {
            parent,
            children: Mutex::default(),
            activator: Mutex::default(),
            activations: KeyedLock::default(),
        }
    }
}

/// Makes the object map that the policies require; `None` without RETAIN.
pub(super) fn map(
    policies: &Policies,
    etherealizer: Etherealizer,
) -> Result<ActiveMap, DuplicateId> {
    let strategy = strategy(policies);
    let ids = match policies.has_system_ids() && !policies.is_persistent() {
        true => Ids::System,
        false => Ids::User,
    };
    let servants = match policies.processing {
        _ if policies.is_unique() => Servants::Unique,
        RequestProcessingPolicy::ServantManager => Servants::Counted,
        _ => Servants::NotIndexed,
    };
    ActiveMap::new(&strategy, ids, servants, Box::new(etherealizer))
}

#[cfg(feature = "comparison")]
fn strategy(policies: &Policies) -> Strategy {
    match &policies.demultiplexing {
        Demultiplexing::Active => Strategy::Active,
        Demultiplexing::Linear => Strategy::Linear,
        Demultiplexing::DynamicHash => Strategy::DynamicHash,
        Demultiplexing::PerfectHash(ids) => {
            Strategy::PerfectHash(ids.iter().map(|id| id.as_bytes().into()).collect())
        }
        Demultiplexing::DeLayered => Strategy::DeLayered,
    }
}

#[cfg(not(feature = "comparison"))]
fn strategy(_: &Policies) -> Strategy {
    Strategy::Active
}
