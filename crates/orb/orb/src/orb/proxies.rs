//! Smart proxies: objects of an application that replace references of an interface.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Functions that make the smart proxies of an ORB, by the repository ids of their interfaces.
/// Looked up once for each reference.
pub(super) struct Proxies<M: ?Sized>(RwLock<BTreeMap<String, Arc<M>>>);

impl<M: ?Sized> Default for Proxies<M> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<M: ?Sized> Proxies<M> {
    pub(super) fn insert(&self, repository_id: &str, make: Arc<M>) {
        let mut proxies = self.0.write().unwrap_or_else(PoisonError::into_inner);
        proxies.insert(repository_id.to_owned(), make);
    }

    pub(super) fn find(&self, repository_id: &str) -> Option<Arc<M>> {
        let proxies = self.0.read().unwrap_or_else(PoisonError::into_inner);
        proxies.get(repository_id).cloned()
    }
}
