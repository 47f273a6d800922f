//! Smart proxies: what an application has stand in the place of references of an interface.

use super::handle::Orb;
use crate::adapter::Collocated;
use crate::client::RemoteObject;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// An object as it is called past its proxy.
pub(crate) struct Real {
    pub(crate) orb: Orb,
    pub(crate) object: RemoteObject,
}

/// Makes a proxy of an object.
pub(crate) type MakeProxy = dyn Fn(Real) -> Arc<dyn Collocated> + Send + Sync;

/// Those of an ORB, by the repository ids of their interfaces. Looked at once for each reference.
#[derive(Default)]
pub(super) struct Proxies(RwLock<BTreeMap<String, Arc<MakeProxy>>>);

impl Orb {
    /// Has this make what stands in the place of references of an interface that are called from then on.
    pub(crate) fn make_proxies(&self, repository_id: &str, make: Arc<MakeProxy>) {
        let proxies = self.proxies().0.write();
        let mut proxies = proxies.unwrap_or_else(PoisonError::into_inner);
        proxies.insert(repository_id.to_owned(), make);
    }

    /// What makes proxies of an interface, if anything does.
    pub(crate) fn makes_proxies(&self, repository_id: &str) -> Option<Arc<MakeProxy>> {
        let proxies = self.proxies().0.read();
        let proxies = proxies.unwrap_or_else(PoisonError::into_inner);
        proxies.get(repository_id).cloned()
    }
}
