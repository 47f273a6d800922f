//! State that the parts of a service share.

use std::sync::OnceLock;

use parking_lot::{Mutex, RwLock};
use punctual_groups::Groups;
use punctual_host::commit::Commits;

use super::expiry::Expiry;
use super::following::Following;
use crate::access::Access;
use crate::group_service::GroupService;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::observe::Observers;
use crate::refusal::Refusal;
use crate::store::{ContextId, Store};
use crate::tree::{Done, Operation, Tree};

pub(super) struct State {
    pub(super) tree: RwLock<Tree>,
    pub(super) store: Box<dyn Store>,
    pub(super) commits: Commits<Operation, Result<Done, Refusal>>,
    pub(super) limits: RwLock<Limits>,
    pub(super) access: RwLock<Access>,
    pub(super) metrics: Metrics,
    pub(super) observers: Observers,
    pub(super) expiry: Expiry,
    pub(super) groups: Groups<ContextId>,
    /// Reference of the group service that is to have the groups, until the names are served.
    pub(super) group_service_at: Mutex<Option<String>>,
    /// Group service that has the groups, if one does.
    pub(super) group_service: OnceLock<GroupService>,
    pub(super) following: Following,
}

impl State {
    pub(super) fn new(store: Box<dyn Store>, tree: Tree) -> Self {
        Self {
            tree: RwLock::new(tree),
            store,
            commits: Commits::new(),
            limits: RwLock::default(),
            access: RwLock::default(),
            metrics: Metrics::default(),
            observers: Observers::default(),
            expiry: Expiry::default(),
            groups: Groups::default(),
            group_service_at: Mutex::new(None),
            group_service: OnceLock::new(),
            following: Following::default(),
        }
    }

    /// Checks that this server's copy of the names is recent enough.
    pub(super) fn check_current(&self) -> Result<(), Refusal> {
        match self.store.shared() {
            Some(shared) => shared.check_current().map_err(Refusal::Store),
            None => Ok(()),
        }
    }
}
