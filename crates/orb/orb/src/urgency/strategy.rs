//! Strategies that compute the urgency of requests.

use super::key::Urgency;
use crate::policy::AdapterPolicies;
use punctual_giop::ServiceContexts;
use std::fmt::Debug;
use std::sync::Arc;

/// Queued request that waits for a free thread of the pool.
#[derive(Clone, Copy, Debug)]
pub struct WaitingRequest<'r> {
    /// Name of the requested operation, as sent in the request.
    pub operation: &'r str,
    /// Service contexts of the request. They come from the peer and may contain any data.
    pub contexts: ServiceContexts<'r>,
    /// Policies of the object's adapter, if the adapter has been found.
    pub policies: Option<&'r AdapterPolicies>,
    /// Urgency according to the priority of the lane or, if the lane has none, to the policies.
    pub by_policies: Urgency,
}

/// Strategy that computes the urgency of requests that wait for a thread
/// ([`crate::OrbBuilder::urgency`]).
pub trait UrgencyStrategy: Send + Sync + Debug {
    /// Returns the urgency of a request. Called once for each request that is buffered, by the thread that has read it: it
    /// should neither block nor allocate.
    fn urgency(&self, request: &WaitingRequest<'_>) -> Urgency;
}

/// Default strategy: the urgency that follows from the policies, which is the request's priority.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByPolicies;

impl UrgencyStrategy for ByPolicies {
    #[inline]
    fn urgency(&self, request: &WaitingRequest<'_>) -> Urgency {
        request.by_policies
    }
}

/// Urgency strategy of an ORB, stored as an extension of the ORB.
pub(crate) struct Registered(pub(crate) Arc<dyn UrgencyStrategy>);
