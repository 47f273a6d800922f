//! Strategies that compute the urgency of requests.

use super::key::Urgency;
use crate::policy::AdapterPolicies;
use punctual_giop::ServiceContexts;
use std::fmt::Debug;
use std::sync::Arc;

/// A request that waits until a thread is free.
#[derive(Clone, Copy, Debug)]
pub struct WaitingRequest<'r> {
    /// The operation's name on the wire.
    pub operation: &'r str,
    /// The service contexts that came with the request. The peer wrote them: they may hold any data.
    pub contexts: ServiceContexts<'r>,
    /// The policies of the object's adapter, where the adapter is found.
    pub policies: Option<&'r AdapterPolicies>,
    /// The urgency by its lane's priority or, where the lane has none, by the policies.
    pub by_policies: Urgency,
}

/// Computes the urgency of requests that wait for a thread ([`crate::OrbBuilder::urgency`]).
pub trait UrgencyStrategy: Send + Sync + Debug {
    /// Returns the urgency of a request. Called once for each request that is buffered, by the thread that has read it: it
    /// should neither block nor allocate.
    fn urgency(&self, request: &WaitingRequest<'_>) -> Urgency;
}

/// The default strategy: the urgency by policies, which is the request's priority.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByPolicies;

impl UrgencyStrategy for ByPolicies {
    #[inline]
    fn urgency(&self, request: &WaitingRequest<'_>) -> Urgency {
        request.by_policies
    }
}

/// The strategy of an ORB, among its extensions.
pub(crate) struct Registered(pub(crate) Arc<dyn UrgencyStrategy>);
