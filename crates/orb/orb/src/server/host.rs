//! ORB and object adapter for which requests are received.

use super::adapter::ObjectAdapter;
use crate::lane::BackChannel;
use crate::profile::Origin;
use punctual_cdr::Environment;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// Listening ORB, kept alive as long as any thread serves its connections, and its object adapter,
/// once there is one.
#[derive(Clone)]
pub(crate) struct Host {
    environment: Arc<dyn Environment>,
    /// Environment for decoding messages that come from other hosts.
    environment_elsewhere: Arc<dyn Environment>,
    /// Factory of environments for decoding messages over a connection whose client may be called
    /// back over it.
    environment_by: EnvironmentBy,
    pub(super) adapter: Arc<AdapterCell>,
}

/// Function that creates the environment for messages of a given origin over a connection whose
/// client may be called back over it.
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
    /// Makes a host with one environment for messages from this host, and one for messages from
    /// other hosts.
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

    /// Returns the environment for decoding values from this origin.
    pub(super) fn environment_of(&self, origin: Origin) -> Arc<dyn Environment> {
        match origin {
            Origin::Elsewhere => self.environment_elsewhere.clone(),
            _ => self.environment.clone(),
        }
    }

    /// Returns the environment for decoding values from a connection whose client may be called
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
