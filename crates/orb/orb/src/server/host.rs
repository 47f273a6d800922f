//! ORB and object adapter that receive requests.

use super::adapter::ObjectAdapter;
use crate::lane::BackChannel;
use crate::profile::Origin;
use punctual_cdr::Environment;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// The listening ORB, kept alive as long as any thread serves for it, and its object adapter, once
/// it has one.
#[derive(Clone)]
pub(crate) struct Host {
    environment: Arc<dyn Environment>,
    /// Environment for messages from other hosts.
    environment_elsewhere: Arc<dyn Environment>,
    /// Factory of environments for messages over a connection whose client may be called back over
    /// it.
    environment_by: EnvironmentBy,
    pub(super) adapter: Arc<AdapterCell>,
}

/// Factory of the environment for messages of this origin over such a connection.
pub(crate) type EnvironmentBy =
    Arc<dyn Fn(Origin, Weak<BackChannel>) -> Arc<dyn Environment> + Send + Sync>;

/// Object adapter of an ORB, set once.
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
    /// Makes a host with the environments of messages of this host, and of others.
    pub(crate) fn new(
        (environment, environment_elsewhere): (Arc<dyn Environment>, Arc<dyn Environment>),
        environment_by: EnvironmentBy,
        adapter: Arc<AdapterCell>,
    ) -> Self {
        Self {
            environment,
            environment_elsewhere,
            environment_by,
            adapter,
        }
    }

    /// Returns the environment for values that arrive from this origin.
    pub(super) fn environment_of(&self, origin: Origin) -> Arc<dyn Environment> {
        match origin {
            Origin::Elsewhere => self.environment_elsewhere.clone(),
            _ => self.environment.clone(),
        }
    }

    /// Returns the environment for values that arrive over a connection whose client may be called
    /// back over it.
    pub(super) fn environment_by(
        &self,
        origin: Origin,
        back: &Arc<BackChannel>,
    ) -> Arc<dyn Environment> {
        (self.environment_by)(origin, Arc::downgrade(back))
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
