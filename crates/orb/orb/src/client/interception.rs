//! What a call keeps of its interceptors between two points.

use super::write::{Ask, FilledContexts};
use crate::broker::Broker;
use crate::interceptor::ClientPass;

/// What a call has of its interceptors.
#[derive(Debug)]
pub(super) struct Interception {
    pub(super) pass: ClientPass,
    /// Whether a pass has begun.
    pub(super) is_on: bool,
    /// Whether its caller goes on.
    pub(super) is_deferred: bool,
}

impl Interception {
    /// Of a call that the calling thread makes; `None` where nobody looks at it.
    pub(super) fn begin(broker: &Broker, ask: Ask<'_>) -> Option<Box<Self>> {
        // Where an object is, is asked past them.
        if broker.interceptors.client().is_empty() || matches!(ask, Ask::Locate) {
            return None;
        }
        let slots = broker.interceptors.slots().unwrap_or_default();
        Some(Box::new(Self {
            pass: ClientPass::new(broker.number(), slots),
            is_on: false,
            is_deferred: false,
        }))
    }

    /// The contexts of the request, with what interceptors have added.
    pub(super) fn contexts(&self) -> &FilledContexts {
        &self.pass.request_contexts
    }
}
