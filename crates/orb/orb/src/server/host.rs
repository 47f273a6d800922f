//! Whom requests are for.

use super::adapter::ObjectAdapter;
use crate::lane::BackChannel;
use crate::profile::Origin;
use punctual_cdr::Environment;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// The ORB that listens, which lives as long as somebody serves for it, and its object adapter, once it has
/// one.
#[derive(Clone)]
pub(crate) struct Host {
    environment: Arc<dyn Environment>,
    /// The same, of messages from other hosts.
    environment_elsewhere: Arc<dyn Environment>,
    /// The same, of messages by a connection whose client may be called back by it.
    environment_by: EnvironmentBy,
    pub(super) adapter: Arc<AdapterCell>,
}

/// Makes the environment of messages from there that come by such a connection.
pub(crate) type EnvironmentBy =
    Arc<dyn Fn(Origin, Weak<BackChannel>) -> Arc<dyn Environment> + Send + Sync>;

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

    /// What values need that come from there.
    pub(super) fn environment_of(&self, origin: Origin) -> Arc<dyn Environment> {
        match origin {
            Origin::Elsewhere => self.environment_elsewhere.clone(),
            _ => self.environment.clone(),
        }
    }

    /// The same, by a connection whose client may be called back by it.
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
