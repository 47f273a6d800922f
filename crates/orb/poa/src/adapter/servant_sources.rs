//! Sources of servants that are not in the map: the servant manager, the default servant.

use super::types::{Adapter, ServantManager};
use crate::servant::Servant;
use std::sync::Arc;

impl Adapter {
    pub(crate) fn servant_manager(&self) -> Option<ServantManager> {
        self.servants.manager.load().as_deref().cloned()
    }

    /// Sets the servant manager; returns `false` if it was set before, as it can be set only once.
    pub(crate) fn set_servant_manager(&self, manager: ServantManager) -> bool {
        let nothing = None::<Arc<ServantManager>>;
        let before = self
            .servants
            .manager
            .compare_and_swap(&nothing, Some(Arc::new(manager)));
        before.is_none()
    }

    /// Drops the servant manager and the default servant; called when all requests have ended.
    pub(super) fn drop_servants(&self) {
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
