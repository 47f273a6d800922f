//! Whom requests are for.

use super::adapter::ObjectAdapter;
use punctual_cdr::Environment;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The ORB that listens, which lives as long as somebody serves for it, and its object adapter, once it has
/// one.
#[derive(Clone)]
pub(crate) struct Host {
    pub(super) environment: Arc<dyn Environment>,
    /// The same, of messages from other hosts.
    pub(super) environment_elsewhere: Arc<dyn Environment>,
    pub(super) adapter: Arc<AdapterCell>,
}

/// An ORB's object adapter, set once.
#[derive(Default)]
pub(crate) struct AdapterCell(OnceLock<Arc<dyn ObjectAdapter>>);

impl AdapterCell {
    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<dyn ObjectAdapter>> {
        self.0.get()
    }

    pub(crate) fn get_or_set(
        &self,
        make: impl FnOnce() -> Arc<dyn ObjectAdapter>,
    ) -> &Arc<dyn ObjectAdapter> {
        self.0.get_or_init(make)
    }
}

impl Host {
    /// With the environments of messages of this host, and of others.
    pub(crate) fn new(
        (environment, environment_elsewhere): (Arc<dyn Environment>, Arc<dyn Environment>),
        adapter: Arc<AdapterCell>,
    ) -> Self {
        Self {
            environment,
            environment_elsewhere,
            adapter,
        }
    }
}

impl fmt::Debug for AdapterCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AdapterCell")
            .field(&self.0.get().is_some())
            .finish()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}
