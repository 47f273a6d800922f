//! Remembered paths of calls that have succeeded.

use super::group_path::GroupPath;
use super::heads::Heads;
use super::target::Target;
use crate::broker::Broker;
use crate::fixed_context::wanted;
use crate::lane::{Binding, Bound, ClientConnection, Endpoint, chosen};
use crate::policy::{Effective, Mux, Transfer};
use std::sync::Arc;

/// Path to the endpoint where the last call through a reference succeeded.
#[derive(Debug)]
pub(crate) struct Path {
    /// Policies under which the path to the endpoint was found.
    pub(super) effective: Arc<Effective>,
    /// Header templates of the requests that have been sent along the path.
    pub(super) heads: Heads,
    /// True if large arguments are sent from the caller's memory (lent), if the connection supports
    /// that.
    pub(super) lends: bool,
    /// Flags for two-way calls and for one-ways: true if such calls may take the fast path
    /// ([`super::short`]).
    short: (bool, bool),
    /// True if deferred calls may be sent on the fast path ([`super::short::send_deferred`]).
    pub(super) defers: bool,
    /// True if calls take a copy of the fast path, for interceptors or for object groups.
    pub(super) is_apart: bool,
    /// True if client interceptors are called at the points of each call.
    pub(super) is_intercepted: bool,
    /// Terms of calls to an object group, if the path leads to one.
    pub(super) group: Option<GroupPath>,
    /// True if the path does not start with the reference's first endpoint, so that a new search
    /// from the first one may succeed when the path fails.
    pub(super) began_late: bool,
    /// The targets along the path, one for each forward, each with the endpoint that forwarded the
    /// call or, for the last, where it succeeded.
    pub(super) levels: Vec<(Arc<Target>, Option<Arc<Endpoint>>)>,
    pub(super) bound: Bound,
}

impl Path {
    /// Creates the path that a successful call has taken.
    pub(super) fn new(
        broker: &Broker,
        effective: Arc<Effective>,
        binding: &Binding,
        levels: Vec<(Arc<Target>, Option<Arc<Endpoint>>)>,
        began_late: bool,
    ) -> Self {
        let connection = &binding.connection;
        // The fast path has no scheduling points; they are excluded here, once, so that calls need
        // not check. While the ORB starts, interceptors may still be registered.
        let shares = effective.mux != Mux::Exclusive
            && !effective.in_segment
            && !effective.needs_a_request()
            && broker.interceptors.are_settled();
        let one_ways_too = effective.buffering.is_none() || connection.sends_as_is();
        let is_answered = effective.answer_to_one_ways().is_some();
        let is_intercepted = !broker.interceptors.client().is_empty();
        let group = GroupPath::along(broker, &effective, &levels);
        let beats = group
            .as_ref()
            .is_some_and(|group| group.terms.heartbeat.is_some());
        // Heartbeats and interceptors of calls to groups have the slow path.
        let shares = shares && !beats && (group.is_none() || !is_intercepted);
        let two_way = shares && connection.wire.abilities.two_way;
        let contexts = wanted(&broker.request_contexts, &effective);
        let contexts = match &group {
            Some(group) => group.contexts(&contexts),
            None => contexts,
        };
        Self {
            heads: Heads::new(contexts),
            lends: effective.transfer == Transfer::Lend && connection.link().lender().is_some(),
            short: (two_way, shares && one_ways_too && !is_answered),
            // Deferred requests may be buffered, and their number limited.
            defers: two_way
                && !is_intercepted
                && group.is_none()
                && effective.buffering.is_none()
                && effective.in_flight.is_none(),
            effective,
            is_apart: is_intercepted || group.is_some(),
            is_intercepted,
            group,
            began_late,
            levels,
            bound: binding.to_bound(),
        }
    }

    /// Returns the connection at the end of the path, if it is still open.
    pub(crate) fn connection(&self) -> Option<Arc<ClientConnection>> {
        self.bound.connection()
    }

    /// Returns the connection that the calling thread uses for two-way calls or for one-ways.
    pub(super) fn connection_of_thread(&self, two_way: bool) -> Option<Arc<ClientConnection>> {
        let connection = chosen::instead_of(&self.bound.connection()?);
        if !two_way {
            chosen::pin(&connection);
        }
        Some(connection)
    }

    /// Returns whether calls of this kind may take the fast path ([`super::short`]).
    #[inline]
    pub(super) fn takes_fast_path(&self, two_way: bool) -> bool {
        if two_way { self.short.0 } else { self.short.1 }
    }

    /// Returns the endpoint at the end of the path.
    #[inline]
    pub(super) fn endpoint(&self) -> &Endpoint {
        self.bound.endpoint()
    }
}
