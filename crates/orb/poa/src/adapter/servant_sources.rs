//! Where an adapter has servants from that no map holds: the servant manager, the default servant.

use super::Adapter;
use super::keyed_lock::KeyedLock;
use crate::servant::Servant;
use crate::servant_manager::ServantManager;
use arc_swap::ArcSwapOption;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What an adapter has of them.
#[derive(Default)]
pub(super) struct ServantSources {
    /// Set once, and let go at the end.
    manager: ArcSwapOption<ServantManager>,
    default: ArcSwapOption<Arc<dyn Servant>>,
    /// The adapter was told to give back all servants, for good.
    pub(super) all_given_back: AtomicBool,
    /// Ids that the activator is asked for.
    pub(super) incarnations: KeyedLock,
}

impl Adapter {
    pub(crate) fn servant_manager(&self) -> Option<ServantManager> {
        self.servants.manager.load().as_deref().cloned()
    }

    /// The servant manager, which is set once; `false` when it was.
    pub(crate) fn set_servant_manager(&self, manager: ServantManager) -> bool {
        let nothing = None::<Arc<ServantManager>>;
        let before = self
            .servants
            .manager
            .compare_and_swap(&nothing, Some(Arc::new(manager)));
        before.is_none()
    }

    /// Lets go of what served requests that are all over.
    pub(super) fn let_go_of_servants(&self) {
        self.servants.manager.store(None);
        self.set_default_servant(None);
    }

    pub(crate) fn default_servant(&self) -> Option<Arc<dyn Servant>> {
        self.servants.default.load().as_deref().cloned()
    }

    pub(crate) fn set_default_servant(&self, servant: Option<Arc<dyn Servant>>) {
        self.servants.default.store(servant.map(Arc::new));
    }
}
