//! Kinds of processing that an adapter's requests need.

use crate::policy::{Policies, ThreadPolicy};

/// Path of an adapter's requests, which is fixed when the adapter is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPath {
    /// Requests need only the map and an active manager.
    Plain,
    /// Requests need the map and an active manager, and policies act around their upcalls.
    Surrounded,
    /// Requests are counted at the adapter, as servants may come from a servant manager or a
    /// default servant, or only some threads may serve.
    Counted,
    /// Requests are counted at the adapter, and objects or operations are found by a strategy for
    /// comparison.
    #[cfg(feature = "comparison")]
    Compared,
}

impl RequestPath {
    pub(super) fn of(policies: &Policies, is_surrounded: bool) -> Self {
        match policies.thread {
            #[cfg(feature = "comparison")]
            _ if policies.are_compared() => Self::Compared,
            ThreadPolicy::OrbControl if policies.retains() => match is_surrounded {
                false => Self::Plain,
                true => Self::Surrounded,
            },
            _ => Self::Counted,
        }
    }
}
