//! State that a call keeps for its interceptors between two interception points.

use super::contexts::FilledContexts;
use super::write::Ask;
use crate::broker::Broker;
use crate::interceptor::ClientPass;

/// State of the request interceptors for one call.
#[derive(Debug)]
pub(super) struct Interception {
    pub(super) pass: ClientPass,
    /// True while a pass through the interception points of the call is under way.
    pub(super) is_on: bool,
    /// True if the caller does not wait while the call is in flight.
    pub(super) set_deferred: bool,
}

impl Interception {
    /// Creates the state of a call by the calling thread; `None` if no interceptor sees the call.
    pub(super) fn begin(broker: &Broker, ask: Ask<'_>) -> Option<Box<Self>> {
        // Interceptors do not see LocateRequests.
        if broker.interceptors.client().is_empty() || matches!(ask, Ask::Locate) {
            return None;
        }
        let slots = broker.interceptors.slots().unwrap_or_default();
        Some(Box::new(Self {
            pass: ClientPass::new(broker.number(), slots),
            is_on: false,
            set_deferred: false,
        }))
    }

    /// Creates the state of a call whose pass has begun on the fast path.
    pub(super) fn of(pass: ClientPass, is_on: bool) -> Box<Self> {
        Box::new(Self {
            pass,
            is_on,
            set_deferred: false,
        })
    }

    /// Returns the service contexts of the request, including those that interceptors have added.
    pub(super) fn contexts(&self) -> &FilledContexts {
        &self.pass.request_contexts
    }
}
