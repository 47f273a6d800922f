//! Properties of a connection that are fixed when it is opened: its protocol, and the encoding of
//! messages.

use crate::broker::Broker;
use crate::messaging::{Abilities, Fragmenting, Session, Tracer};
use crate::protocol::Pair;
use punctual_cdr::{CodeSets, GiopVersion, Limits};
use punctual_link::Connection;
use std::sync::Arc;

/// Protocol of a connection and the encoding of its messages.
#[derive(Debug)]
pub(crate) struct WireFormat {
    pub(crate) pair: Arc<Pair>,
    /// Session of the messaging protocol that encodes and decodes the connection's messages.
    pub(crate) session: Arc<dyn Session>,
    pub(crate) abilities: Abilities,
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: CodeSets,
    /// Maximum length in bytes of a message that the link carries in one piece; `None` for no
    /// limit.
    pub(crate) largest: Option<usize>,
    pub(crate) limits: Arc<Limits>,
    /// Maximum length in bytes of a reply that a single caller receives directly from the link; 0
    /// before GIOP 1.2.
    pub(in crate::lane::outgoing) longest_plain_reply: usize,
    pub(crate) fragmenting: Fragmenting,
    /// True if a CancelRequest message is sent for each abandoned call.
    pub(crate) cancels: bool,
    /// True if the link may combine several one-way requests
    /// ([`Gathering`](crate::lane::outgoing::sending::Gathering)).
    pub(in crate::lane::outgoing) gathers: bool,
    /// True if threads may send at the same time: the link allows it, and messages do not depend on the time of sending.
    pub(in crate::lane::outgoing) sends_apart: bool,
    pub(in crate::lane::outgoing) tracer: Tracer,
}

impl WireFormat {
    pub(in crate::lane::outgoing) fn new(
        pair: &Arc<Pair>,
        (version, code_sets): (GiopVersion, CodeSets),
        broker: &Broker,
        link: &dyn Connection,
        gathers: bool,
    ) -> Self {
        let abilities = pair.messaging.abilities();
        let limits = broker.shared_limits();
        let session = pair.messaging.session();
        Self {
            pair: pair.clone(),
            sends_apart: link.sends_apart() && session.repeatable_head(version).is_some(),
            session,
            abilities,
            version,
            code_sets,
            largest: pair.link.guarantees().largest,
            longest_plain_reply: match version {
                GiopVersion::V1_2 => limits.message,
                _ => 0,
            },
            limits,
            cancels: broker.config().cancel_requests,
            gathers,
            tracer: broker.tracer(),
            fragmenting: match abilities.fragments {
                true => Fragmenting::new(broker.config()),
                false => Fragmenting::NEVER,
            },
        }
    }

    /// Returns `true` if requests on this connection carry service contexts.
    #[inline]
    pub(in crate::lane::outgoing) fn carries_contexts(&self) -> bool {
        self.abilities.contexts && self.version > GiopVersion::V1_0
    }
}
