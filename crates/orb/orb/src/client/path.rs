//! Ways that calls have gone, to be gone again.

use super::heads::Heads;
use super::target::Target;
use crate::broker::Broker;
use crate::fixed_context::wanted;
use crate::lane::{Binding, Bound, ClientConnection, Endpoint, chosen};
use crate::policy::{Effective, Mux, Transfer};
use std::sync::Arc;

/// The way to where a reference's last call succeeded.
#[derive(Debug)]
pub(crate) struct Path {
    /// The policies it was found under.
    pub(super) effective: Arc<Effective>,
    /// The heads of the requests that have gone it.
    pub(super) heads: Heads,
    /// Whether large arguments are lent, where the connection does that.
    pub(super) lends: bool,
    /// Whether calls with a reply, and one-ways, may go the short way ([`super::short`]).
    short: (bool, bool),
    /// Whether it does not begin at the reference's first endpoint, so that beginning anew is worth it.
    pub(super) began_late: bool,
    /// Each list's reference, and the endpoint that was forwarded or succeeded.
    pub(super) levels: Vec<(Arc<Target>, Option<Arc<Endpoint>>)>,
    pub(super) bound: Bound,
}

impl Path {
    /// The way that a call has gone.
    pub(super) fn new(
        broker: &Broker,
        effective: Arc<Effective>,
        binding: &Binding,
        levels: Vec<(Arc<Target>, Option<Arc<Endpoint>>)>,
        began_late: bool,
    ) -> Self {
        let connection = &binding.connection;
        // The short way has no scheduling points and no interceptors, so that all others need not ask for them.
        let shares = effective.mux != Mux::Exclusive
            && !effective.in_segment
            && !effective.needs_a_request()
            && broker.interceptors.leave_calls_alone();
        let one_ways_too = effective.buffering.is_none() || connection.sends_as_is();
        let is_answered = effective.answer_to_one_ways().is_some();
        Self {
            heads: Heads::new(wanted(&broker.request_contexts, &effective)),
            lends: effective.transfer == Transfer::Lend && connection.link().lender().is_some(),
            short: (
                shares && connection.wire.abilities.two_way,
                shares && one_ways_too && !is_answered,
            ),
            effective,
            began_late,
            levels,
            bound: binding.to_bound(),
        }
    }

    /// The connection that it led to, if that is still there.
    pub(crate) fn connection(&self) -> Option<Arc<ClientConnection>> {
        self.bound.connection()
    }

    /// The one that the calling thread goes by, for calls of this kind.
    pub(super) fn connection_of_thread(&self, two_way: bool) -> Option<Arc<ClientConnection>> {
        let connection = chosen::instead_of(&self.bound.connection()?);
        if !two_way {
            chosen::pin(&connection);
        }
        Some(connection)
    }

    /// Whether calls of this kind may go the short way ([`super::short`]).
    #[inline]
    pub(super) fn goes_short(&self, two_way: bool) -> bool {
        if two_way { self.short.0 } else { self.short.1 }
    }

    /// Where it leads.
    #[inline]
    pub(super) fn endpoint(&self) -> &Endpoint {
        self.bound.endpoint()
    }
}
