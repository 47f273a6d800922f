//! The lanes of an ORB.

use super::owned::Lane;
use crate::broker::Broker;
use punctual_exec::LockProtocol;
use std::sync::Arc;

/// At least one. Real-time CORBA adds one for each priority of its thread pools.
#[derive(Debug)]
pub(crate) struct Lanes {
    first: Arc<Lane>,
}

impl Lanes {
    /// One lane, for calls of whatever priority.
    pub(crate) fn one(broker: Arc<Broker>, locks: LockProtocol) -> Self {
        Self {
            first: Arc::new(Lane::new(broker, locks)),
        }
    }

    /// The lane for what says nothing of its priority.
    pub(crate) fn default_lane(&self) -> &Arc<Lane> {
        &self.first
    }

    /// All, the default one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Lane>> {
        std::iter::once(&self.first)
    }
}
