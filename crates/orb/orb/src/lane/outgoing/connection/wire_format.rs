//! What messages look like on a connection, which was settled when it was opened.

use crate::broker::Broker;
use crate::messaging::{Abilities, Fragmenting, Session};
use crate::protocol::Pair;
use punctual_cdr::{CodeSets, GiopVersion, Limits};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct WireFormat {
    /// How they are laid out.
    pub(crate) session: Arc<dyn Session>,
    pub(crate) abilities: Abilities,
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: CodeSets,
    /// The largest message that the link carries in one piece, if there is one.
    pub(crate) largest: Option<usize>,
    pub(crate) limits: Arc<Limits>,
    /// The longest message that a lone caller takes for its own reply as it comes, in bytes: 0 before GIOP 1.2.
    pub(in crate::lane::outgoing) own_reply: usize,
    pub(crate) fragmenting: Fragmenting,
    /// Whether the server is told of calls that were given up.
    pub(crate) cancels: bool,
}

impl WireFormat {
    pub(in crate::lane::outgoing) fn new(
        pair: &Pair,
        version: GiopVersion,
        code_sets: CodeSets,
        broker: &Broker,
    ) -> Self {
        let abilities = pair.messaging.abilities();
        let limits = broker.shared_limits();
        Self {
            session: pair.messaging.session(),
            abilities,
            version,
            code_sets,
            largest: pair.link.guarantees().largest,
            own_reply: match version {
                GiopVersion::V1_2 => limits.message,
                _ => 0,
            },
            limits,
            cancels: broker.config().cancel_requests,
            fragmenting: match abilities.fragments {
                true => Fragmenting::new(broker.config()),
                false => Fragmenting::NEVER,
            },
        }
    }

    /// Whether requests carry service contexts.
    #[inline]
    pub(in crate::lane::outgoing) fn carries_contexts(&self) -> bool {
        self.abilities.contexts && self.version > GiopVersion::V1_0
    }
}
